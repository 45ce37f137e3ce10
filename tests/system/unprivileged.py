"""Run tests as a user without rights: to root, permission bits prove nothing. `python tests/system/unprivileged.py`.

1. Who is not root has no rights to give up: then nothing runs here, and it says so.
2. The tracked files and the packages of this environment are linked (copied across file systems) into a temporary
   folder that everyone can read. If that user may not start this Python, the system's of the same version is used.
3. pytest runs there on `tests/hostile`, or on the paths given, as `nobody`, with an empty home; its exit code is ours.
"""

import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
USER = "nobody"


def main(words):
    if os.geteuid() != 0:
        print("unprivileged: this user is not root, so the tests have run without rights already")
        return 0
    with tempfile.TemporaryDirectory(prefix="unprivileged-") as folder:
        os.chmod(folder, 0o755)
        python = make_environment(folder)
        return run_as_user(folder, [python, "-m", "pytest", "-n", "2", *(words or ["tests/hostile"])])


def run_as_user(folder, command):
    user = pwd.getpwnam(USER)
    own = os.path.join(folder, "own")
    os.mkdir(own)
    os.chown(own, user.pw_uid, user.pw_gid)
    env = {"PATH": os.environ["PATH"], "HOME": own, "TMPDIR": own, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command,
        cwd=os.path.join(folder, "foretold"),
        env=env,
        user=user.pw_uid,
        group=user.pw_gid,
        extra_groups=[],
        check=False,
    ).returncode


def make_environment(folder):
    """The interpreter of an environment that everyone can start: our packages, and foretold as it is here."""
    copy_tracked(os.path.join(folder, "foretold"))
    base = find_python(folder)
    home = os.path.join(folder, "env")
    subprocess.run([base, "-m", "venv", "--without-pip", home], check=True)
    packages = os.path.join(home, "lib", f"python{sysconfig.get_python_version()}", "site-packages")
    ours = shutil.ignore_patterns("_editable_impl_foretold*", "_foretold*", "__pycache__")
    link_tree(sysconfig.get_path("purelib"), packages, ours)
    with open(os.path.join(packages, "foretold.pth"), "w", encoding="utf-8") as file:
        file.write(os.path.join(folder, "foretold", "src") + "\n")
    return os.path.join(home, "bin", "python")


def find_python(folder):
    """A Python of this version that the user may start: this one, the system's, or this one linked elsewhere."""
    name = f"python{sysconfig.get_python_version()}"
    system = [os.path.join(place, name) for place in ("/usr/local/bin", "/usr/bin")]
    found = next((python for python in (sys._base_executable, *system) if may_start(python)), None)
    if found is None:
        found = link_python(os.path.join(folder, "python"))
        if not may_start(found):  # its library was found by an absolute path that this user may not enter
            sys.exit(f"unprivileged: {USER} can start no {name}; install one in /usr/bin")
    return found


def copy_tracked(folder):
    """The files that git tracks, as they are in the working tree, and new ones that it does not ignore."""
    question = ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(question, check=True, capture_output=True).stdout.decode().split("\0")[:-1]:
        with contextlib.suppress(FileNotFoundError):  # deleted, and not committed
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), os.path.join(folder, name), follow_symlinks=False)


def may_start(python):
    user = pwd.getpwnam(USER)
    try:
        words = [python, "-I", "-c", "import sqlite3, ssl, venv"]
        done = subprocess.run(
            words, user=user.pw_uid, group=user.pw_gid, extra_groups=[], cwd="/", check=False, capture_output=True
        )
    except OSError:
        return False
    return done.returncode == 0


def link_python(folder):
    """This Python in another folder: it finds its library next to itself."""
    link_tree(sys.base_prefix, folder, shutil.ignore_patterns("site-packages", "share", "__pycache__"))
    return os.path.join(folder, "bin", f"python{sysconfig.get_python_version()}")


def link_tree(source, target, ignore):
    shutil.copytree(source, target, symlinks=True, ignore=ignore, copy_function=link, dirs_exist_ok=True)


def link(source, target):
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # another file system
        shutil.copy2(source, target, follow_symlinks=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
