"""The pauses between two attempts."""

from __future__ import annotations

import random

ATTEMPTS = 12
"""How often something is tried again: for about a minute, so that a service can be restarted."""

FEW_ATTEMPTS = 5
"""How often a request whose caller asked for no retries is sent again: for about five seconds."""


def pause_before(attempt: int) -> float:
    """Returns the pause before an attempt, counted from 0, in seconds.

    It is random, so that clients of one service do not come back at once.
    """
    return min(0.2 * 2.0**attempt, 10) * (0.5 + random.random() / 2)
