"""What is measured. A workload is a generator: it sets up, yields what one step does, and checks the result when it is resumed.

The harness runs the step in timed windows between the two, alternating between servers; nothing but steps is timed.
"""

import dataclasses
import importlib
import pkgutil
import typing


@dataclasses.dataclass
class Row:
    """One line of the table. `measure` is time, rate, cpu, sleeps or what the workload gives besides; `scale` turns it into the row's unit."""
    name: str
    measure: str = "time"
    scale: float = 1e6
    target: str = ""
    against: str | None = None  # another measure of TensorFlow's that Troupe's is divided by
    has_ratio: bool = True  # not where both are about nothing

    @property
    def higher_is_better(self):
        return self.measure in ("rate", "messages")


@dataclasses.dataclass
class Workload:
    setup: typing.Callable
    rows: list
    steps: int
    jobs: dict | None = None
    floor: bool = False  # also measured against the server that does nothing
    spin_us: int | None = None
    answer_bytes: int = 0  # what the floor answers a fetch with
    whole: bool = False  # yields a function of the number of steps that gives the seconds of one (or the value, or a dict of measures) itself
    pairs: int | None = None  # windows of each server, where that is not for the command to say
    quick: int = 5  # by how much --quick divides the steps


@dataclasses.dataclass
class Curve:
    """How the time of a step grows with x. `setup(cluster, x)` is a workload's generator; `jobs(x)` its cluster."""
    name: str
    x_name: str
    xs: list
    setup: typing.Callable
    steps: typing.Callable
    jobs: typing.Callable = lambda x: None
    most: dict = dataclasses.field(default_factory=dict)  # the largest x that a kind of server is asked for


ALL = []
CURVES = []


def workload(*rows, steps, **facts):
    def register(setup):
        ALL.append(Workload(setup, list(rows), steps, **facts))
        return setup

    return register


def curve(name, x_name, xs, **facts):
    def register(setup):
        CURVES.append(Curve(name, x_name, xs, setup, **facts))
        return setup

    return register


def load():
    """All workloads, in the order of their files' names and of their places in them."""
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}")
    return ALL
