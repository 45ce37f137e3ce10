"""Installing foretold in agents: hooks and an MCP server, in their own settings files.

    place, backups = InstallPlace(home, cwd, env), Backups(state_folder(home, env))
    plan = plan_install("claude-code", place, backups)  # only looks
    apply_plan(plan, backups)  # all of it, or nothing

`plan_uninstall` undoes it; `find_installations` lists what is where.
"""
