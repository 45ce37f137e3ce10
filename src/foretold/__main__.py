"""`python -m foretold` is the command.

Use it to try things out: Python has put the current folder first on its module path, and may find another `foretold`.
What agents and other processes start is isolated (`src/foretold/paths.py`).
"""

import os
import sys

if not sys.flags.safe_path and sys.path[0] != os.path.dirname(os.path.dirname(os.path.abspath(__file__))):
    del sys.path[0]  # the current folder: what is imported from here on is not looked for there

from foretold.cli import run

run()
