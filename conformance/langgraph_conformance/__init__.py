"""The conformance suite for LangGraph persistence.

Use it as a pytest plugin: ``pytest --saver=mypkg:Saver``.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("langgraph-conformance")
except PackageNotFoundError:  # used from a source tree that is not installed
    __version__ = "0+source"
