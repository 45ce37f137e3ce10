"""The folders that are open in an editor, the texts that are not saved there, and what is to be shown for each file.

1. Each folder is checked as a whole when it is opened (`check.recheck`), and again as its files change.
2. A file that is open counts with the editor's text, saved or not. Only files in the folders count, by their real
   paths: nothing else is read because an editor asks for it.
3. `update` gives the files whose diagnostics are others now; so nothing is sent twice.
4. A folder whose settings cannot be read is not checked; the reason is given once, until it is another.
5. A folder that is inside of another one is checked with that, as long as that is open. A text may be opened before its
   folder: it counts when the folder comes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from foretold.check.baseline import read_baseline
from foretold.check.finding import CheckFinding
from foretold.check.project import CheckOptions
from foretold.check.recheck import LiveCheck
from foretold.check.run import hide_known
from foretold.errors import ForetoldError
from foretold.serve.lsp.diagnostics import Diagnostic, diagnose_all
from foretold.storage.tree import is_inside


class OpenFolder:
    """A folder of an editor."""

    def __init__(self, spelled: str, options: CheckOptions) -> None:
        self.spelled, self.options = spelled, options  #: the path as the editor has it: perhaps with links in it
        self.top = os.path.realpath(spelled)
        self.check: LiveCheck | None = None
        self.findings: tuple[CheckFinding, ...] = ()  #: without those of the baseline
        self.problem = ""  #: why it is not checked
        self.shown: dict[str, tuple[tuple[CheckFinding, ...], tuple[Diagnostic, ...]]] = {}

    def update(self, edits: dict[str, bytes | None], saved: set[str]) -> None:
        """Check it again with other texts of the editor, and after files were saved."""
        try:
            if self.check is None:
                unsaved = {path: text for path, text in edits.items() if text is not None}
                self.check = LiveCheck(self.top, self.top, self.options, unsaved=unsaved)
            else:
                if edits:
                    self.check.edit(edits)
                if saved:
                    self.check.refresh({*saved, *self.check.find_changes()})
            self.findings, self.problem = _list_new(self.check), ""
        except ForetoldError as error:
            self.check, self.findings, self.problem = None, (), str(error)

    def list_changes(self, touched: set[str]) -> dict[str, tuple[Diagnostic, ...]]:
        """The diagnostics of files whose findings or texts are others than when they were last asked for."""
        found: dict[str, list[CheckFinding]] = {}
        for each in self.findings:
            found.setdefault(each.path, []).append(each)
        changed: dict[str, tuple[Diagnostic, ...]] = {path: () for path in self.shown if path not in found}
        for path, findings in found.items():
            before = self.shown.get(path)
            if self.check and (before is None or before[0] != tuple(findings) or path in touched):
                made = diagnose_all(findings, self.check.project)
                if before is None or before[1] != made:
                    changed[path] = made
                self.shown[path] = tuple(findings), made
        for path in [path for path in self.shown if path not in found]:
            del self.shown[path]
        return changed


class EditorWorkspace:
    """All folders that are open."""

    def __init__(self, options: CheckOptions, warn: Callable[[str], None]) -> None:
        self.options, self._warn = options, warn
        self.folders: dict[str, OpenFolder] = {}  #: that are checked, by real path
        self.texts: dict[str, str] = {}  #: of files in them that are open, by real path
        self._spelled: dict[str, str] = {}  #: all folders that are open, by real path; some are inside of others
        self._other_texts: dict[str, str] = {}  #: of open files that are in no folder
        self._orphans: set[str] = set()  #: files that a folder showed diagnostics of which is checked with another now
        self._edits: dict[str, bytes | None] = {}
        self._saved: set[str] = set()

    def add_folder(self, path: str) -> None:
        """Check a folder from now on; what is inside of another one is checked with that."""
        top = os.path.realpath(path)
        if os.path.isdir(top):
            self._spelled.setdefault(top, path)
            self._choose_folders()

    def remove_folder(self, path: str) -> dict[str, tuple[Diagnostic, ...]]:
        """Forget a folder: its files have no diagnostics any more, unless they are in another folder."""
        self._spelled.pop(os.path.realpath(path), None)
        self._choose_folders()
        gone = {path for path in self._orphans if self.find_folder(path) is None}
        self._orphans -= gone
        return dict.fromkeys(sorted(gone), ())

    def change_folders(self, removed: Iterable[str], added: Iterable[str]) -> dict[str, tuple[Diagnostic, ...]]:
        """Take other folders; the files that have no diagnostics any more."""
        gone: dict[str, tuple[Diagnostic, ...]] = {}
        for path in removed:
            gone |= self.remove_folder(path)
        for path in added:
            self.add_folder(path)
        return gone

    def _choose_folders(self) -> None:
        """Take those folders that are not inside of others, and the texts that are in them."""
        tops = {top for top in self._spelled if not any(_is_below(top, other) for other in self._spelled)}
        for top in self.folders.keys() - tops:
            self._orphans |= self.folders.pop(top).shown.keys()
        for top in (top for top in self._spelled if top in tops and top not in self.folders):
            self.folders[top] = OpenFolder(self._spelled[top], self.options)
        texts = {**self._other_texts, **self.texts}
        self.texts = {path: text for path, text in texts.items() if self.find_folder(path)}
        self._other_texts = {path: text for path, text in texts.items() if path not in self.texts}

    def find_folder(self, path: str) -> OpenFolder | None:
        """The innermost folder that a file is in, by its real path."""
        real = os.path.realpath(path)
        holders = [folder for top, folder in self.folders.items() if is_inside(real, top)]
        return max(holders, key=lambda folder: len(folder.top), default=None)

    def resolve(self, path: str, folder: OpenFolder) -> str:
        """A path of the editor, as it is in a folder that may have been opened through a link."""
        is_spelled = is_inside(path, folder.spelled)
        return folder.top + path[len(folder.spelled) :] if is_spelled else path

    def spell(self, path: str) -> str:
        """A path as the editor has it."""
        for top, folder in self.folders.items():
            if folder.spelled != top and is_inside(path, top):
                return folder.spelled + path[len(top) :]
        return path

    # -- what an editor does

    def open_text(self, path: str, text: str) -> None:
        """Take the editor's text of a file for the one that counts."""
        real = os.path.realpath(path)
        if self.find_folder(real):
            self.texts[real] = text
            self._edits[real] = _encode(text)
        else:
            self._other_texts[real] = text

    def close_text(self, path: str) -> None:
        """Take the text on the disk for the one that counts again."""
        real = os.path.realpath(path)
        self._other_texts.pop(real, None)
        if self.texts.pop(real, None) is not None:
            self._edits[real] = None

    def note_saved(self, *paths: str) -> None:
        """Note that files were written, made or deleted."""
        self._saved |= {os.path.realpath(path) for path in paths if self.find_folder(path)}

    # -- what is shown

    def update(self) -> dict[str, tuple[Diagnostic, ...]]:
        """Check what has changed; the diagnostics of files that have others now."""
        edits, saved = self._edits, self._saved
        self._edits, self._saved = {}, set()
        changed: dict[str, tuple[Diagnostic, ...]] = {}
        for folder in list(self.folders.values()):
            mine = {path: text for path, text in edits.items() if self.find_folder(path) is folder}
            written = {path for path in saved if self.find_folder(path) is folder}
            if folder.check is None or mine or written:
                before = folder.problem
                if folder.check is None:  # nothing was applied yet
                    mine |= {path: _encode(text) for path, text in self.texts.items() if is_inside(path, folder.top)}
                folder.update(mine, written)
                if folder.problem and folder.problem != before:
                    self._warn(folder.problem)
                changed |= folder.list_changes({*mine, *written})
        orphans, self._orphans = self._orphans, set()
        shown = {path for folder in self.folders.values() for path in folder.shown}
        return {**dict.fromkeys(orphans - shown, ()), **changed}


def _list_new(check: LiveCheck) -> tuple[CheckFinding, ...]:
    """The findings of a check, without those of the baseline that the settings name."""
    path = check.settings.baseline
    report = hide_known(check.report, read_baseline(path), check.settings) if path else check.report
    return report.findings


def _is_below(path: str, folder: str) -> bool:
    return path != folder and is_inside(path, folder)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")
