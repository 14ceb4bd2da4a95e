"""The stage: runs the nodes of a case one by one with the kernels of the op runner, without a server."""

import os
import pathlib
import select
import struct
import subprocess

import numpy as np
from tensorflow.core.framework import tensor_pb2
from tensorflow.python.framework import tensor_util

from compare import Refusal
from framework import anchor
from values import dtype_of_array, numpy_of

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What takes an executor, not just a kernel.
NEEDS_EXECUTOR = {
    "Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration", "Merge", "RefMerge", "LoopCond",
    "If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase", "PartitionedCall", "StatefulPartitionedCall",
    "SymbolicGradient", "MapDataset", "FlatMapDataset", "InterleaveDataset", "ParallelInterleaveDatasetV2", "FilterDataset",
    "ParallelMapDatasetV2", "ParallelMapDataset", "ReduceDataset", "For", "RemoteCall", "MapDefun", "Send", "Recv",
}  # fmt: skip


class Unsupported(Exception):
    """The stage cannot run this case; only a node can."""


def encode(array):
    """A TensorProto's bytes."""
    proto = tensor_pb2.TensorProto(dtype=dtype_of_array(array))
    for size in array.shape:
        proto.tensor_shape.dim.add(size=size)
    if proto.dtype == 7:
        proto.string_val.extend(item.encode() if isinstance(item, str) else bytes(item) for item in array.reshape(-1))
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto.SerializeToString()


def decode(data):
    """The array of a TensorProto; None for handles and variants."""
    proto = tensor_pb2.TensorProto.FromString(data)
    shape = [d.size for d in proto.tensor_shape.dim]
    if proto.dtype in (20, 21):
        return None
    if proto.dtype == 7:
        return _decode_strings(proto, shape)
    if proto.tensor_content or 0 in shape:
        return np.frombuffer(proto.tensor_content, dtype=numpy_of(proto.dtype)).reshape(shape)
    return tensor_util.MakeNdarray(proto)


def _decode_strings(proto, shape):
    if proto.string_val or 0 in shape:
        return tensor_util.MakeNdarray(proto)
    count, data, at = int(np.prod(shape, dtype=np.int64)), proto.tensor_content, 0
    lengths = []
    for _ in range(count):
        length = shift = 0
        while True:
            byte = data[at]
            at += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        lengths.append(length)
    result = np.empty(count, dtype=object)
    for k, length in enumerate(lengths):
        result[k] = data[at : at + length]
        at += length
    return result.reshape(shape)


def find_runner():
    """The op runner: TROUPE_OP_RUNNER, or next to the program under test, or in the release build."""
    if path := os.environ.get("TROUPE_OP_RUNNER"):
        return pathlib.Path(path)
    troupe = os.environ.get("TROUPE_BIN")
    return pathlib.Path(troupe).parent / "troupe_op_runner" if troupe else ROOT / "build" / "release" / "troupe_op_runner"


class Runner:
    """The op runner as a process; one that dies is started anew."""

    TIMEOUT = 60

    def __init__(self, path=None):
        self.path = path or find_runner()
        self.process = None
        self.crashes = 0

    def ask(self, verb, *parts):
        message = b"".join(k + struct.pack("<I", len(c)) + c for k, c in ((b"q", verb.encode()), *parts))
        if self.process is None:
            self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.process.stdin.write(struct.pack("<I", len(message)) + message)
            self.process.stdin.flush()
            size = struct.unpack("<I", self._read(4))[0]
            return self._read(size)
        except (EOFError, BrokenPipeError, TimeoutError) as broken:
            self.process.kill()
            status = self.process.wait()
            self.process = None
            self.crashes += 1
            text = "the kernel did not come back" if isinstance(broken, TimeoutError) else f"the kernel crashed (status {status})"
            return b"e" + struct.pack("<I", 1000) + text.encode()

    def _read(self, size):
        parts, stream = [], self.process.stdout.fileno()
        while size:
            if not select.select([stream], [], [], self.TIMEOUT)[0]:
                raise TimeoutError
            data = os.read(stream, size)
            if not data:
                raise EOFError
            parts.append(data)
            size -= len(data)
        return b"".join(parts)

    def kernels(self):
        """All kernels as (op, {attribute: type number})."""
        lines = self.ask("list")[1:].decode().splitlines()
        rows = [line.split("\t") for line in lines]
        return [(row[0], {a: int(t) for a, t in (c.split("=") for c in row[1:])}) for row in rows]

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


