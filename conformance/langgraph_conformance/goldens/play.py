"""A golden run: a graph, its input, and what is said of it; played on any saver."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig

from ..drive import GraphDrive, SaverDrive
from ..rules import unmet
from ..threads import Thread


@dataclass(frozen=True)
class Done:
    """One call of a graph, and what came of it.

    Attributes:
        method: such as ``invoke``.
        input: what was given.
        config: where it ran.
        keywords: further arguments.
        returned, raised: what came of it.
    """

    method: str
    input: Any
    config: RunnableConfig
    keywords: dict[str, Any]
    returned: Any = None
    raised: Exception | None = None


class PlayedGraph(GraphDrive):
    """A graph whose calls are noted.

    Args:
        saver: the drive whose mode is used.
        graph: a compiled graph that has the drive's saver.
        done: where calls are noted.
        begin: is told the name of each method that is called, before it is.
    """

    def __init__(self, saver: SaverDrive, graph: Any, done: list[Done], begin: Callable[[str], None] | None) -> None:
        super().__init__(saver, graph)
        self._done, self._begin = done, begin

    def _call(self, method: str, *arguments: Any, **keywords: Any) -> Any:
        if self._begin:
            self._begin(method)
        return super()._call(method, *arguments, **keywords)

    def _collect(self, method: str, *arguments: Any, **keywords: Any) -> list[Any]:
        if self._begin:
            self._begin(method)
        return super()._collect(method, *arguments, **keywords)

    def _noted(self, method: str, input: Any, config: RunnableConfig, keywords: dict[str, Any]) -> Any:
        call = getattr(super(), method)
        try:
            returned = call(*([config, input] if method == "update_state" else [input, config]), **keywords)
        except Exception as error:
            self._done.append(Done(method, input, config, keywords, raised=error))
            raise
        self._done.append(Done(method, input, config, keywords, returned))
        return returned

    def invoke(self, input: Any, config: RunnableConfig, **keywords: Any) -> Any:
        return self._noted("invoke", input, config, keywords)

    def update_state(self, config: RunnableConfig, values: Any, **keywords: Any) -> RunnableConfig:
        updated: RunnableConfig = self._noted("update_state", values, config, keywords)
        return updated


class Play:
    """One performance of a golden run on one saver.

    Args:
        saver: the saver.
        new_thread: makes a thread that nobody else uses.
        begin: is told of each call of a graph.

    Attributes:
        done: the calls of graphs, in order.
        threads: the threads that were used, in order, each with the graph that shows its history.
    """

    def __init__(
        self, saver: SaverDrive, new_thread: Callable[[], Thread], begin: Callable[[str], None] | None = None
    ) -> None:
        self.drive, self._new_thread, self._begin = saver, new_thread, begin
        self.done: list[Done] = []
        self.threads: list[Thread] = []
        self.graph: PlayedGraph | None = None

    @property
    def saver(self) -> Any:
        """The saver itself, for what is compiled with it at once, such as an entrypoint."""
        return self.drive.raw

    def thread(self) -> RunnableConfig:
        """The config of a new thread."""
        thread = self._new_thread()
        self.threads.append(thread)
        return {"configurable": {"thread_id": thread.id}}

    def compile(self, builder: Any, **settings: Any) -> PlayedGraph:
        """Compile a graph's builder with the saver."""
        return self.take(builder.compile(checkpointer=self.saver, **settings))

    def take(self, graph: Any) -> PlayedGraph:
        """Take a graph that was compiled with ``saver``; its last one shows the histories of the threads."""
        self.graph = PlayedGraph(self.drive, graph, self.done, self._begin)
        return self.graph


@dataclass(frozen=True)
class GoldenRun:
    """A run whose persisted state is written down.

    Attributes:
        name: the golden's file name.
        shows: what the run shows, in words.
        play: the run.
        since: requirement on an installed distribution, such as ``langgraph>=1.2``; empty for always.
        layout: whether the bytes in memory are written down, too.
    """

    name: str
    shows: str
    play: Callable[[Play], None]
    since: str = ""
    layout: bool = True

    def holds(self) -> bool:
        """Whether the installed versions can play it."""
        return unmet(self.since) is None


RUNS: dict[str, GoldenRun] = {}
"""All golden runs by name."""


def golden_run(*, since: str = "", layout: bool = True) -> Callable[[Callable[[Play], None]], Callable[[Play], None]]:
    """Make a function a golden run: its name is the golden's, its docstring says what the run shows.

    Args:
        since: see ``GoldenRun.since``.
        layout: False for a run whose bytes depend on other distributions than LangGraph's.
    """

    def mark(function: Callable[[Play], None]) -> Callable[[Play], None]:
        name = function.__name__
        RUNS[name] = GoldenRun(name, inspect.cleandoc(function.__doc__ or ""), function, since, layout)
        return function

    return mark
