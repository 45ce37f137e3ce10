"""Asking real agents: a model server for them to talk to (`ModelServer`), and what they send it (`probe`)."""

from foretold.proof.probe.server import Exchange, ModelServer, ToolCall

__all__ = ["Exchange", "ModelServer", "ToolCall"]
