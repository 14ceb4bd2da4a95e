"""Checkpoints of both versions: saved and restored, whole and in slices, merged, and what is refused."""

import struct

from framework import *
from scratch import file, masked_crc32c, path
from values import *

import tensorflow as tf

raw = tf.raw_ops
KINDS = ("float", "double", "half", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128", "string")
QUANTIZED = {"qint8": "int8", "quint8": "uint8", "qint32": "int32", "qint16": "int16", "quint16": "uint16"}

file("checkpoints/some_file", b"x")


def text(value):
    return tensor(value, "string")


def at(name):
    return feed(path("checkpoints", name), "string")


def save(prefix, names, slices, tensors):
    return raw.SaveV2(prefix=prefix, tensor_names=feed(names, "string"), shape_and_slices=feed(slices, "string"), tensors=tensors)


def restore(prefix, names, slices, types):
    return raw.RestoreV2(prefix=prefix, tensor_names=feed(names, "string"), shape_and_slices=feed(slices, "string"), dtypes=types)


@graph("SaveV2", "RestoreV2")
def every_type():
    names = list(KINDS)
    put = save(at("types"), names, [""] * len(names), [feed(values(k, 3, 5)) for k in KINDS])
    take = restore(at("types"), names[::-1], [""] * len(names), names[::-1])
    return steps(put, take)


@graph("SaveV2", "RestoreV2")
def quantized_types():
    names = list(QUANTIZED)
    put = save(at("quantized"), names, [""] * len(names), [tf.bitcast(feed(values(plain, 7)), q) for q, plain in QUANTIZED.items()])
    take = restore(at("quantized"), names, [""] * len(names), names)
    return steps(put, [tf.bitcast(t, QUANTIZED[n]) for n, t in zip(names, take)])


@graph("SaveV2", "RestoreV2")
def scalars_and_empty_ones():
    tensors = [f32(), f32(0, 3), strings(), strings(0), tensor(["", "a" * 300, ""], "string"), f32(1, 1, 1, 1)]
    names = [f"t{i}" for i in range(len(tensors))]
    put = save(at("shapes"), names, [""] * 6, [feed(t) for t in tensors])
    return steps(put, restore(at("shapes"), names, [""] * 6, ["float", "float", "string", "string", "string", "float"]))


@graph("SaveV2", "RestoreV2")
def many_names():
    names = [f"scope_{i % 7}/layer_{i}/kernel/Adam_{i * i}" for i in range(300)]
    put = save(at("many"), names, [""] * 300, [feed(np.float32(i)) for i in range(300)])
    return steps(put, restore(at("many"), names[::3], [""] * 100, ["float"] * 100))


@graph("SaveV2", "RestoreV2")
def saved_twice():
    take = restore(at("twice"), ["x"], [""], ["float"])
    return steps(save(at("twice"), ["x"], [""], [feed(f32(3))]), take, save(at("twice"), ["x"], [""], [feed(f32(5))]), take)


for kind in ("float", "int64", "bool", "half", "string", "bfloat16", "complex64", "uint16"):

    @graph("SaveV2", "RestoreV2")
    def slices(kind=kind):
        whole = values(kind, 5, 4)
        prefix = at(f"slices_{kind}")
        put = save(prefix, ["x", "x", "x", "y"], ["5 4 0,2:-", "5 4 2,3:0,1", "5 4 2,3:1,3", ""],
                   [feed(whole[:2]), feed(whole[2:, :1].copy()), feed(whole[2:, 1:].copy()), feed(whole)])
        return steps(put, restore(prefix, ["x"], ["5 4 0,2:-"], [kind]), restore(prefix, ["x"], ["5 4 2,3:1,3"], [kind]),
                     restore(prefix, ["y"], ["5 4 -:-"], [kind]), restore(prefix, ["y"], [""], [kind]))

    @graph("SaveV2", "RestoreV2")
    def slices_of_other_slices(kind=kind):
        whole = values(kind, 5, 4)
        prefix = at(f"other_slices_{kind}")
        put = save(prefix, ["x", "x"], ["5 4 0,2:-", "5 4 2,3:-"], [feed(whole[:2]), feed(whole[2:])])
        return steps(put, restore(prefix, ["x"], [""], [kind]), restore(prefix, ["x"], ["5 4 1,3:1,2"], [kind]))


for spec in ("5 4 0,2:-", "5 4 4,1:3,1", "5 4 -:1,2", "5 4 0,5:0,4", "4 4 0,2:-", "5 4", "5 4 6,1:-", "5", "x 4 -:-", "5 4 -:-:-"):

    @graph("SaveV2", "RestoreV2")
    def slice_of_whole(spec=spec):
        return steps(save(at("whole"), ["x"], [""], [feed(f32(5, 4))]), restore(at("whole"), ["x"], [spec], ["float"]))


@graph("SaveV2", "RestoreV2")
def slices_of_rank_3_and_1():
    cube, line = f32(4, 3, 5), i32(70)
    put = save(at("cube"), ["c", "c", "l", "l"], ["4 3 5 -:0,2:-", "4 3 5 -:2,1:-", "70 0,65", "70 65,5"],
               [feed(cube[:, :2].copy()), feed(cube[:, 2:].copy()), feed(line[:65]), feed(line[65:])])
    return steps(put, restore(at("cube"), ["c", "l"], ["", ""], ["float", "int32"]),
                 restore(at("cube"), ["c", "l"], ["4 3 5 1,2:1,2:2,3", "70 60,10"], ["float", "int32"]))


@graph("SaveV2", "RestoreV2")
def missing_slices():
    put = save(at("part"), ["x"], ["4 3 0,2:-"], [feed(f32(2, 3))])
    return steps(put, restore(at("part"), ["x"], ["4 3 0,2:-"], ["float"]), restore(at("part"), ["x"], [""], ["float"]),
                 restore(at("part"), ["x"], ["4 3 1,2:-"], ["float"]))


@graph("SaveV2", "RestoreV2")
def overlapping_slices():
    put = save(at("overlap"), ["x", "x"], ["4 3 0,2:-", "4 3 1,2:-"], [feed(f32(2, 3)), feed(f32(2, 3))])
    return steps(put, restore(at("overlap"), ["x"], [""], ["float"]))


@graph("RestoreV2")
def wrong_wishes():
    prefix = at("wishes")
    put = save(prefix, ["x", "y", "z"], ["", "", ""], [feed(f32(2)), feed(i32(3)), feed(strings(2))])
    return steps(put, restore(prefix, ["nope"], [""], ["float"]), restore(prefix, ["x", "zz", "aa"], ["", "", ""], ["float"] * 3),
                 restore(prefix, ["x"], [""], ["int32"]), restore(prefix, ["z", "x", "y"], ["", "", ""], ["float", "string", "int32"]),
                 restore(prefix, ["x", "y"], [""], ["float", "int32"]), restore(prefix, ["x"], [""], ["float", "int32"]), restore(prefix, ["x"], [[""]], ["float"]))


refuse("RestoreV2", [text(path("checkpoints/none")), text(["x"]), text([""])], dtypes=["float"])
refuse("RestoreV2", [text(path("none/none")), text(["x"]), text([""])], dtypes=["float"])
refuse("RestoreV2", [text(""), text(["x"]), text([""])], dtypes=["float"])
refuse("RestoreV2", [text([path("a"), path("b")]), text(["x"]), text([""])], dtypes=["float"])
refuse("RestoreV2", [text(path("a")), text("x"), text([""])], dtypes=["float"])

for spec in ("x", "4", "4 3 ", "4 3 0", "4 3 0,2", "4 3 0,2:", "4 3 0,2:-:-", "4 3 5,2:-", "4 3 -1,2:-", "4 3 0,-1:-", "4 3 0,0:-", "a 3 0,2:-", "4 3  0,2:-", "4 3 a,2:-",
             "4 3 0,2;-", "4 3 3,2:-", "4 3 0,2 -", " -", "4 3 0,1:-", "2 3", "4 3 0,2,3:-"):
    refuse("SaveV2", [text(path("checkpoints/refused")), text(["x"]), text([spec]), [f32(2, 3)]])
refuse("SaveV2", [text(path("checkpoints/refused")), text(["x", "x"]), text(["", ""]), [f32(2), f32(2)]])
refuse("SaveV2", [text(path("checkpoints/refused")), text(["x"]), text(["", ""]), [f32(2), f32(2)]])
refuse("SaveV2", [text(path("checkpoints/refused")), text(["x", "y"]), text([""]), [f32(2), f32(2)]])
refuse("SaveV2", [text(path("checkpoints/refused")), text(["x", "y"]), text(["", ""]), [f32(2)]])
refuse("SaveV2", [text([path("checkpoints/refused")] * 2), text(["x"]), text([""]), [f32(2)]])
refuse("SaveV2", [text(path("checkpoints/refused")), text([["x"]]), text([""]), [f32(2)]])
refuse("SaveV2", [text(path("no/such/place")), text(["x"]), text([""]), [f32(2)]])
refuse("SaveV2", [text("unknown://no/place"), text(["x"]), text([""]), [f32(2)]])
exempt("SaveV2", "empty", why="it has no outputs")


@graph("RestoreV2")
def broken_index():
    for name, content in (("empty", b""), ("short", b"q" * 20), ("magic", b"q" * 100)):
        file(f"checkpoints/broken_{name}.index", content)
    return steps(*[restore(at(f"broken_{name}"), ["x"], [""], ["float"]) for name in ("empty", "short", "magic")])


@graph("RestoreV2")
def broken_tables():
    file("checkpoints/old_empty", b"")
    file("checkpoints/old_magic", b"q" * 100)
    return steps(*[restore(at(name), ["x"], [""], ["float"]) for name in ("old_empty", "old_magic")])


@graph("RestoreV2")
def broken_data():
    numbers, lengths, letters = struct.pack("<3f", 1, 2, 3), b"\x02\x03", b"abcde"
    checksum = struct.pack("<I", masked_crc32c(struct.pack("<2I", 2, 3)))
    put = save(at("data"), ["x", "s"], ["", ""], [feed(tensor([1, 2, 3], "float")), feed(tensor(["ab", "cde"], "string"))])
    x, s = restore(at("data"), ["x"], [""], ["float"]), restore(at("data"), ["s"], [""], ["string"])

    def data(*parts):
        return raw.WriteFile(filename=path("checkpoints", "data.data-00000-of-00001"), contents=feed(b"".join(parts), "string"))

    # What is cut short is damage, too: Troupe says DATA_LOSS, TensorFlow OUT_OF_RANGE (tests/wire/test_checkpoint_files.py).
    return steps(put, raw.ReadFile(filename=path("checkpoints", "data.data-00000-of-00001")), data(b"Z", numbers[1:], lengths, checksum, letters), x, s,
                 data(numbers, b"\x02\x02", checksum, letters), x, s, data(numbers, lengths, checksum, b"abcdZ"), s)


def prefixes_in(directory, count):
    return [path("checkpoints", directory, f"part-{i:05}-of-{count:05}") for i in range(count)]


def merge(prefixes, to, **more):
    return raw.MergeV2Checkpoints(checkpoint_prefixes=feed(prefixes, "string"), destination_prefix=at(to), **more)


@graph("MergeV2Checkpoints", "SaveV2", "RestoreV2")
def shards_become_one():
    parts = prefixes_in("merge_temp", 3)
    whole = f32(6, 2)
    put = [save(parts[0], ["a", "p"], ["", "6 2 0,2:-"], [feed(f32(3)), feed(whole[:2])]), save(parts[1], ["b", "p"], ["", "6 2 2,1:-"], [feed(strings(4)), feed(whole[2:3])]),
           save(parts[2], ["p"], ["6 2 3,3:-"], [feed(whole[3:])])]
    inside = raw.MatchingFiles(pattern=path("checkpoints", "merge_temp", "*"))
    return steps(put[0], put[1:], merge(parts, "merged"), restore(at("merged"), ["a", "b", "p"], ["", "", ""], ["float", "string", "float"]),
                 restore(at("merged"), ["p"], ["6 2 1,4:1,1"], ["float"]), inside)


for count in (1, 2):

    @graph("MergeV2Checkpoints", "RestoreV2")
    def merged_and_kept(count=count):
        parts = prefixes_in(f"kept_temp_{count}", count)
        put = [save(part, [f"v{i}"], [""], [feed(f32(i, 2))]) for i, part in enumerate(parts)]
        take = restore(at(f"kept_{count}"), [f"v{i}" for i in range(count)], [""] * count, ["float"] * count)
        return steps(put[0], *([put[1:]] if count > 1 else []), merge(parts, f"kept_{count}", delete_old_dirs=False), take)


@graph("MergeV2Checkpoints")
def merged_with_a_missing_one():
    parts = prefixes_in("missing_temp", 2)
    put = save(parts[0], ["a"], [""], [feed(f32(3))])
    return steps(put, merge(parts, "missing", delete_old_dirs=False), merge(parts, "missing", allow_missing_files=True), restore(at("missing"), ["a"], [""], ["float"]),
                 merge(parts, "missing2", allow_missing_files=True))


@graph("MergeV2Checkpoints")
def merged_with_duplicates():
    parts = prefixes_in("duplicate_temp", 2)
    return steps(save(parts[0], ["a"], [""], [feed(f32(3))]), save(parts[1], ["a"], [""], [feed(f32(3))]), merge(parts, "duplicate"))


refuse("MergeV2Checkpoints", [text(path("a")), text(path("b"))])
refuse("MergeV2Checkpoints", [text([path("a")]), text([path("b")])])
refuse("MergeV2Checkpoints", [text([path("none")]), text(path("b"))])
refuse("MergeV2Checkpoints", [text(np.zeros([0], object)), text(path("b"))])
exempt("MergeV2Checkpoints", "empty", why="it has no outputs")


def save_old(name, names, tensors):
    return raw.Save(filename=at(name), tensor_names=feed(names, "string"), data=tensors)


def save_slices(name, names, specs, tensors):
    return raw.SaveSlices(filename=at(name), tensor_names=feed(names, "string"), shapes_and_slices=feed(specs, "string"), data=tensors)


def restore_old(pattern, name, dtype, **more):
    return raw.Restore(file_pattern=at(pattern), tensor_name=feed(name, "string"), dt=dtype, **more)


def restore_slice(pattern, name, spec, dtype):
    return raw.RestoreSlice(file_pattern=at(pattern), tensor_name=feed(name, "string"), shape_and_slice=feed(spec, "string"), dt=dtype)


for kind in KINDS:

    @graph("Save", "Restore", "RestoreSlice")
    def old_types(kind=kind):
        name = f"old_{kind}"
        put = save_old(name, ["x", "e", "s"], [feed(values(kind, 3, 5)), feed(values(kind, 0, 3)), feed(values(kind))])
        return steps(put, [restore_old(name, n, kind) for n in "xes"], restore_slice(name, "x", "3 5 1,2:-", kind), restore_slice(name, "x", "", kind),
                     restore(at(name), ["s", "x"], ["", "3 5 0,1:2,3"], [kind, kind]))


for kind in ("float", "string", "int64"):

    @graph("SaveSlices", "RestoreSlice")
    def old_slices_of(kind=kind):
        whole, name = values(kind, 6, 3), f"old_slices_{kind}"
        put = save_slices(name, ["x", "x", "x"], ["6 3 0,1:-", "6 3 1,5:0,2", "6 3 1,5:2,1"], [feed(whole[:1]), feed(whole[1:, :2].copy()), feed(whole[1:, 2:].copy())])
        return steps(put, restore_slice(name, "x", "6 3 0,4:1,2", kind), restore_slice(name, "x", "", kind))


@graph("SaveSlices", "Restore", "RestoreSlice")
def old_slices():
    whole = f32(4, 3)
    put = save_slices("old_slices", ["x", "x", "y"], ["4 3 0,2:-", "4 3 2,2:-", ""], [feed(whole[:2]), feed(whole[2:]), feed(whole)])
    return steps(put, restore_old("old_slices", "x", "float"), restore_slice("old_slices", "x", "4 3 1,2:0,1", "float"), restore_old("old_slices", "y", "float"),
                 restore_slice("old_slices", "x", "5 3 1,2:0,1", "float"), restore_slice("old_slices", "x", "5", "float"), restore_slice("old_slices", "z", "", "float"),
                 restore_slice("old_slices", "x", "", "int32"), restore_old("old_slices", ["x", "y"], "float", preferred_shard=0))


@graph("SaveSlices", "Restore", "RestoreSlice")
def old_shards():
    whole = f32(4, 3)
    put = [save_slices("old_shard-0", ["x"], ["4 3 0,2:-"], [feed(whole[:2])]), save_slices("old_shard-1", ["x"], ["4 3 2,2:-"], [feed(whole[2:])])]
    return steps(put, restore_old("old_shard-?", "x", "float"), restore_slice("old_shard-?", "x", "4 3 1,2:-", "float"), restore_old("old_shard-0", "x", "float"))


old = path("checkpoints", "old_refused")
refuse("Save", [text(old), text(["x"]), [f32(2), f32(2)]])
refuse("Save", [text([old, old]), text(["x"]), [f32(2)]])
refuse("Save", [text(path("no/such/place")), text(["x"]), [u32(2)]])
refuse("SaveSlices", [text(old), text(["x"]), text(["", ""]), [f32(2)]])
refuse("SaveSlices", [text(old), text(["x"]), text(["4 0,3"]), [f32(2)]])
refuse("SaveSlices", [text(old), text(["x"]), text(["4"]), [f32(2)]])
refuse("Restore", [text(path("checkpoints/none")), text("x")], dt="float")
refuse("Restore", [text([old, old]), text("x")], dt="float")
refuse("Restore", [text(path("checkpoints/some_file")), text("x")], dt="float")
refuse("RestoreSlice", [text(path("checkpoints/none*")), text("x"), text("")], dt="float")
for op in ("Save", "SaveSlices"):
    exempt(op, "empty", why="it has no outputs")
