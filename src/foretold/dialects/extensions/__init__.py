"""Skills, agents, commands, hooks, servers and plugins of each agent, and where its files belong: tables."""
