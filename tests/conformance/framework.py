"""The words in which cases are declared: case, refuse, graph, ref, var, feed, steps. See README.md."""

import dataclasses
import itertools
from typing import Callable

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2, node_def_pb2

import values as values_module
from definitions import definition
from values import dtype_of_array, number_of, tensor


@dataclasses.dataclass
class Rule:
    """How values are compared. Integers, bools and strings are exact under every rule but `check`.

    ulp: floats may differ by so many units in the last place.
    sums: by sums * eps * the same op of absolute inputs, the sum of the absolute terms.
    close: by close * eps * the largest absolute value of the output.
    check: "shape" compares dtype and shape only; "code" an error's code alone; a function gets both arrays and returns what is wrong, or None.
    """

    ulp: int = 4
    sums: float | None = None
    close: float | None = None
    check: str | Callable = "values"


@dataclasses.dataclass
class Ref:
    """An input that is a reference to a variable (VariableV2), set to a value first unless that is None."""

    value: np.ndarray | None
    dtype: int
    shape: tuple


@dataclasses.dataclass
class Var(Ref):
    """An input that is the handle of a resource variable, set to a value first unless that is None."""


def ref(value=None, dtype=None, shape=None):
    """ref(array), or ref(dtype="float", shape=(2, 3)) for one without a value."""
    value = None if value is None else tensor(value, dtype)
    return Ref(value, number_of(dtype) if value is None else dtype_of_array(value), tuple(value.shape if shape is None else shape))


def var(value=None, dtype=None, shape=None):
    """As ref, but a resource variable."""
    return Var(**vars(ref(value, dtype, shape)))


@dataclasses.dataclass
class Built:
    """A case as nodes: feeds by placeholder, and steps of fetches ("node:0") and targets ("node")."""

    nodes: list
    feeds: dict
    steps: list
    sets: list = dataclasses.field(default_factory=list)  # what has to run first


@dataclasses.dataclass
class Case:
    key: str  # unique; the prefix of the names of its nodes
    ops: tuple
    rule: Rule
    alone: bool  # not run in one step with others
    known_shapes: bool = False
    producer: int = tf.version.GRAPH_DEF_VERSION  # the version of the graph: older ones may have ops that were removed since
    fetch: tuple | None = None  # which outputs are compared; None: all
    reread: bool = True  # whether variables are read in the end
    inputs: list | None = None
    attrs: dict | None = None
    build: Callable | None = None

    @property
    def op(self):
        return self.ops[0]

    @property
    def label(self):
        if self.build:
            return f"{'+'.join(self.ops)} {self.build.__name__}"
        return _label(self.op, self.inputs, self.attrs)


ANCHOR = "anchor"  # a variable outside of all cases

ALL = []  # every declared case
EXEMPT = {}  # op -> {"empty", "refusal", "values"}: what the op cannot have a case of
_wanted = set()
_module = "none"
_numbers = itertools.count()


def want_only(ops):
    """Recipes need not make cases of other ops."""
    global _wanted
    _wanted = set(ops)


def is_wanted(op):
    return not _wanted or op in _wanted


def next_number():
    return next(_numbers)


def begin_module(name):
    """Called before a module of cases is loaded: its cases and values are numbered on their own."""
    global _module, _numbers
    _module, _numbers = name, itertools.count()
    values_module.begin_module(name)


def exempt(op, *kinds, why):
    """States that an op cannot have cases of these kinds: values, empty, refusal."""
    assert why and set(kinds) <= {"values", "empty", "refusal"}
    EXEMPT.setdefault(op, set()).update(kinds)


def _rule(ulp, sums, close, check):
    return Rule(4 if ulp is None else ulp, sums, close, check)


def case(op, inputs=(), *, ulp=None, sums=None, close=None, check="values", alone=False, known_shapes=False, fetch=None, reread=True, **attrs):
    """One op with inputs in the order of its definition; an argument that is a list is a list.

    Types and lengths of lists are derived from the inputs; attributes given here win. TensorFlow does not know the shapes
    of inputs before it runs, so that kernels see what is wrong with them, unless known_shapes says so. `fetch` numbers the
    outputs that are compared, where TensorFlow leaves others unset. `reread=False` leaves out the variables' values afterwards.
    """
    inputs = list(inputs)
    new = Case(f"{_module}_{next(_numbers)}", (op,), _rule(ulp, sums, close, check), alone, known_shapes, fetch=fetch, reread=reread)
    new.inputs, new.attrs = inputs, attrs
    ALL.append(new)
    return new


