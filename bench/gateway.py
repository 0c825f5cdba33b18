"""Jobs of four agents behind a gateway (`tributary lab up --gateway`), between real daemons: rounds in the network
beside rounds by the star, and with lost packets. Parts of bench/in_network.py; they need root.

Every run is checked: all its rounds have the collective, and all replicas the coordinator's model; lost packets
do not change it. A figure is the median of the rounds of all repetitions, without the first two of each."""

import statistics
from pathlib import Path
from typing import NamedTuple, Optional

from gateway_lab import Failure, GatewayFederation, Setup

WARM_UPS = 2
SPEED_UP_MIN, LOSS_COST_MAX = 3, 1.10
RTO_MIN_US = 5000
# Both links are in user space, so that only the loss differs.
WITHOUT_LOSS, WITH_LOSS = "delay=100us", "delay=100us,loss=1%"


class Goal(NamedTuple):
    """A bound of a row's value, or of its ratio."""
    text: str
    least: Optional[float] = None
    most: Optional[float] = None
    of_ratio: bool = False

    def met(self, row: dict) -> bool:
        value = row["ratio"][0] if self.of_ratio else row["value"]
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)


class Run:
    """The times of a job's rounds, and its model."""

    def __init__(self, build: Path, setup: Setup):
        with GatewayFederation(build, setup) as federation:
            federation.finish()
            collectives = federation.report()["collectives"]
            if collectives != {setup.collective: setup.rounds}:
                raise Failure(f"rounds by {collectives}, expected {setup.rounds} by {setup.collective}")
            models = federation.model_hashes()
            if len(models) != 1:
                raise Failure(f"the replicas differ: {sorted(models)}")
            self.model = models.pop()
            self.round_s = federation.round_s()[WARM_UPS:]


def compare(build: Path, repetitions: int, setups: tuple) -> tuple:
    """Median seconds of both jobs, which run in turn."""
    runs = [[Run(build, setup) for setup in setups] for _ in range(repetitions)]
    for setup, of_setup in zip(setups, zip(*runs)):
        if len({run.model for run in of_setup}) != 1:
            raise Failure(f"the same job by {setup.collective} has different models")
    if setups[0].collective == setups[1].collective and runs[0][0].model != runs[0][1].model:
        raise Failure("lost packets change the model")
    return tuple(statistics.median(second for run in of_setup for second in run.round_s)
                 for of_setup in zip(*runs))


def row(name: str, seconds: float, ratio: tuple = (), goals: tuple = ()) -> dict:
    return {"name": name, "value": seconds * 1e3, "unit": "ms", "ratio": ratio, "goals": goals}


def job(values: int, rounds: int, plane: str) -> Setup:
    return Setup(agents=4, parameters=values, rounds=rounds + WARM_UPS, plane=plane)


def thin_rows(build: Path, repetitions: int, setup: Setup) -> list:
    """The gateway's line to the coordinator has 10 Mbit/s, the agents 1 Gbit/s."""
    base = setup._replace(uplink="rate=10mbit", link="rate=1gbit")
    star, network = compare(build, repetitions, (base._replace(collective="star"), base))
    return [row("job behind 10 Mbit/s, THC by the star", star),
            row("job behind 10 Mbit/s, THC in the network", network, (star / network, "as fast as by the star"),
                (Goal(f">= {SPEED_UP_MIN} x", least=SPEED_UP_MIN, of_ratio=True),))]


LOSS_GOAL = (Goal(f"< {LOSS_COST_MAX:g} x", most=LOSS_COST_MAX, of_ratio=True),)


def loss_rows(name: str, clean: float, lossy: float, goals: tuple = LOSS_GOAL) -> list:
    return [row(f"{name}, no loss", clean),
            row(f"{name}, 1 % loss", lossy, (lossy / clean, "the time without loss"), goals)]


def job_loss_rows(build: Path, repetitions: int, setup: Setup) -> list:
    """1 % loss at each agent in both directions, and none. All of the star goes by TCP, so its rows show what the
    loss costs the rest of a round in the network: mostly TCP's least time-out for a lost single packet."""
    rows = []
    for name, collective, rto_min_us in (
            ("job in the network", "in_network", None), ("the same by the star", "star", None),
            (f"in the network, TCP's rto_min {RTO_MIN_US // 1000} ms", "in_network", RTO_MIN_US),
            (f"by the star, TCP's rto_min {RTO_MIN_US // 1000} ms", "star", RTO_MIN_US)):
        base = setup._replace(uplink="rate=1gbit", collective=collective, rto_min_us=rto_min_us)
        goals = LOSS_GOAL if collective == "in_network" else ()
        rows += loss_rows(name, *compare(
            build, repetitions, (base._replace(link=WITHOUT_LOSS), base._replace(link=WITH_LOSS))), goals)
    return rows
