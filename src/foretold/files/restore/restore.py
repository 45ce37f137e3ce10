"""Putting files back so that it can be taken back: the plan, what is kept, the changes, in this order."""

from __future__ import annotations

from foretold.errors import NotSynced, RestoreRefused, RestoreStopped
from foretold.files.restore.swap import put_back
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.files.restore.plans import Plan
    from foretold.files.restore.undo import Restore, Undo


class Restored(NamedTuple):
    """What was done, and the id that takes it back; empty if nothing was to be done."""

    plan: Plan
    undo: str = ""


def refuse_problems(plan: Plan) -> None:
    """RestoreRefused if something stands in the way."""
    if plan.problems:
        said = "; ".join(f"{each.path}: {each.message}" for each in plan.problems)
        raise RestoreRefused(f"{said}. Nothing was changed")


def restore(plan: Plan, undo: Undo, why: str) -> Restored:
    """Make all changes of a plan, or none. What they overwrite is kept first."""
    refuse_problems(plan)
    if not plan.changes and all(each.is_done for each in undo.restores()):
        return Restored(plan)
    with undo.locked():
        undo.settle()
        if not plan.changes:
            return Restored(plan)
        begun = undo.begin(plan.changes, why)
        try:
            is_clean = put_back(plan.changes, begun.id, undo.kernel)
        except (RestoreStopped, NotSynced) as error:
            raise type(error)(f"{error}. Take it back: foretold files undo {begun.id}") from error
        except BaseException:
            undo.forget(begun)
            raise
        if is_clean:
            undo.finish(begun)
        undo.settle()
    return Restored(plan, begun.id)


def take_back(given: Restore, plan: Plan, undo: Undo) -> Restored:
    """Undo a restore, by the plan made of what it kept; this can be undone itself."""
    done = restore(plan, undo, f"undo {given.id}: {given.why}")
    if not given.is_done and not undo.sweep(given):
        undo.finish(given)
    return done
