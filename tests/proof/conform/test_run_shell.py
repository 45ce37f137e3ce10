"""What a case may run without being permitted."""

import pytest

from foretold.proof.conform.run import is_plain, run_cases


@pytest.mark.parametrize(
    "command",
    [
        "cat a.txt",
        "echo hi; cat a.txt",
        "cat a.txt | wc -l",
        "grep -rn alpha .",
        "sed -n 1,5p a.txt",
        "sed -i s/gamma/GG/ a.txt",
        "echo bash >> b.txt; rm sub/new.txt",
        "printf 'a b' > 'x y.txt' && chmod 755 a.txt",
    ],
)
def test_plain_commands_run(command):
    assert is_plain(command)


@pytest.mark.parametrize(
    "command",
    [
        "cat /etc/passwd",
        "cat ../x",
        "rm -rf ~",
        "rm -rf $HOME",
        "echo `id`",
        "echo $(id)",
        "cat a & ",
        "python3 -c 1",
        "curl x",
        "sed s/a/b/e a.txt",
        "sed -e 's/a/b/w /tmp/x' a",
        "sed '1e id' a",
        "sed --expression=1e a",
        "echo x > /tmp/y",
        "echo x >| y",
        "(cat a)",
        "X=1 cat a",
        "cat 'a",
        "sort -o /x a",
        "sort --compress-program=./x a",
        "ls\n/bin/sh",
    ],
)
def test_others_need_permission(command):
    assert not is_plain(command)


def test_a_state_case_with_such_a_step_is_skipped_and_says_so():
    case = {"id": "t", "kind": "read_state", "agent": "claude-code", "version": "2.1.197"}
    case |= {"input": {"files": {}, "steps": [{"op": "bash", "command": "curl x"}]}, "expected": {"results": [None]}}
    (outcome,) = run_cases([case], allow_setup=False)
    assert (outcome.status, outcome.reason) == ("skipped", "it runs shell commands; allow them with --allow-setup")
