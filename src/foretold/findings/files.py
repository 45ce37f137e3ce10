"""Findings about the history of files, and what keeps a file from being restored."""

from __future__ import annotations

from foretold.findings.registry import Rule

RULES = (
    Rule(
        "backup-missing",
        "error",
        what="the backup of an earlier state is gone, so that state cannot be restored",
        why="The agent deletes backups together with old sessions.",
        example="a session older than the agent's retention",
        fix="look for another version with `foretold files history`, or leave the file out with `--skip`",
    ),
    Rule(
        "history-strange",
        "note",
        what="a record of Claude Code about files is damaged or unknown; it is skipped",
        why="One state of a file may be missing.",
        example="a record of a newer release",
        fix="nothing: all other records are read",
    ),
    Rule(
        "restore-elsewhere",
        "error",
        what="a folder above a file now leads elsewhere than when the file was recorded",
        why="Restoring would write to another place.",
        example="src was replaced by a link to ../other/src",
        fix="put the folder back",
    ),
    Rule(
        "restore-folder",
        "error",
        what="a folder is in the place of a file to be restored",
        why="A folder is never deleted to make room.",
        example="mkdir src/app.py",
        fix="move it away",
    ),
    Rule(
        "restore-link",
        "error",
        what="a symbolic link is in the place of a file to be restored",
        why="Restoring would write through the link.",
        example="src/app.py -> /etc/hosts",
        fix="move it away",
    ),
    Rule(
        "restore-other",
        "error",
        what="a FIFO, a socket or a device is in the place of a file to be restored",
        why="Writing to it would not restore a file.",
        example="mkfifo src/app.py",
        fix="move it away",
    ),
    Rule(
        "restore-owner",
        "error",
        what="a file belongs to another user, and would no longer after restoring it",
        why="Ownership would change silently.",
        example="a file of root, restored by you",
        fix="let its owner restore it",
    ),
    Rule(
        "restore-unreadable",
        "error",
        what="a file cannot be read, so its present state could not be kept",
        why="Restoring it could not be undone.",
        example="chmod 000 src/app.py",
        fix="fix the mode of the file",
    ),
    Rule(
        "restore-unwritable",
        "error",
        what="the folder of a file to be restored is not writable",
        why="Nothing can be restored there.",
        example="chmod 555 src",
        fix="fix the mode of the folder",
    ),
)
