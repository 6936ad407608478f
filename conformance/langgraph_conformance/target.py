"""From ``module:object`` to an open backend.

The object may be an instance, a class, a function, a context manager or a generator, sync or async, or a provider
class: one with ``open()`` and, as far as it can, ``reopen()`` (the same storage, a new instance), ``advance(seconds)``
(a clock that can be moved) and ``rows()`` (what is physically stored).
"""

from __future__ import annotations

import ast
import asyncio
import difflib
import importlib
import inspect
import sys
import types
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from .errors import TargetError
from .loops import Loop, MainLoop, PortalLoop
from .redact import HARMLESS, MASK, Redactor
from .watchdog import limit

EXAMPLES = {
    "saver": "mypkg.savers:MySaver",
    "store": "mypkg.stores:MyStore",
}


@dataclass(frozen=True)
class Spec:
    """What the user gave, parsed.

    Attributes:
        option: ``--saver`` or ``--store``.
        kind: ``saver`` or ``store``.
        module: dotted name of the module.
        path: attribute path within it.
        call: whether the path is called.
        arguments, keywords: the call's literal arguments.
    """

    option: str
    kind: str
    module: str
    path: tuple[str, ...]
    call: bool = False
    arguments: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """The target's name for output: text arguments are masked, since they may hold a password."""
        name = f"{self.module}:{'.'.join(self.path)}"
        if not self.call:
            return name
        shown = [_masked(value) for value in self.arguments]
        shown += [f"{key}={_masked(value)}" for key, value in self.keywords.items()]
        return f"{name}({', '.join(shown)})"

    def secrets(self) -> set[str]:
        """Every text among the call's arguments."""
        return set(_texts([*self.arguments, *self.keywords.values()]))


def _masked(value: object) -> str:
    if isinstance(value, str):
        return f'"{value if value in HARMLESS else MASK}"'
    return repr(value) if isinstance(value, (bool, int, float, type(None))) else MASK


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts(list(value.values()))
    elif isinstance(value, (list, tuple, set)):
        for member in value:
            yield from _texts(member)


def parse(kind: str, text: str) -> Spec:
    """Read ``module:object``, ``module:object.attribute`` or ``module:call("literals only", key=1)``.

    Raises:
        TargetError: the text is none of these.
    """
    option = f"--{kind}"
    module, colon, expression = text.strip().partition(":")
    if not colon or not module or not expression.strip():
        raise TargetError(
            f"{option}={Redactor()(text)!r} names no object: expected module:object, such as {option}={EXAMPLES[kind]}"
        )
    if not all(part.isidentifier() for part in module.split(".")):
        raise TargetError(
            f"{option}: {Redactor()(module)!r} is not a module's dotted name: write the module as in an import "
            f"statement, such as {option}={EXAMPLES[kind]}"
        )
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except SyntaxError:
        tree = None
    call = isinstance(tree, ast.Call)
    function = tree.func if isinstance(tree, ast.Call) else tree
    path: list[str] = []
    while isinstance(function, ast.Attribute):
        path.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name):
        raise TargetError(
            f"{option}: what stands after {module}: is neither a name, nor names joined by dots, nor one call of them "
            f'with literals: expected for example {EXAMPLES[kind]} or {EXAMPLES[kind]}.from_conn_string("…")'
        )
    path.append(function.id)
    arguments: list[Any] = []
    keywords: dict[str, Any] = {}
    if isinstance(tree, ast.Call):
        try:
            arguments = [ast.literal_eval(argument) for argument in tree.args]
            keywords = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in tree.keywords if keyword.arg}
            complete = all(keyword.arg for keyword in tree.keywords)
        except ValueError:
            complete = False
        if not complete:
            raise TargetError(
                f"{option}: the call of {'.'.join(reversed(path))} has an argument that is not a literal: only texts, "
                "numbers, True, False, None, lists, tuples and dicts may stand there; for anything else write a "
                "function without arguments and name it"
            )
    return Spec(option, kind, module, tuple(reversed(path)), call, tuple(arguments), keywords)


