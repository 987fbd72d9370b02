"""Lets each event of a run pass once, although its stream was opened again."""

from __future__ import annotations

from typing import Any

_PIECES = {"text-delta": "content", "reasoning-delta": "content", "tool-input-delta": "inputTextDelta"}


class ReplayFilter:
    """A stream that is opened again goes on behind the last event with an id.

    Where the service does not know that id, the stream begins with its first event. It may join pieces
    of text.
    """

    def __init__(self) -> None:
        # Characters or events that were read, by block, call or type of event.
        self._read: dict[str, int] = {}
        self._replayed: dict[str, int] = {}
        # What came behind the last event with an id, which comes again.
        self._unmarked: dict[str, int] = {}
        self._is_opened = False
        self.last_id: str | None = None

    def reopen(self) -> None:
        self._is_opened = True

    def mark(self, id: str | None) -> None:
        """Notes the id of the event that was read last."""
        if id is not None:
            self.last_id = id
            self._unmarked = {}

    def new_part(self, event: dict[str, Any]) -> dict[str, Any] | None:
        """Returns the event, or the part of it that is new; None for one that was read before."""
        type_ = event.get("type", "")
        if self._is_opened:
            self._is_opened = False
            self._rewind(is_first=type_ == "start")
        piece = _PIECES.get(type_)
        if piece is None:
            id_ = event.get("id") or event.get("approvalId") or event.get("toolCallId") or ""
            return event if self._count(f"{type_} {id_}", 1) == 1 else None
        text: str = event[piece]
        id_ = event.get("id") or event.get("toolCallId") or ""
        length = self._count(f"{type_} {id_}", len(text))
        if length == len(text):
            return event
        rest = text[len(text) - length :]
        if rest == "":
            return None
        return {**event, piece: rest, **({"delta": rest} if piece == "content" else {})}

    def _rewind(self, is_first: bool) -> None:
        for key, length in self._unmarked.items():
            self._replayed[key] -= length
        self._unmarked = {}
        if is_first:
            self._replayed = {}

    def _count(self, key: str, length: int) -> int:
        """Returns how many of the units are new."""
        start = self._replayed.get(key, 0)
        self._replayed[key] = start + length
        self._unmarked[key] = self._unmarked.get(key, 0) + length
        known = self._read.get(key, 0)
        self._read[key] = max(known, start + length)
        return min(length, max(0, start + length - known))
