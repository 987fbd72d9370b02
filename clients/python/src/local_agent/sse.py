"""Server-Sent Events, from the bytes of a stream."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from .errors import AgentError

# Characters of the longest event.
LONGEST = 64 * 1024 * 1024


@dataclass
class ServerSentEvent:
    """One event. Without `data` it only says how far the stream has come: `id` is where to resume."""

    id: str | None = None
    event: str | None = None
    data: str | None = None


class EventParser:
    """Makes events of the pieces of a stream whose lines end with a line feed."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        # The pieces of a line that goes on, and the characters of the event so far.
        self._rest: list[str] = []
        self._length = 0
        self._event = ServerSentEvent()

    def feed(self, piece: bytes) -> list[ServerSentEvent]:
        """Returns the events that are complete with this piece. Raises ERR_NO_SERVICE for one without end."""
        text = self._decoder.decode(piece)
        self._rest.append(text)
        self._length += len(text)
        if self._length > LONGEST:
            raise AgentError(f"What answers sent an event of more than {LONGEST} characters.", code="ERR_NO_SERVICE")
        if "\n" not in text:
            return []
        *lines, rest = "".join(self._rest).split("\n")
        self._rest = [rest]
        events: list[ServerSentEvent] = []
        for line in lines:
            if line != "":
                self._read(line)
                continue
            # One without fields is a ping: it gives its reader a moment to look whether it should end.
            events.append(self._event)
            self._event = ServerSentEvent()
            self._length = len(rest)
        return events

    def _read(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            before = self._event.data
            self._event.data = value if before is None else f"{before}\n{value}"
        elif name == "id":
            self._event.id = value
        elif name == "event":
            self._event.event = value