@dataclass
class Opened:
    """An open backend and what belongs to it.

    Attributes:
        backend: the saver or store.
        loop: the event loop that it was opened in, None when it was opened outside of any.
        provider: the provider's instance where the target is a provider class.
        settings: keywords that the factory was given, such as a store's ``index``.
        reopened: whether a provider opened its storage again.
    """

    backend: Any
    loop: Loop | None
    provider: Any | None
    _close: Callable[[], None]
    settings: Mapping[str, Any] = field(default_factory=dict)
    reopened: bool = False

    def close(self) -> None:
        """Leave the backend's context managers and end its loop; raises what they raise."""
        self._close()

    def abandon(self) -> None:
        """Leave a backend that hangs as it is: closing it would hang, too."""
        if self.loop is not None:
            self.loop.abandon()


class Target:
    """A backend that can be opened any number of times.

    Args:
        spec: what the user gave.
        base: the class that the backend must be an instance of.
        seconds: how long opening may take.
    """

    def __init__(self, spec: Spec, base: type, seconds: float) -> None:
        self.spec, self.base, self.seconds = spec, base, seconds
        self.redact = Redactor(spec.secrets())
        self.form = "value"
        """How the backend came: ``value``, ``instance``, ``context``, ``async context``, ``generator``, ``async
        generator``, ``awaitable`` or ``provider``; known once it was opened."""
        self.sets_up = ""
        """Whether ``setup()`` was called: ``sync``, ``async`` or empty."""
        self.setup_error = ""
        """What ``setup()`` raised on what a function gave: that may be set up already, which the first steps tell."""
        self._object = self._resolve()
        self.provides = {
            ability
            for ability in ("reopen", "advance", "rows")
            if self.is_provider() and callable(getattr(self._object, ability, None))
        }

    def _fail(self, sentence: str) -> TargetError:
        return TargetError(self.redact(f"{self.spec.option}={self.spec}: {sentence}"))

    def _resolve(self) -> Any:
        spec = self.spec
        try:
            with limit(self.seconds):
                found: Any = importlib.import_module(spec.module)
        except ModuleNotFoundError as error:
            if error.name and (spec.module == error.name or spec.module.startswith(f"{error.name}.")):
                raise self._fail(
                    f"there is no module {error.name!r}: looked in the current directory and in what is installed for "
                    f"{sys.executable}; install the package or correct the name"
                ) from error
            raise self._fail(
                f"importing {spec.module} failed, since it needs a module {error.name!r} that is not installed"
            ) from error
        except Exception as error:
            raise self._fail(f"importing {spec.module} raised {_told(error)}") from error
        except BaseException as error:
            raise self._fail(f"importing {spec.module} ended with {_told(error)}") from error
        walked = spec.module
        for name in spec.path:
            try:
                found = getattr(found, name)
            except AttributeError as error:
                close = difflib.get_close_matches(name, [each for each in dir(found) if each[0] != "_"], 1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise self._fail(f"{walked} has no {name!r}{hint}") from error
            walked = f"{walked}.{name}"
        if spec.call and not callable(found):
            raise self._fail(f"{walked} is a {type(found).__name__} and cannot be called: leave the parentheses out")
        if not (callable(found) or isinstance(found, self.base) or _is_openable(found)):
            raise self._fail(
                f"{walked} is a {type(found).__name__}: expected a {self.base.__name__}, a class or a function that "
                "gives one, or a context manager"
            )
        if inspect.isclass(found) and not issubclass(found, self.base) and callable(getattr(found, "open", None)):
            return self._provider(found)
        return found

    def _provider(self, provider: type) -> Any:
        self._check_arguments(provider)
        try:
            with limit(self.seconds):
                return _Provider(provider(*self.spec.arguments, **self.spec.keywords))
        except BaseException as error:
            raise self._fail(f"the provider {provider.__name__} raised {_told(error)} when it was made") from error

    def is_provider(self) -> bool:
        """Whether the target is a provider class."""
        return isinstance(self._object, _Provider)

    def _check_arguments(self, function: Callable[..., Any], extra: Mapping[str, Any] | None = None) -> None:
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return
        try:
            signature.bind(*self.spec.arguments, **self.spec.keywords, **(extra or {}))
        except TypeError as error:
            needed = [
                parameter.name
                for parameter in signature.parameters.values()
                if parameter.default is parameter.empty
                and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            ]
            name = self.spec.path[-1]
            given = "does not take these arguments" if self.spec.call else f"needs arguments ({', '.join(needed)})"
            raise self._fail(
                f'{name} {given}: {error}; give them as literals, such as {name}("…"), or name a function without '
                f"arguments that opens the {self.spec.kind}"
            ) from error

    def takes(self, name: str) -> bool:
        """Whether opening this target accepts a keyword ``name``, such as a store's ``index`` or ``ttl``."""
        function = self._object.open if self.is_provider() else self._object
        if not callable(function) or isinstance(function, self.base) or name in self.spec.keywords:
            return False
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            return False
        return any(each.name == name and each.kind is not each.POSITIONAL_ONLY for each in parameters)

    def open(self, mode: str, *, settings: Mapping[str, Any] | None = None) -> Opened:
        """Open the target.

        Args:
            mode: ``sync`` for a caller on the main thread outside of any loop; ``async`` for a loop on the main
                thread; ``parity`` for a loop in its own thread, so that sync and async methods may both be called.
            settings: keywords for the factory, such as a store's ``index``.

        Raises:
            TargetError: it cannot be opened, with one sentence that says why.
        """
        make = self._object.open if self.is_provider() else self._make
        given = settings or {}
        return replace(self._enter(lambda: make(**given), mode, "open"), settings=given)

    def reopen(self, mode: str) -> Opened:
        """Open the same storage again with a new instance, as after a restart (providers only).

        Raises:
            TargetError: it cannot be opened.
        """
        return replace(self._enter(self._object.reopen, mode, "reopen"), reopened=True)

    def _make(self, **settings: Any) -> Any:
        found, spec = self._object, self.spec
        if not spec.call and (isinstance(found, self.base) or not callable(found)):
            return _AsItIs(found) if isinstance(found, self.base) else found
        self._check_arguments(found, settings)
        made = found(*spec.arguments, **spec.keywords, **settings)
        if inspect.isclass(made):
            raise self._fail(f"{spec.path[-1]} gave the class {made.__name__}: expected an instance of it")
        return made

    @contextmanager
    def setting_up(self) -> Iterator[None]:
        """While ``setup()`` is called on what was opened."""
        try:
            yield
        except NotImplementedError:
            return
        except BaseException as error:
            if isinstance(error, Exception) and inspect.isfunction(self._object):
                self.setup_error = self.redact(_told(error))
                return
            error.__dict__["__conformance_step__"] = "setup()"
            raise

    def _enter(self, make: Callable[[], Any], mode: str, step: str) -> Opened:
        try:
            with limit(self.seconds):
                if mode == "sync":
                    try:
                        return self._enter_outside_of_loops(make)
                    except _NeedsLoop:
                        return self._enter_loop(make, PortalLoop())
                return self._enter_loop(make, MainLoop() if mode == "async" else PortalLoop())
        except TargetError:
            raise
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            doing = getattr(error, "__conformance_step__", step)
            raise self._fail(f"{doing} raised {_told(error)}") from error

    def _enter_outside_of_loops(self, make: Callable[[], Any]) -> Opened:
        try:
            made = make()
        except RuntimeError as error:
            if "event loop" in str(error):
                raise _NeedsLoop from error
            raise
        if inspect.isawaitable(made) or (_is_async_context(made) and not hasattr(made, "__enter__")):
            if inspect.iscoroutine(made):
                made.close()
            raise _NeedsLoop
        self._note_form(made)
        if inspect.isgenerator(made):
            made = _of_generator(made)
        context = made if hasattr(made, "__enter__") else None
        if isinstance(made, types.AsyncGeneratorType):
            raise _NeedsLoop
        backend = context.__enter__() if context is not None else made
        backend = self._checked(backend, made)
        setup = getattr(backend, "setup", None)
        if inspect.iscoroutinefunction(setup):
            if context is not None:
                context.__exit__(None, None, None)
            raise _NeedsLoop
        if callable(setup):
            with self.setting_up():
                setup()
                self.sets_up = "sync"

        def close() -> None:
            if context is not None:
                context.__exit__(None, None, None)

        return Opened(backend, None, self._provider_instance(), close)

    def _note_form(self, made: Any) -> None:
        if isinstance(made, _AsItIs):
            self.form = "instance"
        elif inspect.isgenerator(made):
            self.form = "generator"
        elif inspect.isasyncgen(made):
            self.form = "async generator"
        elif inspect.isawaitable(made):
            self.form = "awaitable"
        elif isinstance(made, self.base):
            self.form = "value"
        elif hasattr(made, "__enter__"):
            self.form = "context"
        elif _is_async_context(made):
            self.form = "async context"

    def _provider_instance(self) -> Any | None:
        return self._object.instance if self.is_provider() else None

    def _checked(self, backend: Any, made: Any) -> Any:
        if isinstance(backend, _AsItIs):
            backend = backend.backend
        if not isinstance(backend, self.base) and isinstance(made, self.base):
            backend = made
        if not isinstance(backend, self.base):
            raise self._fail(
                f"it gave a {type(backend).__name__}: expected an instance of {self.base.__module__}."
                f"{self.base.__name__}, or a context manager or generator that yields one"
            )
        return backend

    def _enter_loop(self, make: Callable[[], Any], loop: Loop) -> Opened:
        lifetime = _Lifetime(make, self._checked, self)
        try:
            backend = loop.run(lifetime.begin)
        except BaseException:
            loop.close()
            raise

        def close() -> None:
            try:
                loop.run(lifetime.end)
            finally:
                loop.close()

        return Opened(backend, loop, self._provider_instance(), close)


class _Lifetime:
    """Enters and leaves a backend's contexts in one task, as cancel scopes demand."""

    def __init__(self, make: Callable[[], Any], check: Callable[[Any, Any], Any], target: Target) -> None:
        self._make, self._check, self._target = make, check, target

    async def begin(self) -> Any:
        self._closing = asyncio.Event()
        opened: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._task = asyncio.get_running_loop().create_task(self._live(opened))
        await asyncio.wait([opened, self._task], return_when=asyncio.FIRST_COMPLETED)
        if not opened.done():
            await self._task
        return opened.result()

    async def end(self) -> None:
        self._closing.set()
        await self._task

    async def _live(self, opened: asyncio.Future[Any]) -> None:
        async with AsyncExitStack() as stack:
            made: Any = self._make()
            self._target._note_form(made)
            if inspect.isawaitable(made):
                made = await made
            context = made
            if isinstance(made, types.AsyncGeneratorType):
                context = _of_async_generator(made)
            elif inspect.isgenerator(made):
                context = _of_generator(made)
            if _is_async_context(context):
                backend = await stack.enter_async_context(context)
            elif hasattr(context, "__enter__"):
                backend = stack.enter_context(context)
            else:
                backend = context
            backend = self._check(backend, made)
            setup = getattr(backend, "setup", None)
            if callable(setup):
                with self._target.setting_up():
                    done = setup()
                    if inspect.isawaitable(done):
                        await done
                    self._target.sets_up = "async" if inspect.isawaitable(done) else "sync"
            opened.set_result(backend)
            await self._closing.wait()


class _NeedsLoop(Exception):
    """The target can only be opened inside an event loop."""


class _AsItIs:
    """An instance that the user made: it is neither entered nor closed."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend


class _Provider:
    """A provider's instance."""

    def __init__(self, instance: Any) -> None:
        self.instance = instance

    def __call__(self) -> Any:
        raise TypeError("a provider is opened, not called")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.instance, name)


def _is_async_context(made: Any) -> bool:
    return hasattr(made, "__aenter__") and hasattr(made, "__aexit__")


def _is_openable(made: Any) -> bool:
    return (
        _is_async_context(made)
        or (hasattr(made, "__enter__") and hasattr(made, "__exit__"))
        or inspect.isgenerator(made)
        or inspect.isasyncgen(made)
    )


@contextmanager
def _of_generator(generator: Generator[Any, Any, Any]) -> Iterator[Any]:
    yield next(generator)
    next(generator, None)


@asynccontextmanager
async def _of_async_generator(generator: AsyncGenerator[Any, None]) -> AsyncIterator[Any]:
    yield await generator.__anext__()
    await anext(generator, None)


def _told(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
