"""Compares every message, enum and op definition that Troupe declares with TensorFlow's own."""

import csv
import importlib
import pathlib
import shutil
import subprocess
from typing import NamedTuple

import pytest
import tensorflow
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor
from tensorflow.core.framework import full_type_pb2, graph_pb2, op_def_pb2
from tensorflow.core.protobuf import meta_graph_pb2
from tensorflow.python.client import pywrap_tf_session

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROTOS = ROOT / "messaging" / "proto"
DEFINITIONS = ROOT / "ops" / "definitions.pbtxt"
FACTS = pathlib.Path(__file__).parent / "facts" / "messages.tsv"

OURS = "troupe.wire."
THEIRS = "tensorflow."

# These sit in a package of their own at TensorFlow's.
MOVED = {
    name: "tensorflow.distributed_runtime." + name
    for name in ("GrpcPayloadContainer", "GrpcPayloadsLost", "WorkerPossiblyRestarted")
}

# Fields of messages we declare whose types we do not: they travel as unknown fields.
LEFT_OUT = {
    "tensorflow.GraphDef.debug_info",
    "tensorflow.MetaGraphDef.object_graph_def",
    "tensorflow.NodeDef.experimental_type",
    "tensorflow.OpDef.ArgDef.experimental_full_type",
    "tensorflow.TensorInfo.CompositeTensor.type_spec",
}

SCALARS = {
    getattr(FieldDescriptor, "TYPE_" + name.upper()): name
    for name in (
        "double float int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 "
        "sfixed32 sfixed64 bool string bytes"
    ).split()
}
UNPACKABLE = ("string", "bytes")


class Field(NamedTuple):
    """What both sides have to agree on about one field."""

    name: str
    type: str
    label: str
    packed: bool
    oneof: str
    presence: bool


def theirs(full_name):
    """The name TensorFlow has for what we call full_name."""
    if not full_name.startswith(OURS):
        return full_name
    name = full_name[len(OURS) :]
    first, dot, rest = name.partition(".")
    return MOVED.get(first, THEIRS + first) + dot + rest


def field_of(descriptor):
    is_message = descriptor.type == FieldDescriptor.TYPE_MESSAGE
    is_enum = descriptor.type == FieldDescriptor.TYPE_ENUM
    if is_message:
        type_name = theirs(descriptor.message_type.full_name)
    elif is_enum:
        type_name = theirs(descriptor.enum_type.full_name)
    else:
        type_name = SCALARS[descriptor.type]
    repeated = descriptor.label == FieldDescriptor.LABEL_REPEATED
    options = descriptor.GetOptions()
    packable = repeated and not is_message and type_name not in UNPACKABLE
    packed = packable and (options.packed or not options.HasField("packed"))
    oneof = descriptor.containing_oneof
    synthetic = oneof is not None and oneof.name == "_" + descriptor.name
    return Field(
        descriptor.name,
        type_name,
        "repeated" if repeated else "optional",
        packed,
        oneof.name if oneof is not None and not synthetic else "",
        descriptor.has_presence,
    )


def fields_of(message):
    return {field.number: field_of(field) for field in message.fields}


def values_of(enum):
    return {value.name: value.number for value in enum.values}


def compile_protos(protos, work):
    """Compiles a folder of .proto files; returns the FileDescriptorSet."""
    protoc = shutil.which("protoc")
    assert protoc, "protoc is not on the path"
    (work / "troupe").mkdir(parents=True)
    (work / "troupe" / "wire").symlink_to(protos)
    names = sorted("troupe/wire/" + path.name for path in protos.glob("*.proto"))
    out = work / "ours.fds"
    command = [protoc, "-I", str(work), "--include_imports", f"--descriptor_set_out={out}", *names]
    subprocess.run(command, check=True)
    return descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())


