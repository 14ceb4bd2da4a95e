"""Tells answers in which TensorFlow contradicts itself: it runs such cases again, in processes whose fresh memory holds other bytes."""

import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

import numpy as np

import scratch
from compare import Refusal, difference
from sessions import SharedGraph, run_cases

FILLS = (0x01, 0x3F, 0x55, 0xC3)  # what malloc writes into new memory, one process each: a case may leave files behind


def find_varying(wrong):
    """The keys of those of the verdicts whose reference is one of several answers that TensorFlow gives."""
    keys = [v.case.key for v in wrong]
    varying = set()
    for answers in _run_again(keys) if keys else ():
        for v in wrong:
            magnitudes = v.magnitude or [None] * len(v.reference)
            steps = zip(v.reference, answers.get(v.case.key, ()), magnitudes)
            if any(difference(first, again, v.case.rule, scale) for first, again, scale in steps):
                varying.add(v.case.key)
    return varying


def _run_again(keys):
    """For each fill: outcomes by key. One process after another; what TensorFlow aborts tells nothing."""
    for fill in FILLS:
        with tempfile.TemporaryDirectory() as folder:
            asked, answered = (pathlib.Path(folder) / name for name in ("keys", "outcomes"))
            asked.write_text("\n".join(keys))
            # Small blocks come from a cache that does not fill them.
            fresh = {"MALLOC_PERTURB_": str(fill), "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
            subprocess.run([sys.executable, __file__, asked, answered], env={**os.environ, **fresh}, stderr=subprocess.DEVNULL)
            if answered.exists():
                root, outcomes = pickle.loads(answered.read_bytes())
                yield {key: [_moved(step, root) for step in steps] for key, steps in outcomes.items()}


def _moved(outcome, root):
    """An outcome that names files below this process's directory instead of the other's."""
    if isinstance(outcome, Refusal):
        return Refusal(outcome.code, outcome.text.replace(root, scratch.ROOT), outcome.by_graph)
    rename = np.frompyfunc(lambda b: b.replace(root.encode(), scratch.ROOT.encode()) if isinstance(b, bytes) else b, 1, 1)
    return [np.asarray(rename(a), dtype=object) if a is not None and a.dtype == object and a.size else a for a in outcome]


def answer(asked, answered):
    """The other side: runs the cases named in a file and leaves their outcomes in another."""
    from suite import load_cases

    keys, found = set(asked.read_text().split()), {}
    for case in [c for c in load_cases(keys=keys) if c.key in keys]:
        shared = SharedGraph([case])
        if case.key not in shared.refused:
            found[case.key] = run_cases(shared, [case])[case.key]
        # A case that aborts must not take along those before it.
        answered.with_suffix(".new").write_bytes(pickle.dumps((scratch.ROOT, found)))
        os.replace(answered.with_suffix(".new"), answered)


if __name__ == "__main__":
    answer(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
