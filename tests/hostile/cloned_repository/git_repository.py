"""Repositories whose git configuration names a program wherever git's documentation lets one be named."""

import os
import subprocess

#: hooks that git knows; a folder of them is what `core.hooksPath` names
HOOKS = (
    "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg"
    " post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update"
    " reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman"
    " post-index-change"
).split()

#: every setting of git's documentation that names a program (`git help -c`, 2.39 to 2.54), and those of git-lfs and of
#: Microsoft's git; a value that is not the program itself is given
PROGRAMS = {
    **dict.fromkeys(
        "browser.x.cmd browser.x.path core.alternateRefsCommand core.askPass core.editor core.fsmonitor core.gitProxy"
        " core.pager core.sshCommand core.virtualFilesystem diff.external diff.x.command diff.x.textconv difftool.x.cmd"
        " difftool.x.path filter.x.clean filter.x.process filter.x.smudge gc.recentObjectsHook gpg.program"
        " gpg.openpgp.program gpg.ssh.program gpg.x509.program gpg.ssh.defaultKeyCommand guitool.x.cmd hook.x.command"
        " imap.tunnel instaweb.browser instaweb.httpd interactive.diffFilter lfs.customtransfer.x.path"
        " lfs.extension.x.clean lfs.extension.x.smudge man.x.cmd man.x.path merge.x.driver mergetool.x.cmd"
        " mergetool.x.path pager.log pager.status pager.config pager.ls-files pager.grep pager.rev-parse pager.diff"
        " remote.origin.receivepack remote.origin.uploadpack sendemail.ccCmd sendemail.headerCmd sendemail.sendmailCmd"
        " sendemail.smtpServer sendemail.toCmd sendemail.x.ccCmd sequence.editor svn.authorsProg tar.x.command"
        " trailer.x.cmd trailer.x.command uploadpack.packObjectsHook".split(),
        "{program}",
    ),
    **dict.fromkeys(
        "alias.status alias.log alias.config alias.rev-parse alias.ls-files alias.grep alias.cat-file alias.diff-index"
        " credential.helper credential.https://x.helper submodule.sub.update".split(),
        "!{program}",
    ),
    "core.hooksPath": "{hooks}",
    "init.templateDir": "{hooks}",
    "remote.origin.vcs": "ext",
    **dict.fromkeys("diff.tool diff.guitool merge.tool merge.guitool web.browser help.browser man.viewer".split(), "x"),
}
#: what makes git come to some of them
SWITCHES = {
    "log.showSignature": "true",
    "gpg.ssh.allowedSignersFile": "{program}",
    "filter.x.required": "true",
    "filter.a=b.required": "true",
    "filter.a=b.clean": "{program}",  # `-c` of git ends a name at `=`
    'filter.Ä \\"q.process': "{program}",
    "hook.x.event": "post-index-change",
    "status.submoduleSummary": "true",
    "protocol.ext.allow": "always",
    "protocol.allow": "always",
    "safe.bareRepository": "all",
    "core.fsmonitorHookVersion": "1",
}
#: endings of names in `git help -c` that sound like a program, and are none
NO_PROGRAMS = (
    "advice. color. column. core.hooksPath diff.<driver>.cachetextconv gitcvs.dbDriver difftool.prompt"
    " mergetool.prompt guitool. sendemail.aliasFileType"
).split()
_SIGNATURES = ("PGP SIGNATURE", "SSH SIGNATURE", "SIGNED MESSAGE")