class Declared:
    """Everything a compiled set of our .proto files declares."""

    def __init__(self, file_set):
        self.pool = descriptor_pool.DescriptorPool()
        self.messages = {}
        self.enums = {}
        for file in file_set.file:
            self.pool.Add(file)
        for file in file_set.file:
            if file.package == "google.protobuf":
                continue
            assert (file.package + ".").startswith(OURS), file.package
            descriptor = self.pool.FindFileByName(file.name)
            for enum in descriptor.enum_types_by_name.values():
                self.enums[theirs(enum.full_name)] = values_of(enum)
            for message in descriptor.message_types_by_name.values():
                self._add(message)

    def _add(self, message):
        self.messages[theirs(message.full_name)] = fields_of(message)
        for enum in message.enum_types:
            self.enums[theirs(enum.full_name)] = values_of(enum)
        for nested in message.nested_types:
            self._add(nested)

    def new(self, name):
        descriptor = self.pool.FindMessageTypeByName(OURS + name)
        return message_factory.GetMessageClass(descriptor)()


class Wheel:
    """The messages of the installed TensorFlow, and a table of those its Python lacks."""

    def __init__(self):
        root = pathlib.Path(tensorflow.__file__).parent
        for path in sorted(root.rglob("*_pb2.py")):
            parts = path.relative_to(root).with_suffix("").parts
            importlib.import_module(".".join(("tensorflow", *parts)))
        self.pool = descriptor_pool.Default()
        self.table = read_table()

    def message(self, name):
        try:
            return fields_of(self.pool.FindMessageTypeByName(name))
        except KeyError:
            return self.table.get(name)

    def enum(self, name):
        try:
            return values_of(self.pool.FindEnumTypeByName(name))
        except KeyError:
            return None


def read_table():
    """Reads the committed facts into {message: {number: Field}}."""
    messages = {}
    with FACTS.open(newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            fields = messages.setdefault(row["message"], {})
            notes = row["notes"].split()
            if "empty" in notes:
                continue
            is_message = "." in row["type"] and "enum" not in notes
            presence = row["label"] == "optional" and is_message
            fields[int(row["number"])] = Field(
                row["name"], row["type"], row["label"], "packed" in notes, "", presence
            )
    return messages


def differences(declared, wheel):
    """Says, one line each, where what we declare is not what TensorFlow declares."""
    found = []
    for name, fields in declared.messages.items():
        known = wheel.message(name)
        if known is None:
            found.append(f"{name}: no such message")
            continue
        for number, field in fields.items():
            if known.get(number) != field:
                found.append(f"{name} {number}: {field} is not {known.get(number)}")
    for name, values in declared.enums.items():
        known = wheel.enum(name)
        if known is None:
            found.append(f"{name}: no such enum")
        elif known != values:
            found.append(f"{name}: {sorted(known.items() ^ values.items())}")
    return found


def op_list(text, root):
    """Encodes a text OpList by our own .proto files and reads it by TensorFlow's."""
    command = [shutil.which("protoc"), "--encode=troupe.wire.OpList", "-I", str(root)]
    command.append("troupe/wire/op_def.proto")
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True)
    return {op.name: op for op in op_def_pb2.OpList.FromString(done.stdout).op}


def without_prose(op):
    op.ClearField("summary")
    op.ClearField("description")
    for part in (*op.input_arg, *op.output_arg, *op.attr):
        part.ClearField("description")
    for arg in (*op.input_arg, *op.output_arg):
        arg.ClearField("experimental_full_type")
    return op


def op_differences(mine, known):
    return sorted(
        name for name in mine.keys() | known.keys() if mine.get(name) != known.get(name)
    )


@pytest.fixture(scope="module")
def wheel():
    return Wheel()


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("wire")


@pytest.fixture(scope="module")
def declared(work):
    return Declared(compile_protos(PROTOS, work))


@pytest.fixture(scope="module")
def registry():
    buffer = pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList())
    return {op.name: without_prose(op) for op in op_def_pb2.OpList.FromString(buffer).op}


def test_all_that_we_declare_is_tensorflows(declared, wheel):
    assert differences(declared, wheel) == []


