"""Troupe and TensorFlow's own server side by side, in one run, with the same client: medians, spread and ratio.

Each workload gets fresh processes of both, and of a server that does nothing where that says something; timed windows alternate between them.
Prints a table and writes bench.json and bench.html; a workload that fails is named and the others go on.
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import time
import traceback

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import machine  # noqa: E402
import page  # noqa: E402
import readme  # noqa: E402
import servers  # noqa: E402


class Contestant:
    """One kind of server with its side of a workload."""

    def __init__(self, kind, workload):
        self.cluster = servers.Cluster(kind, workload.jobs, None if kind == "tensorflow" else workload.spin_us, workload.answer_bytes)
        self.whole = workload.whole
        self._run = workload.setup(self.cluster)
        self._step = next(self._run)

    def window(self, steps):
        """Seconds, CPU seconds and sleeps of the servers per step, and what the workload gives besides."""
        cpu, sleeps, begin = self.cluster.cpu_seconds(), self.cluster.sleeps(), time.perf_counter()
        more = {}
        if self.whole:
            more = self._step(steps)
            if not isinstance(more, dict):
                more = {"time": more, "rate": 1 / more}
        else:
            for _ in range(steps):
                self._step()
            seconds = (time.perf_counter() - begin) / steps
            more = {"time": seconds, "rate": 1 / seconds}
        return {"cpu": (self.cluster.cpu_seconds() - cpu) / steps, "sleeps": (self.cluster.sleeps() - sleeps) / steps, **more}

    def finish(self):
        """The workload's last checks."""
        for _ in self._run:
            raise RuntimeError("a workload yields once")


