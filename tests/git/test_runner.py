"""Questions to git about many paths at once: one that git refuses does not cost the answers about the others."""

from foretold.git.runner import GitRepository


def test_paths_that_git_refuses_do_not_hide_the_others(place):
    place.git("init -q")
    place.write("proj/.gitignore", "made/\n*.log\n")
    place.folder("proj/docs/real")
    place.link("proj/docs/linked", "real")
    place.link("proj/out", place.home)
    repository = GitRepository.of(place.path("proj/docs"))
    asked = [
        "made/a",
        "linked/b.log",
        "linked/c.md",
        "../../outside.log",
        "../out/d.log",
        "../e.log",
        "made/f",
        "real/g.log",
    ]
    assert repository.ignored(asked) == {"made/a", "linked/b.log", "../e.log", "made/f", "real/g.log"}
    assert repository.ignored(iter(["made/a", "b.md"])) == {"made/a"}
    assert repository.ignored([]) == set()
