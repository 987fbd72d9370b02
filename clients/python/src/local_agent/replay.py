"""Lets each event of a run pass once, although its stream was opened again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

_PIECES = {"text-delta": "content", "reasoning-delta": "content", "tool-input-delta": "inputTextDelta"}
_BEGUN = {"text-start", "reasoning-start", "tool-input-start"}
_STEPS = {"step-boundary", "start-step", "finish-step"}
# The events of a model's answer. A replay repeats them in the same order. Others may be missing there.
_ANSWER = {*_PIECES, *_BEGUN, *_STEPS, "text-end", "reasoning-end", "tool-input-available", "tool-input-error"}
_ENDS = {"error", "abort", "finish"}
_ANOTHER_ANSWER = "The answer was cut, and the model was asked again."

Event = dict[str, Any]


@dataclass
class _Entry:
    """An event of an answer; the pieces of a part are one."""

    key: str
    type: str
    # Joined when the text is read: a string that grows piece by piece is copied each time.
    pieces: list[str]
    length: int
    event: Event

    @property
    def is_piece(self) -> bool:
        return self.type in _PIECES

    @property
    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0]


class ReplayFilter:
    """A stream that is opened again goes on behind the last event with an id.

    Where the service does not know that id, the stream begins with its first event. It may join pieces
    of text. After a kill of the service it may have another answer of the model: the filter then passes
    `data-retry` for the step, and the step from its beginning.
    """

    def __init__(self) -> None:
        # The answers so far, without tries of steps that broke off.
        self._answers: list[_Entry] = []
        # The place of the stream in them: events, and characters of the next one.
        self._place = (0, 0)
        self._marked = (0, 0)
        self._is_broken = False
        # How often other events were read, by their type and id.
        self._read: dict[str, int] = {}
        self._replayed: dict[str, int] = {}
        # What came behind the last event with an id, which comes again.
        self._unmarked: list[str] = []
        self._is_opened = False
        self.last_id: str | None = None

    def reopen(self) -> None:
        self._is_opened = True

    def mark(self, id: str | None) -> None:
        """Notes the id of the event that was read last."""
        if id is not None:
            self.last_id = id
            self._marked = self._place
            self._unmarked = []

    def new_parts(self, event: Event) -> list[Event]:
        """Returns the event, or the part of it that is new; none for one that was read before.

        Returns more where the event shows that the answer is another one.
        """
        type_ = event.get("type", "")
        if self._is_opened:
            self._is_opened = False
            self._rewind(is_first=type_ == "start")
        if type_ == "data-retry":
            return self._pass_retry(event)
        key = f"{type_} {_id_of(event)}"
        if type_ not in _ANSWER:
            ended = self._drop_step() if type_ in _ENDS and not self._is_new() else []
            return [*ended, event] if self._count(key) else ended
        if self._is_broken:
            self._is_broken = type_ != "start-step"
            return [event] if self._is_new() else []
        return self._pass_answer(_entry(key, event, _text_of(event)))

    def _rewind(self, is_first: bool) -> None:
        for key in self._unmarked:
            self._replayed[key] -= 1
        self._unmarked = []
        self._place = self._marked
        if is_first:
            self._replayed = {}
            self._place = (0, 0)
            self._is_broken = False

    def _is_new(self) -> bool:
        index, length = self._place
        if index >= len(self._answers):
            return True
        last = self._answers[index]
        return index == len(self._answers) - 1 and last.is_piece and length == last.length

    def _add(self, entry: _Entry) -> Event:
        last = self._answers[-1] if self._answers else None
        if entry.is_piece and last is not None and last.key == entry.key:
            last.pieces.append(entry.text)
            last.length += entry.length
        else:
            self._answers.append(entry)
        if entry.is_piece:
            self._place = (len(self._answers) - 1, self._answers[-1].length)
        else:
            self._place = (len(self._answers), 0)
        return entry.event

    def _pass_answer(self, entry: _Entry) -> list[Event]:
        if entry.is_piece and entry.length == 0:
            return [entry.event] if self._is_new() else []
        if self._is_new():
            return [self._add(entry)]
        index, length = self._place
        known = self._answers[index]
        if entry.key != known.key and known.is_piece and length == known.length:
            self._place = (index + 1, 0)
            return self._pass_answer(entry)
        if entry.key == known.key:
            if entry.is_piece and known.text.startswith(entry.text, length):
                self._place = (index, length + entry.length)
                return []
            if not entry.is_piece and known.text == entry.text:
                self._place = (index + 1, 0)
                return []
            if entry.is_piece and index == len(self._answers) - 1 and entry.text.startswith(known.text[length:]):
                return [self._add(_with_text(entry, entry.text[known.length - length :]))]
        return [*self._drop_step(), self._add(entry)]

    def _last(self, *types: str) -> int:
        """Returns the index of the last such event before the place; -1 where there is none."""
        before = range(min(self._place[0], len(self._answers)) - 1, -1, -1)
        return next((at for at in before if self._answers[at].type in types), -1)

    def _drop_step(self) -> list[Event]:
        """Returns the events that say that the step is dropped, and repeat it up to the place."""
        index, length = self._place
        last = self._last("start-step", "finish-step")
        is_between = last != -1 and self._answers[last].type == "finish-step"
        start = last + 1 if is_between else max(last, 0)
        dropped = [_id_of(each.event) for each in self._answers[start:] if each.type in _BEGUN]
        again = self._answers[start:index]
        if length > 0:
            again.append(_with_text(self._answers[index], self._answers[index].text[:length]))
        del self._answers[start:]
        self._read = dict(self._replayed)
        data = {"attempt": 1, "reason": _ANOTHER_ANSWER, "dropped": dropped}
        repeated = [self._add(_with_text(each, each.text)) for each in again]
        return [{"type": "data-retry", "data": data}, {"type": "finish-step"}, *repeated]

    def _pass_retry(self, event: Event) -> list[Event]:
        """Passes the report that a try of a step broke off, unless only a replay has this try."""
        begun = self._last("start-step") + 1
        is_read = self._is_new()
        if is_read:
            del self._answers[begun:]
        self._place = (begun, 0)
        self._is_broken = True
        return [event] if is_read else []

    def _count(self, key: str) -> bool:
        """Counts an event that is in no answer, and returns whether it is new."""
        nth = self._replayed.get(key, 0) + 1
        self._replayed[key] = nth
        self._unmarked.append(key)
        known = self._read.get(key, 0)
        self._read[key] = max(known, nth)
        return nth > known


def _id_of(event: Event) -> str:
    id_: str = event.get("id") or event.get("approvalId") or event.get("toolCallId") or ""
    return id_


def _text_of(event: Event) -> str:
    """Returns what two events with the same type and id can differ in."""
    piece = _PIECES.get(event["type"])
    if piece is not None:
        text: str = event[piece]
        return text
    return json.dumps(event.get("input")) if event["type"] == "tool-input-available" else ""


def _entry(key: str, event: Event, text: str) -> _Entry:
    return _Entry(key, event["type"], [text], len(text), event)


def _with_text(entry: _Entry, text: str) -> _Entry:
    if not entry.is_piece:
        return entry
    piece = _PIECES[entry.type]
    event = {**entry.event, piece: text, **({"delta": text} if piece == "content" else {})}
    return _entry(entry.key, event, text)
