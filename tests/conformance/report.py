"""What the suite prints and writes: the table, disagreements, gaps, docs/ops.md."""

import collections
import pathlib
import re

from compare import kernel_text
from definitions import definition, describe_types, listed_ops, type_combinations
from framework import EXEMPT
from values import name_of

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _by_op(verdicts):
    by_op = collections.defaultdict(list)
    for verdict in verdicts:
        for op in verdict.case.ops:
            by_op[op].append(verdict)
    return dict(sorted(by_op.items()))


def _has_kernel(op, kernels):
    return kernels is None or any(name == op for name, _ in kernels)


def print_table(verdicts, kernels, short):
    """Op, cases, agreeing; a whole run shows only ops that disagree, with the others counted."""
    rows, fine = [], 0
    for op, found in _by_op(verdicts).items():
        ran = [v for v in found if not v.skipped]
        agreeing = sum(v.wrong is None or v.varies for v in ran)
        if short and agreeing == len(ran):
            fine += 1
            continue
        rows.append((op, len(ran), agreeing, "" if _has_kernel(op, kernels) else "no kernel"))
    if rows:
        print(f"{'op':40} {'cases':>6} {'agreeing':>9}")
        for op, cases, agreeing, note in rows:
            print(f"{op:40} {cases:6} {agreeing:9}  {note}")
    if short:
        print(f"{fine} ops agree in all cases")


def print_details(verdicts, kernels, limit):
    shown = collections.Counter()
    for v in verdicts:
        if v.wrong is None or v.varies or not _has_kernel(v.case.op, kernels):
            continue
        shown[v.case.op] += 1
        if shown[v.case.op] <= limit:
            print(f"\n{v.case.label}  [{v.case.key}]\n    {v.wrong}")
    for op, count in shown.items():
        if count > limit:
            print(f"\n{op}: {count - limit} more")


def print_refusals(verdicts):
    for v in verdicts:
        if v.refusal:
            print(f"{v.case.key} {v.case.label}\n    {v.refusal.code} {kernel_text(v.refusal.text)[:200]}")


def print_summary(verdicts, kernels, seconds):
    """The closing line; the count of disagreements, those for want of a kernel included."""
    ran = [v for v in verdicts if not v.skipped]
    varying = [v for v in ran if v.varies]
    wrong = [v for v in ran if v.wrong is not None and not v.varies]
    missing = [v for v in wrong if not _has_kernel(v.case.op, kernels)]
    skipped = len(verdicts) - len(ran)
    if varying:
        print(f"\nset aside, since TensorFlow contradicts itself: {', '.join(f'{v.case.label} [{v.case.key}]' for v in varying)}")
    print(
        f"\n{len(ran)} cases, {len(ran) - len(wrong) - len(varying)} agreeing, {len(wrong) - len(missing)} disagreeing, {len(varying)} set aside, "
        f"{len(missing)} without a kernel, {skipped} skipped; {len(_by_op(verdicts))} ops; {seconds:.0f} s"
    )
    return len(wrong)


def _kernel_fits(op, combination, by_op):
    wanted = dict(combination)
    return any(all(wanted.get(a, t) == t for a, t in constraints.items()) for constraints in by_op.get(op, ()))


def _covered(combination, seen):
    return any(all(dict(types).get(a) == t for a, t in combination) for types in seen)


def gaps(verdicts, kernels, only=()):
    """Lines on what is missing: kernels, and cases of each kind."""
    lines = []
    by_op, seen = collections.defaultdict(list), collections.defaultdict(set)
    for op, constraints in kernels or ():
        by_op[op].append(constraints)
    for v in verdicts:
        for op, types in v.types:
            seen[op].add(types)
    found = _by_op(verdicts)
    for op in listed_ops():
        if only and op not in only:
            continue
        if kernels is not None and op not in by_op:
            lines.append(f"{op}: no kernel")
            continue
        combinations = type_combinations(op)
        if kernels is not None and (without := [c for c in combinations if not _kernel_fits(op, c, by_op)]):
            lines.append(f"{op}: no kernel for {_list(without)}")
        cases, free = found.get(op, []), EXEMPT.get(op, set())
        if (without := [c for c in combinations if not _covered(c, seen[op])]) and len(free) < 3:
            lines.append(f"{op}: no case for {_list(without)}")
        valued = sum(not v.refusal for v in cases)
        if valued < 3 and "values" not in free:
            lines.append(f"{op}: {valued} cases with values, not 3")
        if not any(v.empty for v in cases) and "empty" not in free:
            lines.append(f"{op}: no case with an empty tensor")
        if not any(v.refusal for v in cases) and "refusal" not in free:
            lines.append(f"{op}: no refusal")
    return lines


def _list(combinations):
    shown = "; ".join(describe_types(c) or "any types" for c in combinations[:12])
    return shown + (f"; and {len(combinations) - 12} more" if len(combinations) > 12 else "")


def print_gaps(verdicts, kernels, only):
    lines = gaps(verdicts, kernels, only)
    print(f"\n{len(lines)} gaps")
    for line in lines:
        print("  " + line)
    return len(lines)


def _families():
    """The family of each op: the file that names it in its kernels."""
    families = {}
    for path in sorted((ROOT / "ops").glob("*/*.cpp")):
        for op in re.findall(r'"(_?[A-Z]\w+)"', path.read_text()):
            families.setdefault(op, path.parent.name)
    return families


def _supported_types(op, verdicts):
    """Types with an agreeing case, by attribute."""
    by_attr = collections.defaultdict(dict)
    for v in verdicts:
        if v.wrong is None and not v.skipped:
            for name, types in v.types:
                if name == op:
                    for attr, t in types:
                        by_attr[attr][name_of(t)] = True
    order = [a.name for a in definition(op).attr if a.type == "type"]
    return "; ".join(f"{attr}: {', '.join(sorted(by_attr[attr]))}" for attr in order if by_attr[attr])


def write_docs(verdicts):
    """docs/ops.md: every op with agreeing cases, by family, with its dtypes."""
    families, found = _families(), _by_op(verdicts)
    rows = collections.defaultdict(list)
    for op, about in found.items():
        agreeing = [v for v in about if v.wrong is None and not v.skipped]
        if agreeing:
            rows[families.get(op, "other")].append(f"| {op} | {_supported_types(op, agreeing)} | {len(agreeing)} |")
    lines = ["# Ops", "", "Written by `./run conformance --write-docs`: every op that agrees with TensorFlow 2.15.1 in values, dtypes, shapes and"]
    lines += ["errors, with the types for which that was compared and the number of cases.", ""]
    for family in sorted(rows):
        lines += [f"## {family}", "", "| op | types | cases |", "|---|---|---|", *rows[family], ""]
    (ROOT / "docs" / "ops.md").write_text("\n".join(lines))
