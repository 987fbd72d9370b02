"""What differs between asyncio and threads."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx

T = TypeVar("T")
Event = asyncio.Event
HttpClient = httpx.AsyncClient
sleep = asyncio.sleep


async def call(function: Callable[..., Any], *args: Any) -> Any:
    """Calls a handler, which may be a coroutine function."""
    result = function(*args)
    return await result if inspect.isawaitable(result) else result


async def execute(function: Callable[[], Any], timeout: float | None) -> Any:
    """Calls a tool. One that is no coroutine function runs in a thread, as it may block."""

    async def run() -> Any:
        result = await asyncio.to_thread(function)
        return await result if inspect.isawaitable(result) else result

    return await asyncio.wait_for(run(), timeout)


async def gather(functions: Iterable[Callable[[], Awaitable[T]]]) -> list[T]:
    """Calls functions at the same time and returns what they return."""
    return list(await asyncio.gather(*(function() for function in functions)))


@asynccontextmanager
async def repeat(function: Callable[[], Awaitable[Any]], seconds: float) -> AsyncIterator[None]:
    """Calls a function again and again until the block ends."""

    async def loop() -> None:
        while True:
            await asyncio.sleep(seconds)
            await function()

    task = asyncio.create_task(loop())
    try:
        yield
    finally:
        task.cancel()


class Background:
    """Functions that run beside what started them."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, function: Callable[[], Awaitable[Any]]) -> None:
        task: asyncio.Task[Any] = asyncio.ensure_future(_run(function))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()


async def _run(function: Callable[[], Awaitable[Any]]) -> Any:
    return await function()