def refuse(op, inputs=(), **attrs):
    """A case that TensorFlow refuses: code and text are compared. It runs in a step of its own."""
    return case(op, inputs, alone=True, **attrs)


def graph(*ops, ulp=None, sums=None, close=None, check="values", together=False, producer=tf.version.GRAPH_DEF_VERSION):
    """Decorates a function that builds a graph in the default tf.Graph and returns what to fetch, or steps(...).

    `ops` are the ops that the case is about. `together` lets it take its steps at the same time as other cases, which is
    quicker; not for graphs that fail or wait. `producer` makes it a graph of an older version.
    """

    def declare(build):
        new = Case(f"{_module}_{next(_numbers)}", tuple(ops), _rule(ulp, sums, close, check), not together, producer=producer)
        new.build = build
        ALL.append(new)
        return build

    return declare


class Steps(list):
    pass


def steps(*fetches):
    """What a graph runs one after another: each a tensor, an operation, or a list of them."""
    return Steps(fetches)


_feeds = None


def feed(value, dtype=None):
    """In a graph: a placeholder of unknown shape that is fed the value, so that nothing is refused before it runs."""
    array = tensor(value, dtype)
    assert not isinstance(array, values_module.Handles), "cannot be fed: given() makes one"
    placeholder = tf.compat.v1.placeholder(tf.as_dtype(dtype_of_array(array)))
    _feeds[placeholder.op.name] = array
    return placeholder


def build_graph(new):
    """Runs the function of a graph case in the default graph; returns (feeds, steps)."""
    global _feeds
    values_module.begin_module(new.key)
    _feeds = {}
    with tf.name_scope(new.key):
        fetched = new.build()
    all_steps = fetched if isinstance(fetched, Steps) else [fetched]
    named = [[_fetch_name(f) for f in tf.nest.flatten(step) if f is not None] for step in all_steps]
    return _feeds, named


def _fetch_name(fetched):
    if isinstance(fetched, tf.Operation):
        return fetched.name
    if isinstance(fetched, tf.Variable) or not isinstance(fetched, tf.Tensor):
        fetched = tf.convert_to_tensor(fetched)
    # Handles and variants cannot be fetched: their op is run.
    return fetched.op.name if fetched.dtype in (tf.resource, tf.variant) else fetched.name


def attr_value(kind, value):
    """An AttrValue of a definition's kind ("int", "list(type)", …) from a Python value."""
    if isinstance(value, attr_value_pb2.AttrValue):
        return value
    result = attr_value_pb2.AttrValue()
    if kind.startswith("list("):
        result.list.SetInParent()
        for item in value:
            one = attr_value(kind[5:-1], item)
            field = one.WhichOneof("value")
            target = getattr(result.list, field)
            if field in ("shape", "tensor", "func"):
                target.add().CopyFrom(getattr(one, field))
            else:
                target.append(getattr(one, field))
    elif kind == "string":
        result.s = value.encode() if isinstance(value, str) else value
    elif kind == "int":
        result.i = int(value)
    elif kind == "float":
        result.f = value
    elif kind == "bool":
        result.b = bool(value)
    elif kind == "type":
        result.type = number_of(value)
    elif kind == "shape":
        result.shape.CopyFrom(tf.TensorShape(value).as_proto())
    elif kind == "tensor":
        result.tensor.CopyFrom(tf.make_tensor_proto(value))
    elif kind == "func":
        result.func.name = value
    return result


