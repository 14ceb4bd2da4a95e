"""Recurrent cells, temporal classification, isotonic regression and pooling over random regions."""

from framework import *
from definitions import for_dtypes
from values import *



def begins_alike(reference, ours):
    """TensorFlow leaves most of what is past the end of the sequence unset."""
    error = np.abs(reference[:4].astype(np.float64) - ours[:4].astype(np.float64)).max()
    return None if error <= (1e-5 if reference.dtype == np.float32 else 0.05) else f"off by {error}"


for dtype in ("float", "half"):
    batch, inputs, cells, times = 3, 4, 5, 6
    state = lambda: values(dtype, batch, cells, kind="unit")
    weights = lambda: [values(dtype, inputs + cells, 4 * cells, kind="unit"), *(values(dtype, cells, kind="unit") for _ in range(3)), values(dtype, 4 * cells)]
    for peephole in (False, True):
        x = values(dtype, batch, inputs)
        case("LSTMBlockCell", [x, state(), state(), *weights()], use_peephole=peephole, close=64)
        case("LSTMBlockCell", [x, state(), state(), *weights()], use_peephole=peephole, cell_clip=0.4, forget_bias=0.0, close=64)
        case("LSTMBlockCellGrad", [x, state(), state(), *weights(), *(state() for _ in range(8))], use_peephole=peephole, close=256)
        x = values(dtype, times, batch, inputs)
        for op in ("BlockLSTM", "BlockLSTMV2"):
            case(op, [tensor(times, "int64"), x, state(), state(), *weights()], use_peephole=peephole, close=128)
            case(op, [tensor(4, "int64"), x, state(), state(), *weights()], use_peephole=peephole, cell_clip=0.5, check=begins_alike)
        for op in ("BlockLSTMGrad", "BlockLSTMGradV2"):
            steps_ = [values(dtype, times, batch, cells, kind="unit") for _ in range(9)]
            case(op, [tensor(times, "int64"), x, state(), state(), *weights(), *steps_], use_peephole=peephole, close=1024)
S, W = f32(3, 5), [f32(9, 20), f32(5), f32(5), f32(5), f32(20)]
for op in ("LSTMBlockCell", "LSTMBlockCellGrad", "BlockLSTM", "BlockLSTMV2", "BlockLSTMGrad", "BlockLSTMGradV2"):
    exempt(op, "empty", why="a cell has a size")
refuse("LSTMBlockCell", [f32(3, 4), f32(2, 5), S, *W])
refuse("LSTMBlockCell", [f32(3, 4), S, f32(3, 4), *W])
refuse("LSTMBlockCell", [f32(3, 4), S, S, f32(8, 20), *W[1:]])
refuse("LSTMBlockCell", [f32(3, 4), S, S, *W[:-1], f32(19)])
refuse("LSTMBlockCellGrad", [f32(3), S, S, *W, *(S for _ in range(8))])
for op in ("BlockLSTM", "BlockLSTMV2"):
    refuse(op, [tensor(2, "int64"), f32(3, 4), S, S, *W])
    refuse(op, [tensor(2, "int64"), f32(2, 3, 4), f32(2, 5), S, *W])
for op in ("BlockLSTMGrad", "BlockLSTMGradV2"):
    refuse(op, [tensor(2, "int64"), f32(3, 4), S, S, *W, *(f32(2, 3, 5) for _ in range(9))])

