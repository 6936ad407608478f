"""Savers that hang, end the process or are slow, once they hold a few checkpoints."""

from __future__ import annotations

import os
import time
from typing import Any

from langgraph_reference import ReferenceSaver


class Slow(ReferenceSaver):
    def put(self, *args: Any, **kwargs: Any) -> Any:
        time.sleep(0.1)
        return super().put(*args, **kwargs)

    def get_tuple(self, *args: Any, **kwargs: Any) -> Any:
        time.sleep(0.02)
        return super().get_tuple(*args, **kwargs)


class HangsAfterAWhile(ReferenceSaver):
    def list(self, *args: Any, **kwargs: Any) -> Any:
        if sum(len(ids) for ids in self._ids.values()) > 2:
            time.sleep(1000)
        return super().list(*args, **kwargs)


class ExitsAfterAWhile(ReferenceSaver):
    def list(self, *args: Any, **kwargs: Any) -> Any:
        if sum(len(ids) for ids in self._ids.values()) > 2:
            os._exit(0)
        return super().list(*args, **kwargs)
