"""`foretold mcp`: what foretold knows, as tools and resources of the Model Context Protocol.

`server.py` alone knows the protocol's package. A tool is a value (`tool.py`): its schemas, its hints and a plain
function from a project and arguments to an answer.
"""
