"""What came of a row of bench/thin.py, as text, and the criteria that it meets or misses."""

from typing import NamedTuple, Optional

from thin_lab import ACK_FRAME_BYTES, Counters, Link

ROUNDS = 4
TIME_FACTOR_MAX = 1.15
ROUND_TRIPS_MAX = 3
SLOW_MBIT, SLOW_S_MAX = 1, 1.0  # additional time below this rate
BYTES_FACTOR_MAX, BYTES_FACTOR_MAX_LOSS = 1.08, 1.2
HEARTBEAT_MBIT_MIN, HEARTBEAT_S_MAX = 0.5, 1.0
HEARTBEAT_EXPECTED_S = 5  # a run of this length has at least one heartbeat


class Criterion(NamedTuple):
    kind: str  # "bytes", "time", "heartbeats", "sessions" or "end"
    what: str
    got: str
    limit: str
    met: bool


class Outcome(NamedTuple):
    row: str
    mbit: float
    model_bytes: int
    codec: str
    delay_ms: float
    loss_percent: float
    commits: int
    ended: bool  # all rounds are committed and applied
    first_s: Optional[float]
    first_bytes_s: float
    round_s: Optional[float]  # median
    round_bytes_s: float
    needed_in: int
    needed_out: int
    counters: Counters
    heartbeats: int
    heartbeat_s_median: Optional[float]
    heartbeat_s_max: Optional[float]
    sessions_lost: int
    watched_s: float
    first_tcp_s: Optional[float] = None  # the first commit's bytes over one plain TCP connection

    def link(self) -> Link:
        return Link(self.mbit, self.delay_ms, self.loss_percent)

    def ratio_in(self) -> float:
        """Ratio of Ethernet bytes, without acknowledgements of the other direction, to the
        necessary bytes."""
        data = self.counters.ethernet_in - ACK_FRAME_BYTES * self.counters.ack_frames_in
        return data / self.needed_in

    def ratio_out(self) -> float:
        data = self.counters.ethernet_out - ACK_FRAME_BYTES * self.counters.ack_frames_out
        return data / self.needed_out

    def ratios(self) -> dict:
        return {"stream_in": self.counters.stream_in / self.needed_in,
                "ethernet_in": self.ratio_in(),
                "ethernet_in_with_acks": self.counters.ethernet_in / self.needed_in,
                "stream_out": self.counters.stream_out / self.needed_out,
                "ethernet_out": self.ratio_out(),
                "ethernet_out_with_acks": self.counters.ethernet_out / self.needed_out}


def seconds_max(bytes_s: float, link: Link) -> float:
    slow_s = SLOW_S_MAX if link.mbit < SLOW_MBIT else 0
    return TIME_FACTOR_MAX * bytes_s + ROUND_TRIPS_MAX * link.round_trip_s() + slow_s


def of_time(what: str, got_s: Optional[float], bytes_s: float, link: Link) -> Criterion:
    limit_s = seconds_max(bytes_s, link)
    return Criterion("time", what, "never" if got_s is None else f"{got_s:.2f} s",
                     f"at most {limit_s:.2f} s", got_s is not None and got_s <= limit_s)


def of_bytes(what: str, ratio: float, loss_percent: float) -> Criterion:
    limit = BYTES_FACTOR_MAX_LOSS if loss_percent else BYTES_FACTOR_MAX
    return Criterion("bytes", what, f"{ratio:.3f} x needed", f"at most {limit:g} x", ratio <= limit)


def of_heartbeats(one: Outcome) -> list:
    if one.mbit < HEARTBEAT_MBIT_MIN:
        return []
    limit = f"less than {HEARTBEAT_S_MAX:g} s"
    if one.heartbeat_s_max is None:
        expected = one.watched_s >= HEARTBEAT_EXPECTED_S
        return [Criterion("heartbeats", "heartbeats", "none answered", limit, False)] * expected
    return [Criterion("heartbeats", "slowest heartbeat", f"{one.heartbeat_s_max:.2f} s", limit,
                      one.heartbeat_s_max < HEARTBEAT_S_MAX)]


def criteria(one: Outcome) -> list:
    lost = one.sessions_lost
    return [Criterion("end", "commits", str(one.commits), f"{ROUNDS}, all applied", one.ended),
            of_time("first commit", one.first_s, one.first_bytes_s, one.link()),
            of_time("round", one.round_s, one.round_bytes_s, one.link()),
            of_bytes("received", one.ratio_in(), one.loss_percent),
            of_bytes("sent", one.ratio_out(), one.loss_percent),
            *of_heartbeats(one),
            Criterion("sessions", "sessions lost", str(lost), "none", lost == 0)]


def missed(all_of: list) -> list:
    return [one for one in all_of if not one.met]


def bytes_met(one: Outcome) -> bool:
    """The criteria on which the short form fails. A run that does not end has no bytes to judge."""
    return not [each for each in missed(criteria(one)) if each.kind in ("bytes", "end")]


HEAD = f"""{'':28} {'first commit':>22} {'round':>16} {'received / needed':>19} \
{'sent / needed':>26} {'heartbeat':>13} {'sessions':>8}
{'row':28} {'s':>8} {'bytes':>6} {'TCP s':>6} {'s':>8} {'bytes s':>7} {'stream':>9} {'Ethernet':>9} \
{'stream':>8} {'Ethernet':>9} {'+ acks':>7} {'median':>6} {'max s':>6} {'lost':>8}"""


def number(value: Optional[float], width: int, digits: int = 2) -> str:
    return f"{'never' if value is None else f'{value:.{digits}f}':>{width}}"


def row_text(one: Outcome) -> str:
    ratios = one.ratios()
    beats = [f"{'-' if value is None else f'{value:.2f}':>6}"
             for value in (one.heartbeat_s_median, one.heartbeat_s_max)]
    return " ".join([f"{one.row:28}", number(one.first_s, 8), number(one.first_bytes_s, 6),
                     "     -" if one.first_tcp_s is None else number(one.first_tcp_s, 6),
                     number(one.round_s, 8), number(one.round_bytes_s, 7),
                     number(ratios["stream_in"], 9, 3), number(ratios["ethernet_in"], 9, 3),
                     number(ratios["stream_out"], 8, 3), number(ratios["ethernet_out"], 9, 3),
                     number(ratios["ethernet_out_with_acks"], 7, 3), *beats,
                     f"{one.sessions_lost:>8}"])


def verdict_text(one: Outcome) -> str:
    faults = missed(criteria(one))
    if not faults:
        return f"{'':28} met"
    return "\n".join(f"{'':28} MISSED: {each.what} {each.got}, limit {each.limit}"
                     for each in faults)
