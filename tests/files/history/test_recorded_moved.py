"""The file history of a project that has moved: its files are looked for, and put back, where they are now."""

import os

from foretold.dialects.claude_code.settings import slug
from foretold.files.history.recorded import find_session, list_sessions_in, list_sessions_with
from foretold.files.restore.plans import make_plan
from foretold.files.restore.restore import Undo, restore
from foretold.sessions.model import Homes

from ...memory.machines import Quick
from ..recordings import RECORDINGS, put_on_stage, states


def move(place, name):
    """The project under another name, and its transcript with it."""
    new, projects = place.path(name), place.path("home/.claude/projects")
    os.rename(place.proj, new)
    os.rename(f"{projects}/{slug(place.proj)}", f"{projects}/{slug(new)}")
    return new


def test_rewinding_works_where_the_project_is_now(place):
    recording = RECORDINGS[-1]
    for message, rewind in recording["rewinds"].items():
        put_on_stage(place, recording)
        before = states(place.path("home/.claude"))
        new = move(place, "shop")
        recorded = find_session(Homes(place.home, {}), recording["session"])
        assert (recorded.cwd, recorded.findings) == (new, ())
        plan = make_plan(recorded.wanted(message))
        assert plan.problems == ()
        restore(plan, Undo(place.path("state"), Quick()), "rewind")
        assert not os.path.lexists(place.proj)
        assert {**states(new, "proj/"), **states(place.path("out"), "out/")} == rewind["files"]
        os.rename(new, place.proj)
        projects = place.path("home/.claude/projects")
        os.rename(f"{projects}/{slug(new)}", f"{projects}/{slug(place.proj)}")
        assert states(place.path("home/.claude")) == before


def test_sessions_are_found_by_the_new_folder_and_its_files(place):
    recording = RECORDINGS[0]
    put_on_stage(place, recording)
    new = move(place, "my.shop")
    homes, session = Homes(place.home, {}), recording["session"]
    assert [each.session for each in list_sessions_in(homes, new)] == [session]
    assert list_sessions_in(homes, place.proj) == []
    inside = [path for path in find_session(homes, session[:1]).tracked if path.startswith(new)]
    assert inside
    assert [[each.session for each in list_sessions_with(homes, path)] for path in inside] == [[session]] * len(inside)


def test_a_project_that_is_there_keeps_its_files(place):
    put_on_stage(place, RECORDINGS[0])
    new = move(place, "shop")
    place.folder("proj")
    assert find_session(Homes(place.home, {}), RECORDINGS[0]["session"]).cwd == place.proj
    assert os.path.isdir(new)
