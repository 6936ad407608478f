"""The persistence contract of LangGraph as running code: the oracle that other backends are compared with."""

from langgraph_reference.saver import ReferenceSaver
from langgraph_reference.store import ReferenceStore

__all__ = ["ReferenceSaver", "ReferenceStore"]