class Attacker:
    """Makes repositories as an attacker would hand them out. Every program that they name is the canary's."""

    def __init__(self, place, canary):
        self.place, self.canary = place, canary
        self.program = canary.program(place.path("attack/program"), "cat")
        self.hooks = place.folder("attack/hooks")
        for name in HOOKS:
            canary.program(f"{self.hooks}/{name}")

    def git(self, *words, folder="proj", given=b""):
        """A plain git, as a user has it; what it printed."""
        who = {f"GIT_{who}_{what}": "t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        env = {"PATH": os.environ["PATH"], "HOME": self.place.home, "GIT_CONFIG_NOSYSTEM": "1", **who}
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *words],
            cwd=self.place.path(folder),
            env=env,
            input=given,
            capture_output=True,
            check=False,
            timeout=60,
        )
        return done.stdout.decode()

    def repository(self, folder="proj"):
        """A repository with three signed commits, files with attributes, one of them changed with an equal size."""
        self.place.folder(folder)
        self.git("init", "-q", "-b", "main", ".", folder=folder)
        for name in ("a.txt", "b.txt", "c.txt"):
            self.place.write(f"{folder}/{name}", "one\n")
        for mark in _SIGNATURES:
            self.git("add", ".", folder=folder)
            tree = self.git("write-tree", folder=folder).strip()
            parent = self.git("rev-parse", "-q", "--verify", "HEAD", folder=folder).strip()
            commit = self.git(
                *("hash-object", "-t", "commit", "-w", "--stdin"), folder=folder, given=_commit(tree, parent, mark)
            )
            self.git("update-ref", "HEAD", commit.strip(), folder=folder)
        attributes = "a.txt filter=x diff=x merge=x\nb.txt filter=a=b\nc.txt filter=x\n"
        self.place.write(f"{folder}/.gitattributes", attributes)
        self.place.write(f"{folder}/a.txt", "two\n")
        for name in ("a.txt", "b.txt", "c.txt"):
            os.utime(self.place.path(f"{folder}/{name}"), (1, 1))  # git has to look at the content
        return self.place.path(folder)

    def settings(self, keys=None, *, switches=True):
        """A configuration that sets these keys, by default all."""
        values = {key: PROGRAMS[key] for key in (PROGRAMS if keys is None else keys)}
        values |= SWITCHES if switches else {}
        lines = []
        for key, value in values.items():
            section, _, rest = key.partition(".")
            middle, _, name = rest.rpartition(".")
            lines.append(f'[{section} "{middle}"]' if middle else f"[{section}]")
            lines.append(f"\t{name} = {value.format(program=self.program, hooks=self.hooks)}")
        return "\n".join(lines) + "\n"

    def add_settings(self, text, form, folder="proj"):
        """Put settings where a repository has them: its configuration, that of its work tree, an included file."""
        config = self.place.path(f"{folder}/.git/config")
        if form == "included":
            self.place.write(f"{folder}/settings.txt", text)
            text = "[include]\n\tpath = ../settings.txt\n"
        if form == "worktree":
            self.git("config", "extensions.worktreeConfig", "true", folder=folder)
            config = self.place.path(f"{folder}/.git/config.worktree")
        with open(config, "a", encoding="utf-8") as file:
            file.write(text)

    def embed(self, text, folder="proj/pkg"):
        """A bare repository in a folder of a plain clone: its files are files of the clone, so any clone has them."""
        outer = folder.rpartition("/")[0]
        self.git("init", "-q", "-b", "main", ".", folder=outer)
        inner = self.repository("attack/inner")
        self.git("add", ".", folder="attack/inner")
        os.rename(f"{inner}/.git", self.place.path(folder))
        for name in ("a.txt", "b.txt", "c.txt", ".gitattributes"):
            os.rename(f"{inner}/{name}", self.place.path(f"{folder}/{name}"))
        self.place.write(f"{folder}/a.txt", "two\n")
        for name in ("a.txt", "b.txt", "c.txt"):
            os.utime(self.place.path(f"{folder}/{name}"), (2, 2))  # as in a clone, whose files are new
        self.place.write(
            f"{folder}/config", f"[core]\n\trepositoryFormatVersion = 0\n\tbare = false\n\tworktree = .\n{text}"
        )
        return self.place.path(folder)


def _commit(tree, parent, mark):
    signature = f"gpgsig -----BEGIN {mark}-----\n \n AAAA\n -----END {mark}-----\n"
    parents = f"parent {parent}\n" if parent else ""
    return f"tree {tree}\n{parents}author t <t> 1 +0000\ncommitter t <t> 1 +0000\n{signature}\nc\n".encode()