def _node(name, op, inputs, **attrs):
    node = node_def_pb2.NodeDef(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        node.attr[key].CopyFrom(value)
    return node


def _type(number):
    return attr_value_pb2.AttrValue(type=number)


def _placed(new, built, item, at):
    """Adds the nodes that an input needs; returns its name and type."""
    name = f"{new.key}/i{at}"
    if isinstance(item, values_module.Handles):
        return _placed_handles(built, item, name), number_of(item.dtype)
    if not isinstance(item, Ref):
        array = tensor(item)
        number = dtype_of_array(array)
        shape = attr_value("shape", array.shape if new.known_shapes else None)
        built.nodes.append(_node(name, "Placeholder", [], dtype=_type(number), shape=shape))
        built.feeds[name] = array
        return name, number
    shape, dtype = attr_value("shape", item.shape), _type(item.dtype)
    if isinstance(item, Var):
        built.nodes.append(_node(name, "VarHandleOp", [], dtype=dtype, shape=shape, shared_name=attr_value("string", name)))
        built.nodes.append(_node(name + "/read", "ReadVariableOp", [name], dtype=dtype))
    else:
        built.nodes.append(_node(name, "VariableV2", [], dtype=dtype, shape=shape))
    if isinstance(item.value, values_module.Handles):
        _placed_handles(built, item.value, name + "/value")
    elif item.value is not None:
        built.nodes.append(_node(name + "/value", "Placeholder", [], dtype=dtype, shape=shape))
        built.feeds[name + "/value"] = item.value
    if item.value is not None:
        if isinstance(item, Var):
            built.nodes.append(_node(name + "/set", "AssignVariableOp", [name, name + "/value"], dtype=dtype))
        else:
            built.nodes.append(_node(name + "/set", "Assign", [name, name + "/value"], T=dtype))
    return name, 20 if isinstance(item, Var) else item.dtype


def _constant(name, value, dtype="int32"):
    array = tensor(value, dtype)
    return _node(name, "Const", [], dtype=_type(dtype_of_array(array)), value=attr_value("tensor", array))


def _placed_handles(built, item, name):
    """Some variables or lists, all different, and an input gathered from them."""
    kind, parts = _type(number_of(item.dtype)), [f"{name}/e{k}" for k in range(item.DISTINCT)]
    add = built.nodes.append
    for k, part in enumerate(parts):
        if item.dtype == "resource":
            shape = attr_value("shape", [])
            add(_node(part, "VarHandleOp", [], dtype=_type(1), shape=shape, shared_name=attr_value("string", part)))
            add(_constant(part + "/value", 10.0 + k, "float"))
            add(_node(part + "/set", "AssignVariableOp", [part, part + "/value"], dtype=_type(1)))
            built.sets.append(part + "/set")
        else:
            add(_constant(part + "/shape", [2]))
            add(_constant(part + "/length", k + 1))
            add(_node(part, "TensorListReserve", [part + "/shape", part + "/length"], element_dtype=_type(1), shape_type=_type(3)))
    add(_node(name + "/all", "Pack", parts, T=kind, N=attr_value("int", len(parts))))
    add(_constant(name + "/which", item.which))
    add(_constant(name + "/axis", 0))
    add(_node(name, "GatherV2", [name + "/all", name + "/which", name + "/axis"], Tparams=kind, Tindices=_type(3), Taxis=_type(3)))
    return name


PROBED = 6  # elements of an output of handles that are looked at


def _probes(built, output, number, empty):
    """Fetches that tell an output of handles: its shape, the contents of some elements."""
    name = output.replace(":", "/probe")
    output = output.removesuffix(":0")
    add, kind = built.nodes.append, _type(number)
    add(_node(name + "/shape", "Shape", [output], T=kind, out_type=_type(3)))
    if empty:
        return [name + "/shape:0"]
    add(_constant(name + "/flat_shape", [-1]))
    add(_constant(name + "/axis", 0))
    add(_constant(name + "/range", list(range(PROBED))))
    add(_node(name + "/flat", "Reshape", [output, name + "/flat_shape"], T=kind, Tshape=_type(3)))
    add(_node(name + "/size", "Size", [name + "/flat"], T=kind, out_type=_type(3)))
    add(_node(name + "/which", "FloorMod", [name + "/range", name + "/size"], T=_type(3)))
    add(_node(name + "/some", "GatherV2", [name + "/flat", name + "/which", name + "/axis"], Tparams=kind, Tindices=_type(3), Taxis=_type(3)))
    add(_node(name + "/each", "Unpack", [name + "/some"], T=kind, num=attr_value("int", PROBED)))
    for k in range(PROBED):
        if number == 20:
            add(_node(f"{name}/{k}", "ReadVariableOp", [f"{name}/each:{k}"], dtype=_type(1)))
        else:
            add(_node(f"{name}/{k}", "TensorListLength", [f"{name}/each:{k}"]))
    return [name + "/shape:0", *(f"{name}/{k}:0" for k in range(PROBED))]


def anchor():
    """The anchor as a case, for a stage."""
    new = Case(ANCHOR, ("AssignVariableOp",), Rule(), True)
    built = Built([], {}, [])
    _placed(new, built, var(0.0), 0)
    built.steps.append([f"{ANCHOR}/i0/set"])
    return built


def _groups(op_def, inputs):
    """Inputs by argument of the definition: a list for each, wrong counts kept as they are for refusals."""
    args = op_def.input_arg
    is_list = [bool(a.number_attr or a.type_list_attr) for a in args]
    if len(args) == 1 and is_list[0] and not (len(inputs) == 1 and isinstance(inputs[0], (list, tuple))):
        return [list(inputs)]
    groups = [list(i) if isinstance(i, (list, tuple)) and (k >= len(args) or is_list[k]) else [i] for k, i in enumerate(inputs)]
    return groups


def derived_attrs(op_def, groups):
    """Type and number attributes that follow from the types of inputs."""
    found = {}
    for arg, types in zip(op_def.input_arg, groups):
        if arg.type_list_attr:
            found.setdefault(arg.type_list_attr, attr_value("list(type)", types))
            continue
        if arg.number_attr:
            found.setdefault(arg.number_attr, attr_value_pb2.AttrValue(i=len(types)))
        if arg.type_attr and types:
            found.setdefault(arg.type_attr, _type(types[0]))
    return found


def build_raw(new):
    """The nodes of a single-op case."""
    op_def = definition(new.op)
    built = Built([], {}, [])
    groups, names = [], []
    for group in _groups(op_def, new.inputs):
        placed = [_placed(new, built, item, len(names) + k) for k, item in enumerate(group)]
        names += [name for name, _ in placed]
        groups.append([number for _, number in placed])
    attrs = derived_attrs(op_def, groups)
    kinds = {a.name: a.type for a in op_def.attr}
    for key, value in new.attrs.items():
        attrs[key] = attr_value(kinds.get(key, "string"), value)
    node = _node(f"{new.key}/op", new.op, names, **attrs)
    states = [(f"{new.key}/i{k}", i) for k, i in enumerate(itertools.chain(*_groups(op_def, new.inputs))) if isinstance(i, Ref)]
    if built.sets:
        built.steps.append(built.sets)
    if sets := [name + "/set" for name, item in states if item.value is not None]:
        built.steps.append(sets)
    built.nodes.append(node)
    handles = [i for i in itertools.chain(*_groups(op_def, new.inputs)) if isinstance(i, values_module.Handles)]
    fetches = _fetches(built, node, op_def, handles)
    built.steps.append(fetches if new.fetch is None else [fetches[k] for k in new.fetch])
    if states and new.reread:
        built.steps.append([f for name, item in states for f in _state_fetches(built, name, item)])
    return built


def _state_fetches(built, name, item):
    output = name + "/read:0" if isinstance(item, Var) else name + ":0"
    if item.dtype not in (20, 21):
        return [output]
    if not isinstance(item, Var):
        built.nodes.append(_node(name + "/now", "Identity", [output.removesuffix(":0")], T=_type(item.dtype)))
        output = name + "/now:0"
    return _probes(built, output, item.dtype, 0 in item.shape)


def _fetches(built, node, op_def, handles):
    attrs = {a.name: a.default_value for a in op_def.attr if a.HasField("default_value")}
    attrs.update(node.attr)
    types = []
    for arg in op_def.output_arg:
        count = attrs[arg.number_attr].i if arg.number_attr and arg.number_attr in attrs else 1
        if arg.type_list_attr:
            types += attrs[arg.type_list_attr].list.type if arg.type_list_attr in attrs else []
        else:
            one = arg.type or (attrs[arg.type_attr].type if arg.type_attr in attrs else 0)
            types += [one] * count
    fetchable = [f"{node.name}:{k}" for k, t in enumerate(types) if t % 100 not in (20, 21)]
    if handles:
        empty = any(0 in h.shape for h in handles)
        for k, t in enumerate(types):
            if t in (20, 21):
                fetchable += _probes(built, f"{node.name}:{k}", t, empty)
    return fetchable or [node.name]


def _label(op, inputs, attrs):
    def show(item):
        if isinstance(item, (list, tuple)):
            return "[" + ", ".join(show(i) for i in item) + "]"
        if isinstance(item, Ref):
            return f"{type(item).__name__.lower()} {values_module.name_of(item.dtype)}{list(item.shape)}"
        array = tensor(item)
        return f"{values_module.name_of(dtype_of_array(array))}{list(array.shape)}"

    shown = [show(i) for i in inputs] + [f"{k}={v}" for k, v in attrs.items()]
    return f"{op}({', '.join(shown)})"
