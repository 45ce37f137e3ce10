"""What `mkdocs.yml` asks of mkdocs: a folder in its `nav` stands for the pages in it, README.md first."""

import os


def on_config(config):  # type: ignore[no-untyped-def]
    """Called by mkdocs once it has read its configuration."""
    config["nav"] = expand(config["nav"], config["docs_dir"])
    return config


def expand(nav: list[object], docs: str) -> list[object]:
    """A `nav` whose folders are replaced by their pages. A folder that is not there, or has no pages, is left out."""
    found: list[object] = []
    for each in nav:
        if isinstance(each, str):
            found += list_pages(each, docs)
        elif isinstance(each, dict):
            ((title, inside),) = each.items()
            inside = list_pages(inside, docs) if str(inside).endswith("/") else inside
            inside = expand(inside, docs) if isinstance(inside, list) else inside
            found += [{title: inside}] if inside else []
    return found


def list_pages(name: str, docs: str) -> list[object]:
    """A page, or the pages of a folder."""
    if not name.endswith("/"):
        return [name]
    folder = os.path.join(docs, name)
    pages = [page for page in os.listdir(folder) if page.endswith(".md")] if os.path.isdir(folder) else []
    return [name + page for page in sorted(pages, key=lambda page: (page != "README.md", page))]
