"""What happens in the service, as one stream that comes back after every cut."""

from __future__ import annotations

from collections.abc import Iterator, Callable, Sequence
from typing import Any

from .._model import UnknownEvent, read_event
from ..backoff import pause_before
from ..errors import AgentError
from ..models import STREAM_EVENTS, StreamEvent
from . import io
from .transport import Transport, read_json


def follow_events(
    transport: Transport,
    *,
    thread_id: str | None = None,
    task_id: str | None = None,
    types: Sequence[str] | None = None,
    after: str | None = None,
    on_connection: Callable[[bool], Any] | None = None,
    until: io.Event | None = None,
) -> Iterator[StreamEvent | UnknownEvent | None]:
    """Yields each event once, with its `id`, and None after each connection.

    A connection that breaks off is opened again with the id of the last event. Where the service no
    longer has those after it, it says `reset`. Ends when the agent is closed. Raises AgentError when the service refuses.
    """
    last, attempt = after, 0
    query = {"threadId": thread_id, "taskId": task_id, "types": None if types is None else ",".join(types)}
    while until is None or not until.is_set():
        is_open = False
        try:
            stream = transport.open_stream("GET", "/events", query=query, headers={"last-event-id": last})
            for event in stream:
                if until is not None and until.is_set():
                    return
                if event is None:
                    is_open = True
                    if on_connection is not None:
                        io.call(on_connection, True)
                    yield None
                    continue
                attempt = 0
                last = event.id if event.id is not None else last
                if event.data is not None:
                    yield read_event(STREAM_EVENTS, {**read_json(event.data), "id": event.id})
        except AgentError as error:
            if transport.is_closed:
                return
            if error.is_refusal or (error.code == "ERR_NO_SERVICE" and last is None and attempt == 0 and not is_open):
                raise
        if is_open and on_connection is not None:
            io.call(on_connection, False)
        io.sleep(pause_before(attempt))
        attempt += 1
