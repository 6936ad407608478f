"""The official backends as targets."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import quote

EMBEDDED = {
    "saver": {
        "InMemorySaver": "langgraph.checkpoint.memory:InMemorySaver",
        "ReferenceSaver": "langgraph_reference:ReferenceSaver",
        "SqliteSaver": 'langgraph.checkpoint.sqlite:SqliteSaver.from_conn_string(":memory:")',
        "AsyncSqliteSaver": 'langgraph.checkpoint.sqlite.aio:AsyncSqliteSaver.from_conn_string(":memory:")',
    },
    "store": {
        "InMemoryStore": "langgraph.store.memory:InMemoryStore",
        "ReferenceStore": "langgraph_reference:ReferenceStore",
        "SqliteStore": 'langgraph.store.sqlite:SqliteStore.from_conn_string(":memory:")',
        "AsyncSqliteStore": 'langgraph.store.sqlite.aio:AsyncSqliteStore.from_conn_string(":memory:")',
    },
}
SERVED = {
    "saver": {"PostgresSaver": "officials:postgres_saver", "AsyncPostgresSaver": "officials:async_postgres_saver"},
    "store": {"PostgresStore": "officials:postgres_store", "AsyncPostgresStore": "officials:async_postgres_store"},
}
SERVER = "LANGGRAPH_CONFORMANCE_POSTGRES"
"""Environment variable with the address of a PostgreSQL that has pgvector."""


@contextmanager
def _database() -> Iterator[str]:
    """The address of a database that nobody else uses."""
    import psycopg

    server, name = os.environ[SERVER], f"conformance_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'create database "{name}"')
    try:
        yield _at(server, name)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'drop database if exists "{name}" with (force)')


def _at(server: str, database: str) -> str:
    from psycopg.conninfo import make_conninfo

    return make_conninfo(server, dbname=quote(database))


@contextmanager
def postgres_saver() -> Iterator[Any]:
    from langgraph.checkpoint.postgres import PostgresSaver

    with _database() as address, PostgresSaver.from_conn_string(address) as saver:
        yield saver


@asynccontextmanager
async def async_postgres_saver() -> AsyncIterator[Any]:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    with _database() as address:
        async with AsyncPostgresSaver.from_conn_string(address) as saver:
            yield saver


@contextmanager
def postgres_store(index: Any = None, ttl: Any = None) -> Iterator[Any]:
    from langgraph.store.postgres import PostgresStore

    with _database() as address, PostgresStore.from_conn_string(address, index=index, ttl=ttl) as store:
        store.setup()
        _search_exactly(address)
        yield store


@asynccontextmanager
async def async_postgres_store(index: Any = None, ttl: Any = None) -> AsyncIterator[Any]:
    from langgraph.store.postgres.aio import AsyncPostgresStore

    with _database() as address:
        async with AsyncPostgresStore.from_conn_string(address, index=index, ttl=ttl) as store:
            await store.setup()
            _search_exactly(address)
            yield store


def _search_exactly(address: str) -> None:
    """Drop the approximate index: what it misses depends on the planner, on deleted rows and on when those went.

    The configuration for this, ``ann_index_config={"kind": "flat"}``, makes AsyncPostgresStore.setup raise.
    """
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("drop index if exists store_vectors_embedding_idx")
