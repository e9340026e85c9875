"""How fast an endpoint may be asked: as fast as it takes, found by asking (additive increase, multiplicative decrease).

One Pace for requests, one for tokens; both are halved by a 429 and grow again with every answer. No library does this:
those at hand keep to a rate that somebody knows.
"""

import math
from collections import deque

_WINDOW_S = 60.0
_LEAST_SPAN_S = 1.0
_GROWTH = 0.05
"""Of the rate after the last 429, with every answer: twenty answers win back what one 429 took."""


class Pace:
    """An amount a minute. Times are seconds of any one clock.

    most: never above this; None: no limit until the endpoint complains. least: never below by its own doing.
    """

    def __init__(self, most: float | None, least: float) -> None:
        self.most, self.least = most or math.inf, least
        self.per_minute = self.most
        self._step = 0.0
        self._free_at = 0.0
        self._slowed_at = -math.inf
        self._sent: deque[tuple[float, float]] = deque()

    def take(self, amount: float, now: float) -> float:
        """Seconds to wait before sending this much; it is booked."""
        wait_s = max(0.0, self._free_at - now)
        self._free_at = max(self._free_at, now) + amount * 60 / self.per_minute
        self._sent.append((now + wait_s, amount))
        while self._sent[0][0] < now - _WINDOW_S:
            self._sent.popleft()
        return wait_s

    def slow(self, sent_at: float, now: float) -> None:
        """The endpoint complained of what was sent at `sent_at`. Complaints of what went out before the last one count once."""
        if sent_at < self._slowed_at:
            return
        self._slowed_at = now
        self.per_minute = max(min(self.least, self.most), min(self.per_minute, self._measured(now)) / 2)
        self._step = self.per_minute * _GROWTH

    def quicken(self) -> None:
        """An answer came."""
        self.per_minute = min(self.most, self.per_minute + self._step)

    def _measured(self, now: float) -> float:
        """What went out a minute, over the last minute at most."""
        gone = [(at, amount) for at, amount in self._sent if at <= now]
        span_s = max(_LEAST_SPAN_S, now - gone[0][0]) if gone else _LEAST_SPAN_S
        return sum(amount for _, amount in gone) * 60 / span_s
