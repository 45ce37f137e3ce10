from __future__ import annotations

import json
import os

from foretold.sessions.archive.retention import DAY, Retention, cleanup, find_expiring_sessions, read_retention
from foretold.sessions.model import Homes

SESSION = "0a0a0a0a-1111-4111-8111-0123456789ab"
NOW = 1_800_000_000.0


def settings(folder, value):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "settings.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cleanupPeriodDays": value}, file)
    return path


def test_only_whole_days_from_one_on_delete_anything():
    ages = [0.3, 1.2, 6, 8, 29.9, 30.1, 400]
    assert [cleanup(ages, value) for value in (None, 7, 7.0, 1)] == [ages[:5], ages[:3], ages[:3], ages[:1]]
    assert [cleanup(ages, value) for value in (0, 0.5, 1.5, -1, "7", True)] == [ages] * 6


def test_the_strongest_settings_say_how_long(tmp_path):
    homes, managed, cwd = Homes(str(tmp_path), {}), f"{tmp_path}/managed", f"{tmp_path}/proj"
    assert read_retention(homes, managed=managed) == Retention(30.0, "", "default")
    user = settings(f"{tmp_path}/.claude", 60)
    project = settings(f"{cwd}/.claude", 0)
    assert read_retention(homes, managed=managed) == Retention(60.0, user, "setting")
    assert read_retention(homes, cwd, managed=managed) == Retention(None, project, "rejected")
    os.makedirs(managed)
    with open(f"{managed}/managed-settings.json", "w") as file:
        file.write('{"cleanupPeriodDays": 90}')
    assert read_retention(homes, cwd, managed=managed).days == 90.0


def test_what_is_about_to_go_is_listed_next_first(tmp_path):
    folder = f"{tmp_path}/.claude/projects/-p"
    os.makedirs(folder)
    ages = {f"{SESSION[:-1]}{digit}": age for digit, age in enumerate((1.0, 25.0, 29.5, 31.0))}
    for name, age in ages.items():
        with open(f"{folder}/{name}.jsonl", "w") as file:
            file.write("{}\n")
        os.utime(f"{folder}/{name}.jsonl", (NOW - age * DAY, NOW - age * DAY))
    homes, rule = Homes(str(tmp_path), {}), Retention(30.0, "", "default")
    found = [
        (ages[one.stored.id], round(one.days, 6)) for one in find_expiring_sessions(homes, NOW, within=1.0, rule=rule)
    ]
    assert found == [(31.0, -1.0), (29.5, 0.5)]
    assert find_expiring_sessions(homes, NOW, within=99.0, rule=Retention(None, "", "rejected")) == []
