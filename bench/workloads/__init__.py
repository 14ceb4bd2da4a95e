"""What is measured. A workload is a generator: it sets up, yields what one step does, and checks the result when it is resumed.

The harness runs the step in timed windows between the two, alternating between servers; nothing but steps is timed.
"""

import dataclasses
import importlib
import pkgutil
import typing


@dataclasses.dataclass
class Row:
    """One line of the table. `measure` is time, rate, cpu or sleeps; `scale` turns seconds per step, or steps per second, into its unit."""
    name: str
    measure: str = "time"
    scale: float = 1e6
    target: str = ""

    @property
    def higher_is_better(self):
        return self.measure == "rate"


@dataclasses.dataclass
class Workload:
    setup: typing.Callable
    rows: list
    steps: int
    jobs: dict | None = None
    floor: bool = False  # also measured against the server that does nothing
    spin_us: int | None = None
    answer_bytes: int = 0  # what the floor answers a fetch with
    whole: bool = False  # yields a function of the number of steps that gives the seconds of one (or the value) itself


ALL = []


def workload(*rows, steps, **facts):
    def register(setup):
        ALL.append(Workload(setup, list(rows), steps, **facts))
        return setup

    return register


def load():
    """All workloads, in the order of their files' names and of their places in them."""
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        importlib.import_module(f"{__name__}.{module}")
    return ALL
