"""What differs between threads and asyncio."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx

T = TypeVar("T")
Event = threading.Event
HttpClient = httpx.Client
sleep = time.sleep


def call(function: Callable[..., Any], *args: Any) -> Any:
    """Calls a handler."""
    return function(*args)


def execute(function: Callable[[], Any], timeout: float | None) -> Any:
    """Calls a tool, which may be a coroutine function, in a thread of its own."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            result = function()
            outcome.append((asyncio.run(_wait(result)) if inspect.isawaitable(result) else result, None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout)
    if not outcome:
        raise TimeoutError
    result, error = outcome[0]
    if error is not None:
        raise error
    return result


async def _wait(result: Any) -> Any:
    return await result


def gather(functions: Iterable[Callable[[], T]]) -> list[T]:
    """Calls functions at the same time and returns what they return."""
    calls = list(functions)
    if len(calls) <= 1:
        return [function() for function in calls]
    with ThreadPoolExecutor(len(calls)) as pool:
        return [each.result() for each in [pool.submit(function) for function in calls]]


@contextmanager
def repeat(function: Callable[[], Any], seconds: float) -> Iterator[None]:
    """Calls a function again and again until the block ends."""
    over = threading.Event()

    def loop() -> None:
        while not over.wait(seconds):
            function()

    threading.Thread(target=loop, daemon=True).start()
    try:
        yield
    finally:
        over.set()


class Background:
    """Functions that run beside what started them."""

    def start(self, function: Callable[[], Any]) -> None:
        threading.Thread(target=function, daemon=True).start()

    def cancel(self) -> None:
        """Threads end by themselves: nobody can end them."""