def measure(workload, pairs, quick):
    kinds = ["tensorflow", "troupe"] + (["floor"] if workload.floor and servers.floor_program() else [])
    steps = max(1, workload.steps // workload.quick) if quick and workload.steps > 5 else workload.steps
    windows = {kind: [] for kind in kinds}
    with contextlib.ExitStack() as running:
        contestants = {}
        for kind in kinds:
            contestants[kind] = Contestant(kind, workload)
            running.callback(contestants[kind].cluster.stop)
        if not workload.whole:
            for contestant in contestants.values():
                contestant.window(max(1, steps // 10))
        for _ in range(workload.pairs or pairs):
            for kind, contestant in contestants.items():
                windows[kind].append(contestant.window(steps))
        # Default graphs and sessions of the client are a stack: who began last ends first.
        for contestant in reversed(contestants.values()):
            contestant.finish()
    return [summary(row, windows) for row in workload.rows]


def summary(row, windows):
    """What only some of the servers have is measured on those."""
    values = {kind: [w[row.measure] * row.scale for w in all_of_kind] for kind, all_of_kind in windows.items() if row.measure in all_of_kind[0]}
    median = {kind: statistics.median(v) for kind, v in values.items()}
    against = row.against or row.measure
    theirs = statistics.median(w[against] * row.scale for w in windows["tensorflow"]) if against in windows["tensorflow"][0] else None
    return {"name": row.name, "target": row.target, "higher_is_better": row.higher_is_better, "values": values, "median": median,
            "ratio": median["troupe"] / theirs if theirs and row.has_ratio else None,
            "to_floor": median["troupe"] / median["floor"] if median.get("floor") else None}


def measure_curve(curve, quick):
    """Seconds of a step for each x and kind of server, the best of three windows."""
    points = {"tensorflow": [], "troupe": []}
    for x in curve.xs[::3] if quick else curve.xs:
        for kind, series in points.items():
            if x > curve.most.get(kind, x):
                continue
            cluster = servers.Cluster(kind, curve.jobs(x))
            try:
                run = curve.setup(cluster, x)
                step, steps = next(run), curve.steps(x)
                series.append((x, 1e6 * min(seconds_of(step, steps) for _ in range(3))))
                for _ in run:
                    raise RuntimeError("a curve yields once")
            finally:
                cluster.stop()
    return {"name": curve.name, "x_name": curve.x_name, "points": points}


def seconds_of(step, steps):
    begin = time.perf_counter()
    for _ in range(steps):
        step()
    return (time.perf_counter() - begin) / steps


def number(value):
    return " " * 10 if value is None else f"{value:10.4g}"


def print_row(row):
    spread = ", ".join(f"{min(v):.4g}..{max(v):.4g}" for v in row["values"].values())
    floor = f"{row['median']['floor']:10.4g} {row['to_floor']:8.3f}" if row["to_floor"] else " " * 19
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.3f}"
    print(f"{row['name']:78} {number(row['median'].get('tensorflow'))} {number(row['median']['troupe'])} {ratio:>7} {floor}  "
          f"{row['target']:24} {spread}", flush=True)


def print_curve(curve):
    print(f"{curve['name']}, us by {curve['x_name']}")
    for kind, series in curve["points"].items():
        print(f"  {kind:10} " + ", ".join(f"{x}: {value:.4g}" for x, value in series), flush=True)


class Results:
    """What was measured, saved after every workload. Those of an earlier run may stay where nothing new came."""

    def __init__(self, folder, keep, order):
        self._path = os.path.join(folder, "bench.json")
        self._order = order
        self.all = {"rows": [], "curves": [], "machine": {}}
        os.makedirs(folder, exist_ok=True)
        if keep and os.path.exists(self._path):
            with open(self._path) as file:
                self.all.update(json.load(file))

    def put(self, kind, entries):
        names = {entry["name"] for entry in entries}
        merged = [entry for entry in self.all[kind] if entry["name"] not in names] + entries
        self.all[kind] = sorted(merged, key=lambda entry: self._order.get(entry["name"], len(self._order)))
        self.save()

    def save(self):
        with open(self._path, "w") as out:
            json.dump(self.all, out, indent=1)
        with open(self._path.removesuffix("json") + "html", "w") as out:
            out.write(page.render(self.all))


def attempt(what, failures, measure_it):
    """A failure of one workload is reported at once and does not keep the others from being measured."""
    try:
        return measure_it()
    except Exception:  # whatever a client or a server does wrong
        failures.append(what)
        print(f"{what}: FAILED\n{traceback.format_exc()}", flush=True)
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two pairs and fewer steps")
    parser.add_argument("--only", help="workloads with a row, and curves, whose name contains this")
    parser.add_argument("--pairs", type=int, help="windows of each server; 5, or 2 with --quick")
    parser.add_argument("--out", default="build", help="folder of bench.json and bench.html")
    parser.add_argument("--keep", action="store_true", help="keep what bench.json has of workloads that are not measured now")
    parser.add_argument("--write_readme", metavar="FILE", nargs="?", const="README.md", help="put the table into this file, between its marks")
    arguments = parser.parse_args()
    import tensorflow as tf

    tf.compat.v1.disable_eager_execution()
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    import workloads

    every = workloads.load()
    named = [row.name for w in every for row in w.rows] + [c.name for c in workloads.CURVES]
    chosen = [w for w in every if not arguments.only or any(arguments.only in row.name for row in w.rows)]
    curves = [c for c in workloads.CURVES if not arguments.only or arguments.only in c.name]
    if not chosen and not curves:
        parser.error(f"nothing is called anything like '{arguments.only}'")
    results, failures = Results(arguments.out, arguments.keep, {name: i for i, name in enumerate(named)}), []
    if chosen:
        print(f"{'workload':78} {'TensorFlow':>10} {'Troupe':>10} {'ratio':>7} {'floor':>10} {'to floor':>8}  {'aim':24} spread (TensorFlow, Troupe, floor)")
    pairs = arguments.pairs or (2 if arguments.quick else 5)
    for workload in chosen:
        rows = attempt(workload.rows[0].name, failures, lambda: measure(workload, pairs, arguments.quick))
        for row in rows or []:
            print_row(row)
        results.put("rows", rows or [])
    for curve in curves:
        measured = attempt(curve.name, failures, lambda: measure_curve(curve, arguments.quick))
        if measured:
            print_curve(measured)
            results.put("curves", [measured])
    results.all["machine"] = machine.measure()
    for name, value in results.all["machine"].items():
        print(f"{name:78} {value:10.4g}")
    results.save()
    if arguments.write_readme:
        readme.write(arguments.write_readme, results.all)
    if failures:
        raise SystemExit("failed: " + "; ".join(failures))


if __name__ == "__main__":
    main()
