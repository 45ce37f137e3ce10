"""foretold in the frameworks that agents are built with: one thin file each. Importing this does nothing."""
