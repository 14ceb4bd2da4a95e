"""Decides whether two outcomes of a step agree, and says how they differ."""

import dataclasses
import re

import numpy as np

from values import COMPLEXES, FLOATS, QUANTIZED, dtype_of_array, name_of

EPSILON = {"half": 2.0**-10, "bfloat16": 2.0**-7, "float": 2.0**-23, "double": 2.0**-52, "complex64": 2.0**-23, "complex128": 2.0**-52}
SMALLEST = {"half": 2.0**-14, "bfloat16": 2.0**-126, "float": 2.0**-126, "double": 2.0**-1022, "complex64": 2.0**-126, "complex128": 2.0**-1022}
_INTEGER = {"half": np.int16, "bfloat16": np.int16, "float": np.int32, "double": np.int64}


@dataclasses.dataclass
class Refusal:
    code: int
    text: str
    by_graph: bool = False  # refused when the graph was made, before any kernel

    def __str__(self):
        return f"error {self.code}: {self.text}"


def kernel_text(text):
    """An error's text without what runtimes add: node annotations, stack traces, hints, names of machines and devices."""
    text = re.split(r"\n\t? ?\[\[\{\{node|\s*\[\[\{\{node|\n\nOriginal stack trace|\nHint:", text)[0]
    text = re.sub(r"(\n\t \[\[[^\]{]*\]\])+\s*$", "", text)
    text = re.sub(r"^(From /job:[^\n]*:\n)+", "", text)
    text = re.sub(r"^(\{\{function_node [^}]*\}\} ?)+", "", text)
    text = re.sub(r"\{\{node [^}]*\}\}", "{{node}}", text)
    text = re.sub(r"/job:\w+/replica:\d+/task:\d+(/device:CPU:\d+)?", "<device>", text)
    text = re.sub(r"__per_step_\d+", "__per_step", text)
    # A damaged checkpoint is said to be which.
    text = re.sub(r" \((the index of a checkpoint,|tensor \S+ in) [^)]*\)$", "", text.strip())
    # What is fed has another name in process than on a server.
    text = re.sub(r"\b_arg_(\S+)_\d+_\d+(?= )", r"_recv_\1_0", text)
    text = re.sub(r"with these attrs: \[(.*)\]", lambda m: f"with these attrs: {sorted(m[1].split(', '))}", text)
    return _kernels_of_processors(text).strip()


def _kernels_of_processors(text):
    """A list of registered kernels without those of devices that only one side has; its order is that of a hash table."""
    head, mark, kernels = text.partition("Registered kernels:\n")
    return head + mark + "\n".join(sorted(line for line in kernels.splitlines() if not re.match(r" *device='(GPU|XLA_\w+|TPU\w*)'", line)))


def difference(reference, ours, rule, magnitude=None):
    """None when two outcomes of a step agree, otherwise what is wrong. An outcome is a list of arrays or a Refusal."""
    if isinstance(reference, Refusal) or isinstance(ours, Refusal):
        return _refusals(reference, ours, rule)
    if len(reference) != len(ours):
        return f"{len(ours)} outputs instead of {len(reference)}"
    for k, (r, o) in enumerate(zip(reference, ours)):
        wrong = _arrays(r, o, rule, None if magnitude is None else magnitude[k])
        if wrong:
            return f"output {k}: {wrong}" if len(reference) > 1 else wrong
    return None


def _refusals(reference, ours, rule):
    if not isinstance(reference, Refusal):
        return f"{ours}\n    instead of {show(reference)}"
    if not isinstance(ours, Refusal):
        return f"{show(ours)}\n    instead of {reference}"
    if reference.code != ours.code:
        return f"{ours}\n    instead of {reference}"
    if rule.check == "code":
        return None
    # A kernel alone cannot know the words of the checks that run on whole graphs.
    if reference.by_graph and not ours.by_graph:
        return None
    if kernel_text(reference.text) != kernel_text(ours.text):
        return f"error {ours.code}: {kernel_text(ours.text)!r}\n    instead of {kernel_text(reference.text)!r}"
    return None


def show(arrays):
    def one(a):
        if a is None:
            return "nothing"
        return f"{name_of(dtype_of_array(a))}{list(a.shape)} {np.array2string(a, threshold=12, edgeitems=4, max_line_width=10**6)}".replace("\n", "")

    return "; ".join(one(a) for a in arrays)[:600] or "no outputs"


def _arrays(reference, ours, rule, magnitude):
    if reference is None or ours is None:
        return None if reference is ours else f"{show([ours])} instead of {show([reference])}"
    if dtype_of_array(reference) != dtype_of_array(ours):
        return f"dtype {name_of(dtype_of_array(ours))} instead of {name_of(dtype_of_array(reference))}"
    if reference.shape != ours.shape:
        return f"shape {list(ours.shape)} instead of {list(reference.shape)}"
    if callable(rule.check):
        return rule.check(reference, ours)
    if rule.check == "shape" or reference.size == 0:
        return None
    wrong = _wrong(reference, ours, rule, magnitude)
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    return (
        f"{int(wrong.sum())} of {wrong.size} values differ, first at {list(at)}: {ours[at]!r} instead of {reference[at]!r}"
        f"\n    ours      {show([ours])}\n    reference {show([reference])}"
    )


def _wrong(reference, ours, rule, magnitude):
    """Which elements differ by more than the rule allows."""
    name = name_of(dtype_of_array(reference))
    if name in QUANTIZED:
        return reference.view(reference.dtype[0]) != ours.view(ours.dtype[0])
    if name not in FLOATS + COMPLEXES:
        return np.asarray(reference != ours)
    wide = np.complex128 if name in COMPLEXES else np.float64
    with np.errstate(all="ignore"):
        r, o = reference.astype(wide), ours.astype(wide)
        finite = np.isfinite(r) & np.isfinite(o)
        same_class = (np.isnan(r) & np.isnan(o)) | (r == o)
        if name in COMPLEXES:
            # Parts of non-finite complex numbers differ between compilers.
            same_class |= ~np.isfinite(r) & ~np.isfinite(o)
        distance = np.abs(r - o)
        eps = EPSILON[name]
        if rule.sums is not None and magnitude is not None:
            allowed = rule.sums * eps * np.abs(magnitude.astype(wide))
            near = distance <= np.where(np.isfinite(allowed), allowed, 0)
        elif rule.close is not None or rule.sums is not None:
            largest = np.abs(r[np.isfinite(r)]).max(initial=0)
            near = distance <= (rule.close or rule.sums) * eps * largest
        elif name in COMPLEXES:
            near = distance <= rule.ulp * eps * np.abs(r)
        else:
            near = _ulps(reference, ours, _INTEGER[name]) <= rule.ulp
        # TensorFlow flushes what is too small for a normal number to zero.
        near |= (np.abs(r) < SMALLEST[name]) & (np.abs(o) < SMALLEST[name])
    return np.asarray(~(same_class | (finite & near)))


def _ulps(a, b, integer):
    """Distance in representable numbers."""
    x, y = (np.ascontiguousarray(v).view(integer).reshape(v.shape).astype(np.int64) for v in (a, b))
    low = np.int64(np.iinfo(integer).min)
    x, y = (np.where(v < 0, low - v, v) for v in (x, y))
    # Far apart the difference may not fit; then it is no matter of units.
    far = np.abs(x.astype(np.float64) - y.astype(np.float64))
    return np.where(far < 2.0**62, np.abs(x - y), far)
