"""Requests to the service, each failure of which is an AgentError."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

import httpx

from .._model import Model, read_any, read_event, read_model, to_json
from ..backoff import ATTEMPTS, pause_before
from ..errors import AgentError, not_the_service, response_error, stream_cut, unreachable
from ..finding import Address
from ..sse import EventParser, ServerSentEvent
from . import io

T = TypeVar("T")

# The service writes at least every 15 s: after this much silence the connection counts as lost, seconds.
SILENCE = 60.0
STREAM_TIME = httpx.Timeout(10, read=SILENCE, pool=None)
# An answer may wait for a model, as that of /run/sync does.
ANSWER_TIME = httpx.Timeout(10, read=None, write=60, pool=None)


class AsyncTransport:
    """Sends requests to where the service is now."""

    def __init__(self, address: Address, token: str | None = None) -> None:
        self._address = address
        self._token = token
        # No proxy is asked: the service is on this machine.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=4)
        self._http = io.HttpClient(trust_env=False, limits=limits)

    @property
    def url(self) -> str:
        """Where the service is now."""
        return self._address if isinstance(self._address, str) else self._address()

    async def close(self) -> None:
        await self._http.aclose()

    @property
    def is_closed(self) -> bool:
        return self._http.is_closed

    def _failure(self, url: str, error: Exception) -> AgentError:
        if self.is_closed:
            return AgentError("The agent was closed: make another one.", code="ERR_CLOSED")
        return unreachable(url, str(error) or type(error).__name__)

    @staticmethod
    def _path(path: str, *values: str) -> str:
        """Puts values into the places of a path, such as {id}."""
        for value in values:
            start, _, rest = path.partition("{")
            # A path that ends in dots names what is above: /threads/. would be all threads.
            name = value.replace(".", "%2E") if value in (".", "..") else quote(value, safe="")
            path = start + name + rest.partition("}")[2]
        return path

    async def _call(self, method: str, path: str, answer: type[T], **request: Any) -> T:
        return read_model(answer, _json(await self._send(method, path, **request)))

    async def _call_any(self, method: str, path: str, answer: Any, **request: Any) -> Any:
        return read_any(answer, _json(await self._send(method, path, **request)))

    async def _call_bytes(self, method: str, path: str, **request: Any) -> bytes:
        return (await self._send(method, path, **request)).content

    async def _stream(
        self, method: str, path: str, events: dict[str, type[Model]], **request: Any
    ) -> AsyncIterator[Any]:
        """Yields the events of a stream until it ends."""
        async for event in self.open_stream(method, path, **request):
            if event is not None and event.data is not None:
                yield read_event(events, read_json(event.data))

    async def _send(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Sends a request; again after a cut, if it has an idempotency key."""
        has_key = (request.get("headers") or {}).get("idempotency-key") is not None
        attempt = 0
        while True:
            try:
                return await self._send_once(method, path, **request)
            except AgentError as error:
                if not (has_key and error.is_cut) or attempt >= ATTEMPTS:
                    raise
            await io.sleep(pause_before(attempt))
            attempt += 1

    async def _send_once(self, method: str, path: str, **request: Any) -> httpx.Response:
        url = self.url
        try:
            response = await self._http.send(self._request(url, method, path, ANSWER_TIME, **request))
        except (httpx.HTTPError, RuntimeError) as error:
            raise self._failure(url, error) from error
        if response.status_code >= 400:
            raise response_error(url, response.status_code, _body(response))
        if not 200 <= response.status_code < 300:
            raise not_the_service(url, response.status_code)
        if path.startswith(("/attachments/", "/export")):
            return response
        if not response.headers.get("content-type", "").startswith(("application/json", "application/x-ndjson")):
            raise not_the_service(url, response.status_code)
        return response

    async def open_stream(
        self, method: str, path: str, **request: Any
    ) -> AsyncIterator[ServerSentEvent | None]:
        """Sends one request, without repeating it, and yields the events of its answer.

        The first item is None: the stream is open. Raises ERR_STREAM_CUT when it breaks off or is
        silent for a minute, and ERR_NO_LIVE_RUN where there is nothing to read.
        """
        url = self.url
        try:
            response = await self._http.send(
                self._request(url, method, path, STREAM_TIME, **request), stream=True
            )
        except (httpx.HTTPError, RuntimeError) as error:
            raise self._failure(url, error) from error
        try:
            if response.status_code >= 400:
                await response.aread()
                raise response_error(url, response.status_code, _body(response))
            if response.status_code == 204:
                raise AgentError("No run is active or waits under this id.", code="ERR_NO_LIVE_RUN", status_code=404)
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                raise not_the_service(url, response.status_code)
            yield None
            parser = EventParser()
            async for piece in response.aiter_bytes():
                for event in parser.feed(piece):
                    yield event
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise stream_cut() from error
        finally:
            await response.aclose()

    def _request(
        self,
        url: str,
        method: str,
        path: str,
        timeout: httpx.Timeout,
        *,
        body: Model | Mapping[str, Any] | bytes | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> httpx.Request:
        # The service reads characters outside of ASCII as the bytes of their UTF-8.
        given = {"authorization": f"Bearer {self._token}" if self._token else None, **(headers or {})}
        sent = {name: value for name, value in given.items() if value is not None}
        content: bytes | None = None
        if isinstance(body, bytes):
            content = body
            sent.setdefault("content-type", "application/octet-stream")
        elif body is not None:
            content = json.dumps(to_json(body)).encode()
            sent["content-type"] = "application/json"
        params = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        return self._http.build_request(
            method, f"{url}{path}", content=content, params=params, headers=httpx.Headers(sent, encoding="utf-8"), timeout=timeout
        )


def read_json(data: str) -> dict[str, Any]:
    """Raises ERR_STREAM_CUT when the text is no JSON object."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise stream_cut() from error
    if not isinstance(value, dict):
        raise stream_cut()
    return value


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except (ValueError, RecursionError) as error:
        raise AgentError(f"What the service has answered is no JSON: {error}.", code="ERR_NO_SERVICE") from error


def _body(response: httpx.Response) -> Any:
    try:
        return _json(response)
    except AgentError:
        return None
