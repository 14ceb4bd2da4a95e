"""What TensorFlow knows of ops: definitions, registered CPU kernels, and the list of ops that the suite is about."""

import functools
import itertools
import pathlib

from tensorflow.python.framework import kernels, op_def_registry

from untestable import is_untestable
from values import name_of

HERE = pathlib.Path(__file__).parent

# Types tried where neither kernel nor definition restricts them.
ANY_TYPE = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 17, 18, 19, 22, 23)
EVERY_TYPE = tuple(range(64))


@functools.lru_cache(None)
def definition(op):
    """The OpDef, or None."""
    return op_def_registry.get(op)


@functools.lru_cache(None)
def listed_ops():
    """The ops that Troupe is to run, most wanted first (ops.txt)."""
    lines = (HERE / "ops.txt").read_text().splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


@functools.lru_cache(None)
def _kernels_by_op():
    by_op = {}
    for kernel in kernels.get_all_registered_kernels().kernel:
        if kernel.label == "" and kernel.device_type in ("CPU", "DEFAULT"):
            by_op.setdefault(kernel.op, {}).setdefault(kernel.device_type, []).append(kernel)
    return by_op


@functools.lru_cache(None)
def allowed_types(op, attr, otherwise=ANY_TYPE):
    """What the definition lets a type attribute be."""
    for a in definition(op).attr:
        if a.name == attr and a.HasField("allowed_values"):
            return tuple(a.allowed_values.list.type)
    return otherwise


@functools.lru_cache(None)
def type_combinations(op):
    """All testable combinations of types with a CPU kernel, as tuples of (attribute, number); only attributes that kernels restrict."""
    devices = _kernels_by_op().get(op, {})
    combinations = {}
    for kernel in devices.get("CPU") or devices.get("DEFAULT") or ():
        # Some kernels are registered for types that the definition does not let in.
        constraints = [c for c in kernel.constraint if c.allowed_values.list.type]
        choices = [[(c.name, t) for t in c.allowed_values.list.type if t in allowed_types(op, c.name, EVERY_TYPE)] for c in constraints]
        for combination in itertools.product(*choices):
            if not is_untestable(op, [(attr, name_of(t)) for attr, t in combination]):
                combinations[tuple(sorted(combination))] = True
    return tuple(combinations)


@functools.lru_cache(None)
def for_dtypes(op, attr="T"):
    """Names of the dtypes that TensorFlow has a CPU kernel of the op for."""
    found = {}
    for combination in type_combinations(op):
        types = [t for name, t in combination if name == attr]
        for t in types or allowed_types(op, attr):
            if t not in (20, 21) or types:
                found[name_of(t)] = True
    return tuple(found)


def describe_types(combination):
    return ", ".join(f"{attr}={name_of(t)}" for attr, t in combination)
