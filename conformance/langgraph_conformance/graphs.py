"""What graphs of the suite need, so that they run alike on all versions and in both drives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config


def in_context(node: Callable[[Any], Any]) -> Callable[..., Any]:
    """A node that may call ``interrupt``, tasks and subgraphs wherever it runs.

    Before Python 3.11, an async run calls a sync node without the run's context variables, from which these take their
    config; here the node gets it as an argument and puts it there.

    Args:
        node: takes the state, or the input of an entrypoint.
    """

    def node_with_config(state: Any, config: RunnableConfig) -> Any:
        token = var_child_runnable_config.set(config)
        try:
            return node(state)
        finally:
            var_child_runnable_config.reset(token)

    # not functools.wraps: LangGraph would read the signature of the wrapped function, which takes no config
    node_with_config.__name__ = node.__name__
    return node_with_config