LABELS = [tensor([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]], "int64"), tensor([0, 0, 2, 3, 1], "int32")]
for dtype in ("float", "double"):
    x = values(dtype, 7, 2, 5)
    for options in (dict(), dict(preprocess_collapse_repeated=True), dict(ctc_merge_repeated=False)):
        case("CTCLoss", [x, *LABELS, tensor([7, 5], "int32")], close=256, **options)
    case("CTCLoss", [x, *LABELS, tensor([7, 1], "int32")], ignore_longer_outputs_than_inputs=True, close=256)
    case("CTCLoss", [x, i64(0, 2), i32(0), tensor([7, 5], "int32")], close=256)
    for merge in (False, True):
        case("CTCGreedyDecoder", [x, tensor([7, 5], "int32")], merge_repeated=merge, close=16)
        case("CTCGreedyDecoder", [x, tensor([7, 0], "int32")], merge_repeated=merge, blank_index=0, close=16)
        case("CTCBeamSearchDecoder", [x, tensor([7, 5], "int32")], merge_repeated=merge, beam_width=10, top_paths=3, close=64)
        case("CTCBeamSearchDecoder", [x, tensor([7, 5], "int32")], merge_repeated=merge, beam_width=2, top_paths=1, close=64)
X, L = f32(3, 2, 4), tensor([3, 3], "int32")
for inputs in ([f32(3, 2), L], [X, i32(2, 1)], [X, tensor([3], "int32")], [X, tensor([3, 4], "int32")]):
    refuse("CTCGreedyDecoder", inputs)
    refuse("CTCBeamSearchDecoder", inputs, beam_width=3, top_paths=1)
    refuse("CTCLoss", [inputs[0], *LABELS, inputs[1]])
refuse("CTCGreedyDecoder", [X, L], blank_index=9)
refuse("CTCBeamSearchDecoder", [X, L], beam_width=1, top_paths=2)
for inputs in ([f32(3, 2, 0), L], [f32(0, 2, 3), tensor([0, 0], "int32")], [f32(3, 0, 3), i32(0)], [f32(3, 0, 3), i32(0, 1)]):
    refuse("CTCGreedyDecoder", inputs)
    refuse("CTCBeamSearchDecoder", inputs, beam_width=3, top_paths=1)
for places, labels in ([[[0, 0], [1, 0], [1, 1]], [1, 3, 1]], [[[0, 0], [1, 0]], [1, -1]], [[[0, 0], [2, 0], [2, 1]], [1, 1, 2]], [[[1, 0], [0, 0]], [1, 2]],
                       [[[1, 0]], [1]], [[[0, 0], [0, 0], [1, 0]], [1, 2, 2]], [[[0, 0], [0, 1], [0, 2], [0, 3], [1, 0]], [1, 2, 1, 2, 1]]):  # fmt: skip
    refuse("CTCLoss", [X, tensor(places, "int64"), tensor(labels, "int32"), L])
refuse("CTCLoss", [X, tensor([[0, 0], [1, 0]], "int64"), tensor([1, 1], "int32"), tensor([3, -1], "int32")])
case("CTCLoss", [X, tensor([[0, 0], [0, 1], [1, 0]], "int64"), tensor([1, 1, 2], "int32"), tensor([2, 3], "int32")], close=256)
refuse("CTCLoss", [X, i64(5), LABELS[1], L])
refuse("CTCLoss", [X, LABELS[0], i32(5, 1), L])
refuse("CTCLoss", [X, LABELS[0], i32(4), L])
for op in ("CTCLoss", "CTCGreedyDecoder", "CTCBeamSearchDecoder"):
    exempt(op, "empty", why="sequences and classes are never none")

for dtype, out in (("float", "float"), ("double", "double"), ("half", "half"), ("bfloat16", "bfloat16"), ("int8", "float"), ("int16", "float"), ("int32", "double"), ("int64", "double")):
    case("IsotonicRegression", [values(dtype, 4, 9)], output_dtype=out, close=16)
    case("IsotonicRegression", [values(dtype, 6)], output_dtype=out, close=16)
    case("IsotonicRegression", [values(dtype, 1, 1)], output_dtype=out)
    case("IsotonicRegression", [values(dtype, 0, 3)], output_dtype=out)
case("IsotonicRegression", [f32()], output_dtype="float")
exempt("IsotonicRegression", "refusal", why="takes one tensor of any shape")