def test_fields_we_leave_out_are_known(declared, wheel):
    missing = set()
    for name, fields in declared.messages.items():
        for number, field in wheel.message(name).items():
            if number not in fields:
                missing.add(f"{name}.{field.name}")
    assert missing == LEFT_OUT


def test_table_holds_only_what_the_wheel_lacks(declared, wheel):
    for name in wheel.table:
        assert name in declared.messages
        with pytest.raises(KeyError):
            wheel.pool.FindMessageTypeByName(name)


# What is wrong: (file, right text, wrong text, start of the first report).
PLANTED = {
    "number": (
        "tensor",
        "bytes tensor_content = 4;",
        "bytes tensor_content = 40;",
        "TensorProto 40",
    ),
    "number in the table": (
        "worker",
        "string rendezvous_key = 2;",
        "string rendezvous_key = 20;",
        "RecvTensorRequest 20",
    ),
    "swapped numbers": (
        "versions",
        "int32 producer = 1;\n  int32 min_consumer = 2;",
        "int32 producer = 2;\n  int32 min_consumer = 1;",
        "VersionDef 2",
    ),
    "name": ("node_def", "string device = 4;", "string where = 4;", "NodeDef 4"),
    "type": (
        "device_attributes",
        "fixed64 incarnation = 6;",
        "uint64 incarnation = 6;",
        "DeviceAttributes 6",
    ),
    "label": (
        "master",
        "repeated NamedTensorProto feed = 2;",
        "NamedTensorProto feed = 2;",
        "RunStepRequest 2",
    ),
    "packing": (
        "tensor",
        "repeated float float_val = 5;",
        "repeated float float_val = 5 [packed = false];",
        "TensorProto 5",
    ),
    "oneof": ("tensor", "oneof has_length", "oneof length_or_all", "TensorSliceProto.Extent 2"),
    "enum value": ("types", "DT_DOUBLE = 2;", "DT_DOUBLE = 200;", "DataType"),
    "message": (
        "versions",
        "message VersionDef",
        "message Invented {}\n\nmessage VersionDef",
        "Invented: no such message",
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_planted_fault_is_found(fault, tmp_path, wheel):
    file, right, wrong, report = PLANTED[fault]
    protos = tmp_path / "proto"
    shutil.copytree(PROTOS, protos)
    path = protos / (file + ".proto")
    text = path.read_text()
    assert text.count(right) == 1
    path.write_text(text.replace(right, wrong))
    found = differences(Declared(compile_protos(protos, tmp_path / "work")), wheel)
    assert found and found[0].startswith(THEIRS + report)


def test_unknown_fields_survive(declared):
    theirs_graph = graph_pb2.GraphDef()
    node = theirs_graph.node.add(name="n", op="NoOp")
    node.experimental_type.type_id = full_type_pb2.TFT_TENSOR
    theirs_graph.library.function.add().node_def.add().CopyFrom(node)
    meta = meta_graph_pb2.MetaGraphDef(graph_def=theirs_graph)
    meta.object_graph_def.nodes.add().registered_name = "kept"

    ours = declared.new("MetaGraphDef")
    ours.ParseFromString(meta.SerializeToString())
    assert ours.graph_def.node[0].name == "n"
    assert meta_graph_pb2.MetaGraphDef.FromString(ours.SerializeToString()) == meta


def test_op_definitions_are_the_registrys(declared, work, registry):
    mine = op_list(DEFINITIONS.read_bytes(), work)
    assert len(mine) > 1800
    assert op_differences(mine, registry) == []


def test_planted_op_fault_is_found(declared, work, registry):
    text = DEFINITIONS.read_text()
    head, mark, rest = text.partition('  name: "MatMul"\n')
    wrong = head + mark + rest.replace("default_value { b: false }", "default_value { b: true }", 1)
    assert op_differences(op_list(wrong.encode(), work), registry) == ["MatMul"]