def _answer(data):
    """"b", a Refusal, or the parts of an answer."""
    kind = data[:1]
    if kind == b"b":
        return "b"
    if kind == b"e":
        return Refusal(struct.unpack("<I", data[1:5])[0], data[5:].decode(errors="replace"))
    parts, at = [], 1
    while at < len(data):
        size = struct.unpack("<I", data[at + 1 : at + 5])[0]
        parts.append(data[at + 5 : at + 5 + size] if data[at : at + 1] == b"t" else None)
        at += 5 + size
    return parts


class Stage:
    name = "stage"

    def __init__(self, path=None):
        self.runner = Runner(path)
        self.anchor, self.anchored = anchor(), None

    def run(self, built, ops=()):
        """An outcome for each step of a case; constants are taken as they are unless the case is about them."""
        if (self.runner.process is None or self.runner.process is not self.anchored) and built is not self.anchor:
            self.run(self.anchor)
            self.anchored = self.runner.process
        nodes = {node.name: node for node in built.nodes}
        for node in built.nodes:
            if node.op in NEEDS_EXECUTOR or any(v.WhichOneof("value") == "func" for v in node.attr.values()):
                raise Unsupported(node.op)
        feeds = {name: encode(array) for name, array in built.feeds.items()}
        if "Const" not in ops:
            feeds.update((n.name, n.attr["value"].tensor.SerializeToString()) for n in built.nodes if n.op == "Const")
        return [self._step(nodes, feeds, wanted) for wanted in built.steps]

    def _step(self, nodes, feeds, wanted):
        fetched = [w.split(":") for w in wanted]
        order, consumed = _order(nodes, feeds, [f[0] for f in fetched])
        outputs, waiting = {}, []
        for name in order:
            answer = self._run_node(nodes[name], feeds, name in consumed)
            if answer == "b":
                waiting.append(name)
            elif isinstance(answer, Refusal):
                self._give_up(waiting)
                return answer
            else:
                outputs[name] = answer
        for name in waiting:
            answer = _answer(self.runner.ask("poll", (b"n", nodes[name].SerializeToString(deterministic=True))))
            if answer == "b":
                answer = Refusal(1001, f"{name} waits for ever")
            if isinstance(answer, Refusal):
                self._give_up(waiting)
                return answer
            outputs[name] = answer
        return [_fetched(outputs, feeds, f) for f in fetched if len(f) == 2]

    def _give_up(self, waiting):
        if waiting:
            self.runner.ask("cancel")

    def _run_node(self, node, feeds, keep):
        if node.op == "NoOp":
            return []
        parts = [(b"n", node.SerializeToString(deterministic=True))]
        for source in node.input:
            if source.startswith("^"):
                continue
            name, _, at = source.partition(":")
            if name in feeds:
                parts.append((b"t", feeds[name]))
            else:
                parts.append((b"s", f"{name}:{at or 0}".encode()))
        if keep:
            parts.append((b"k", b""))
        return _answer(self.runner.ask("run", *parts))

    def close(self):
        self.runner.close()


def _order(nodes, feeds, wanted):
    """The nodes that a step needs, inputs first, and those whose outputs others take."""
    order, consumed, seen = [], set(), set()
    stack = [(name, False) for name in reversed(wanted)]
    while stack:
        name, ready = stack.pop()
        if ready:
            order.append(name)
            continue
        if name in seen or name in feeds:
            continue
        seen.add(name)
        stack.append((name, True))
        for source in reversed(nodes[name].input):
            source_name = source.lstrip("^").partition(":")[0]
            if not source.startswith("^"):
                consumed.add(source_name)
            stack.append((source_name, False))
    return order, consumed


def _fetched(outputs, feeds, fetch):
    name, at = fetch
    if name in feeds:
        return decode(feeds[name])
    data = outputs[name][int(at)]
    return None if data is None else decode(data)