for op in ("FractionalMaxPool", "FractionalAvgPool"):
    for dtype in for_dtypes(op):
        x = values(dtype, 2, 9, 8, 3)
        for pseudo in (False, True):
            for overlapping in (False, True):
                case(op, [x], pooling_ratio=[1.0, 1.5, 2.0, 1.0], pseudo_random=pseudo, overlapping=overlapping, deterministic=True, seed=5, seed2=7, close=16)
        rows, columns = tensor([0, 2, 4, 9], "int64"), tensor([0, 1, 5, 8], "int64")
        for overlapping in (False, True):
            if op == "FractionalMaxPool":
                cut = lambda borders, k: slice(borders[k], borders[k + 1] + overlapping)
                y = np.stack([np.stack([x[:, cut(rows, r), cut(columns, c)].max(axis=(1, 2)) for c in range(3)], axis=1) for r in range(3)], axis=1)
                case(op + "Grad", [x, y, values(dtype, 2, 3, 3, 3), rows, columns], overlapping=overlapping, close=16)
                refuse(op + "Grad", [x, values(dtype, 2, 3, 3, 3), values(dtype, 2, 3, 3, 3), rows, columns], overlapping=overlapping)
            else:
                case(op + "Grad", [tensor([2, 9, 8, 3], "int64"), values(dtype, 2, 3, 3, 3), rows, columns], overlapping=overlapping, close=64)
    case(op, [f32(0, 9, 8, 3)], pooling_ratio=[1.0, 1.5, 2.0, 1.0], deterministic=True, seed=5)
    refuse(op, [f32(9, 8, 3)], pooling_ratio=[1.0, 1.5, 2.0, 1.0])
    refuse(op, [f32(1, 9, 8, 3)], pooling_ratio=[1.0, 0.5, 2.0, 1.0])
    refuse(op, [f32(1, 9, 8, 3)], pooling_ratio=[2.0, 1.5, 2.0, 1.0])
SIZES, G, B = tensor([1, 4, 4, 1], "int64"), f32(1, 2, 2, 1), tensor([0, 2, 4], "int64")
case("FractionalAvgPoolGrad", [SIZES, G, tensor([0, 2, 4, 5], "int64"), B], close=16)
case("FractionalAvgPoolGrad", [SIZES, G, tensor([0, 2, 9], "int64"), B], close=16)
for inputs in ([SIZES[:3], G, B, B], [SIZES, G[0], B, B], [SIZES, G, B[:2], B], [SIZES, G, B, B[:2]], [SIZES, G, tensor([-1, 2, 4], "int64"), B], [SIZES, G, B, tensor([0, -12, 4], "int64")],
               [tensor([1, 4, -4, 1], "int64"), G, B, B], [tensor([0, 4, 4, 1], "int64"), G[:0], B, B]):  # fmt: skip
    refuse("FractionalAvgPoolGrad", inputs)
X, Y = f32(1, 4, 4, 1), f32(1, 2, 2, 1)
for inputs in ([X[:0], Y[:0], Y[:0], B, B], [X[0], Y, Y, B, B], [X, Y[0], Y, B, B], [X, Y, Y, B[:2], B], [X, Y, Y, B, tensor([-1, 2, 4], "int64")]):
    refuse("FractionalMaxPoolGrad", inputs)


@graph("FractionalMaxPool", "FractionalAvgPool")
def regions_of_every_size():
    made = []
    for op in (tf.raw_ops.FractionalMaxPool, tf.raw_ops.FractionalAvgPool):
        for height in (9, 13, 9, 5):
            pooled = op(value=feed(f32(1, height, 8, 2)), pooling_ratio=[1.0, 1.5, 1.7, 1.0], deterministic=True, seed=3, seed2=4)
            made += [pooled.row_pooling_sequence, pooled.col_pooling_sequence]
    size = tf.constant([1, 9, 8, 1])
    pooled = tf.raw_ops.FractionalMaxPool(value=tf.zeros(size), pooling_ratio=[1.0, 1.5, 1.7, 1.0], deterministic=True, seed=5, seed2=6)
    return steps(made, [pooled.row_pooling_sequence], [pooled.row_pooling_sequence])
