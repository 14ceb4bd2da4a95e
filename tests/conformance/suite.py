"""Runs declared cases on TensorFlow and on Troupe and keeps what came out."""

import dataclasses
import importlib.util
import pathlib
import time

import tensorflow as tf

import framework
from compare import Refusal, difference
from definitions import definition
from masters import Master, reference_server
from sessions import Node, SharedGraph, absolute, run_cases
from stage import Stage, Unsupported

HERE = pathlib.Path(__file__).parent

TOGETHER = 300  # cases that share a graph and a step
ALONE = 60  # cases that share a graph, with steps of their own


@dataclasses.dataclass
class Verdict:
    """What came of a case: wrong is None when both agree, skipped says why it did not run."""

    case: framework.Case
    wrong: str | None = None
    skipped: str | None = None
    refusal: Refusal | None = None  # of TensorFlow
    empty: bool = False
    types: tuple = ()  # (op, ((attribute, type), …)) of the nodes that the case is about
    varies: bool = False  # wrong, but TensorFlow gives other answers too
    reference: list | None = None  # where they disagree: TensorFlow's outcomes, and the magnitudes that the rule took
    magnitude: list | None = None


def load_cases(only=None, keys=None):
    """Loads every module of cases, the hand-written ones first; `only` names one, `keys` are those of cases whose modules will do."""
    prefixes = keys and {key.rpartition("_")[0] for key in keys}
    framework.ALL.clear()
    for path in [*sorted((HERE / "cases").glob("*.py")), *sorted((HERE / "generic").glob("*.py"))]:
        prefix = f"{path.parent.name[0]}_{path.stem}"
        if only in (None, path.stem, path.parent.name) and (not prefixes or prefix in prefixes):
            framework.begin_module(prefix)
            spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return framework.ALL


def _chunks(cases):
    for producer in sorted({c.producer for c in cases}, reverse=True):
        together = [c for c in cases if not c.alone and c.producer == producer]
        alone = [c for c in cases if c.alone and c.producer == producer]
        for size, part in ((TOGETHER, together), (ALONE, alone)):
            for at in range(0, len(part), size):
                yield part[at : at + size]


def _types(case, built):
    found = []
    for node in built.nodes:
        if node.op not in case.ops:
            continue
        attrs = {a.name: a.default_value.type for a in definition(node.op).attr if a.type == "type" and a.HasField("default_value")}
        attrs.update((k, v.type) for k, v in node.attr.items() if v.WhichOneof("value") == "type")
        found.append((node.op, tuple(sorted(attrs.items()))))
    return tuple(found)


def _is_empty(built, outcomes):
    arrays = [*built.feeds.values(), *(a for o in outcomes if not isinstance(o, Refusal) for a in o)]
    return any(a is not None and a.size == 0 for a in arrays)


class Suite:
    def __init__(self, backend="stage", target=None):
        self.stage = Stage() if backend == "stage" else None
        self.node = Node(target) if backend == "node" else None
        self.server = reference_server() if self.node else None
        self.seconds = {"graph": 0.0, "reference": 0.0, "ours": 0.0, "compare": 0.0}

    def run(self, cases):
        """A verdict for each case."""
        for chunk in _chunks(cases):
            yield from self._run_chunk(chunk)

    def _timed(self, what, function, *arguments):
        begun = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            self.seconds[what] += time.perf_counter() - begun

    def _run_chunk(self, cases):
        shared = self._timed("graph", SharedGraph, cases)
        reference, magnitudes = self._timed("reference", self._reference, shared, cases)
        ours = self._timed("ours", self._ours, shared, cases)
        if self.node:
            for place, outcomes in ((self.server, reference), (self.node, ours)):
                outcomes.update((key, [Master(place.target).run(shared.built[key])]) for key in shared.refused)
        for case in cases:
            yield self._timed("compare", self._verdict, case, shared.built[case.key], reference[case.key], ours[case.key], magnitudes.get(case.key))

    def _reference(self, shared, cases):
        outcomes = self._run(shared, cases)
        summed = [c for c in cases if c.rule.sums is not None and not any(isinstance(o, Refusal) for o in outcomes[c.key])]
        return outcomes, run_cases(shared, summed, change=absolute) if summed else {}

    def _run(self, shared, cases, target=""):
        outcomes = {key: [refusal] for key, refusal in shared.refused.items()}
        return {**outcomes, **run_cases(shared, [c for c in cases if c.key not in shared.refused], target)}

    def _ours(self, shared, cases):
        if self.node:
            try:
                outcomes = self._run(shared, cases, self.node.target)
            except tf.errors.OpError:
                # A server may refuse the whole graph for one node of it.
                return self._one_by_one(cases)
            return self._one_by_one(cases) if self.node.died() else outcomes
        return {c.key: self._on_stage(c, shared) for c in cases}

    def _one_by_one(self, cases):
        """Each case in a graph of its own, on a node that is started again when it did not survive one."""
        outcomes = {}
        for case in cases:
            if self.node.died():
                self.node.start()
            shared = SharedGraph([case])
            try:
                outcomes.update(self._run(shared, [case], self.node.target))
            except tf.errors.OpError as refused:
                outcomes[case.key] = [Refusal(refused.error_code, refused.message)] * len(shared.built[case.key].steps)
        if self.node.died():
            self.node.start()
        return outcomes

    def _on_stage(self, case, shared):
        try:
            return self.stage.run(shared.built[case.key], case.ops)
        except Unsupported as op:
            return op

    def _verdict(self, case, built, reference, ours, magnitude):
        verdict = Verdict(case, types=_types(case, built), empty=_is_empty(built, reference))
        verdict.refusal = next((o for o in reference if isinstance(o, Refusal)), None)
        if isinstance(ours, Unsupported):
            verdict.skipped = f"{ours} takes an executor"
            return verdict
        for k, (r, o) in enumerate(zip(reference, ours)):
            scale = magnitude[k] if magnitude and not isinstance(magnitude[k], Refusal) else None
            if isinstance(r, Refusal) and r.by_graph and self.stage:
                o = next((o for o in ours if isinstance(o, Refusal)), None)
                if o is None:
                    verdict.skipped = "refused by checks of whole graphs"
                    break
            if wrong := difference(r, o, case.rule, scale):
                verdict.wrong = f"step {k}: {wrong}" if len(reference) > 1 else wrong
                verdict.reference = reference
                verdict.magnitude = [None if isinstance(m, Refusal) else m for m in magnitude] if magnitude else None
                break
        return verdict

    def close(self):
        for part in (self.stage, self.node):
            if part:
                part.close()
