"""The interfaces of the systems that foretold implements, name for name, on the one engine.

Each module is thin: it asks the engine with the dialect of that system and gives the answer the form that programs
written for it expect. Where the original has a bug, the answer is the correct one (`docs/compat/`).
"""
