"""Troupe and TensorFlow's own server side by side, in one run, with the same client: medians, spread and ratio.

Each workload gets fresh processes of both, and of a server that does nothing where that says something; timed windows alternate between them.
Prints a table and writes build/bench.json and build/bench.html.
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import machine  # noqa: E402
import page  # noqa: E402
import servers  # noqa: E402


class Contestant:
    """One kind of server with its side of a workload."""

    def __init__(self, kind, workload):
        self.cluster = servers.Cluster(kind, workload.jobs, None if kind == "tensorflow" else workload.spin_us, workload.answer_bytes)
        self.whole = workload.whole
        self._run = workload.setup(self.cluster)
        self._step = next(self._run)

    def window(self, steps):
        """Seconds, CPU seconds and sleeps of the servers per step."""
        cpu, sleeps, begin = self.cluster.cpu_seconds(), self.cluster.sleeps(), time.perf_counter()
        if self.whole:
            seconds = self._step(steps)
        else:
            for _ in range(steps):
                self._step()
            seconds = (time.perf_counter() - begin) / steps
        return {"time": seconds, "rate": 1 / seconds, "cpu": (self.cluster.cpu_seconds() - cpu) / steps, "sleeps": (self.cluster.sleeps() - sleeps) / steps}

    def finish(self):
        """The workload's last checks."""
        for _ in self._run:
            raise RuntimeError("a workload yields once")


def measure(workload, pairs, quick):
    kinds = ["tensorflow", "troupe"] + (["floor"] if workload.floor and servers.floor_program() else [])
    steps = max(1, workload.steps // 5) if quick and workload.steps > 5 else workload.steps
    windows = {kind: [] for kind in kinds}
    with contextlib.ExitStack() as running:
        contestants = {}
        for kind in kinds:
            contestants[kind] = Contestant(kind, workload)
            running.callback(contestants[kind].cluster.stop)
        if not workload.whole:
            for contestant in contestants.values():
                contestant.window(max(1, steps // 10))
        for _ in range(pairs):
            for kind, contestant in contestants.items():
                windows[kind].append(contestant.window(steps))
        # Default graphs and sessions of the client are a stack: who began last ends first.
        for contestant in reversed(contestants.values()):
            contestant.finish()
    return [summary(row, windows) for row in workload.rows]


def summary(row, windows):
    values = {kind: [w[row.measure] * row.scale for w in all_of_kind] for kind, all_of_kind in windows.items()}
    median = {kind: statistics.median(v) for kind, v in values.items()}
    return {"name": row.name, "target": row.target, "higher_is_better": row.higher_is_better, "values": values, "median": median,
            "ratio": median["troupe"] / median["tensorflow"], "to_floor": median["troupe"] / median["floor"] if "floor" in median else None}


def print_row(row):
    spread = ", ".join(f"{min(v):.4g}..{max(v):.4g}" for v in row["values"].values())
    floor = f"{row['median']['floor']:10.4g} {row['to_floor']:8.3f}" if row["to_floor"] else " " * 19
    print(f"{row['name']:62} {row['median']['tensorflow']:10.4g} {row['median']['troupe']:10.4g} {row['ratio']:7.3f} {floor}  "
          f"{row['target']:24} {spread}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two pairs and fewer steps")
    parser.add_argument("--only", help="workloads with a row whose name contains this")
    parser.add_argument("--pairs", type=int, help="windows of each server; 5, or 2 with --quick")
    parser.add_argument("--out", default="build", help="folder of bench.json and bench.html")
    arguments = parser.parse_args()
    import tensorflow as tf

    tf.compat.v1.disable_eager_execution()
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    import workloads

    chosen = [w for w in workloads.load() if not arguments.only or any(arguments.only in row.name for row in w.rows)]
    if not chosen:
        parser.error(f"no workload is called anything like '{arguments.only}'")
    print(f"{'workload':62} {'TensorFlow':>10} {'Troupe':>10} {'ratio':>7} {'floor':>10} {'to floor':>8}  {'aim':24} spread (TensorFlow, Troupe, floor)")
    rows = []
    for workload in chosen:
        for row in measure(workload, arguments.pairs or (2 if arguments.quick else 5), arguments.quick):
            print_row(row)
            rows.append(row)
    limits = machine.measure()
    for name, value in limits.items():
        print(f"{name:62} {value:10.4g}")
    os.makedirs(arguments.out, exist_ok=True)
    with open(os.path.join(arguments.out, "bench.json"), "w") as out:
        json.dump({"rows": rows, "machine": limits}, out, indent=1)
    with open(os.path.join(arguments.out, "bench.html"), "w") as out:
        out.write(page.render(rows, limits))


if __name__ == "__main__":
    main()
