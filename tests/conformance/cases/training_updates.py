"""Update rules, dense and sparse, through references and handles: every dtype, empty gradients, everything that does not fit."""

from framework import *
from definitions import definition, for_dtypes
from values import *

NUMBERS_OF = {
    "lr": 0.1, "alpha": 0.2, "rho": 0.9, "epsilon": 1e-3, "momentum": 0.8, "beta1_power": 0.7, "beta2_power": 0.6, "beta1": 0.85,
    "beta2": 0.95, "l1": 0.05, "l2": 0.03, "l2_shrinkage": 0.02, "lr_power": -0.5, "logbase": 0.7, "sign_decay": 0.4, "beta": 0.9,
    "global_step": 3,
}  # fmt: skip
NAMES = (
    "GradientDescent", "Momentum", "KerasMomentum", "ProximalGradientDescent", "ProximalAdagrad", "AddSign", "PowerSign", "Adagrad", "AdagradV2",
    "AdagradDA", "Adadelta", "RMSProp", "CenteredRMSProp", "Adam", "AdamWithAmsgrad", "AdaMax", "Ftrl", "FtrlV2",
)  # fmt: skip
SLOTS_ABOVE_ZERO = ("accum", "accum_update", "gradient_squared_accumulator", "ms", "mom", "v", "vhat")


def slot(op, arg, array):
    return var(array) if op.startswith("Resource") else ref(array)


def inputs_of(op, dtype, shape, rows=None, index=None, **changes):
    """Inputs of an update in the order of the definition; `changes` replace some by name."""
    made = []
    for arg in definition(op).input_arg:
        name = arg.name
        if name in changes:
            given = changes[name]
            is_slot = arg.is_ref or arg.type == 20
            made.append(slot(op, name, given) if is_slot else given)
        elif arg.is_ref or arg.type == 20:
            array = values(dtype, *shape, kind="positive" if name in SLOTS_ABOVE_ZERO else "normal")
            # The mean of squares is above the square of the mean.
            array = (array * 0.1).astype(array.dtype) if name == "mg" else (array + 1).astype(array.dtype) if name == "ms" else array
            made.append(slot(op, name, array))
        elif name in ("grad", "delta"):
            made.append(values(dtype, *(shape if rows is None else (len(rows), *shape[1:]))))
        elif name == "indices":
            made.append(tensor(rows, index or ("int64" if dtype == "double" else "int32")))
        else:
            made.append(tensor(NUMBERS_OF[name], "int64" if name == "global_step" else dtype))
    return made


def flags_of(op):
    names = {a.name for a in definition(op).attr}
    yield {}
    for name, value in (("use_nesterov", True), ("update_slots", False), ("multiply_linear_by_lr", True)):
        if name in names:
            yield {name: value}


def refusals(op):
    sparse = "Sparse" in op
    shape, rows = (3, 2), [2, 0] if sparse else None
    for arg in definition(op).input_arg:
        if arg.name in NUMBERS_OF:
            refuse(op, inputs_of(op, "float", shape, rows, **{arg.name: tensor([NUMBERS_OF[arg.name]], "int64" if arg.name == "global_step" else "float")}))
            if arg.name != "global_step":
                case(op, inputs_of(op, "float", shape, rows, **{arg.name: tensor(-0.3, "float")}), ulp=64, alone=True)
                # Without a past, the variance of the centred rule is a difference of equals.
                if not ("Centered" in op and arg.name == "rho"):
                    case(op, inputs_of(op, "float", shape, rows, **{arg.name: tensor(0, "float")}), ulp=64, alone=True)
        elif arg.name == "indices":
            refuse(op, inputs_of(op, "float", shape, rows, indices=i32(2, 1, kind="zeros")))
            refuse(op, inputs_of(op, "float", shape, rows, indices=tensor([3, 0], "int32")))
            refuse(op, inputs_of(op, "float", shape, rows, indices=tensor([-1, 0], "int32")))
            refuse(op, inputs_of(op, "float", shape, rows, indices=tensor([0, 1, 2], "int32")))
        elif arg.name in ("grad", "delta"):
            refuse(op, inputs_of(op, "float", shape, rows, **{arg.name: f32(2, 3)}))
        # TensorFlow does not look at the last two, and writes beyond their memory.
        elif arg.name != "var" and not (not sparse and (op.endswith("Adadelta") and arg.name == "accum_update" or arg.name == "vhat")):
            refuse(op, inputs_of(op, "float", shape, rows, **{arg.name: f32(3, 1)}))
    if op.startswith("Resource"):
        missing = inputs_of(op, "float", shape, rows)
        refuse(op, [var(dtype="float", shape=shape), *missing[1:]])


for name in NAMES:
    for op in (f"Apply{name}", f"ResourceApply{name}", f"SparseApply{name}", f"ResourceSparseApply{name}"):
        if definition(op) is None or not for_dtypes(op):
            continue
        rows = [2, 0, 2] if "Sparse" in op else None
        for dtype in for_dtypes(op):
            # Narrow types round at every step, and not in the same places.
            near = {"close": 8} if dtype in ("half", "bfloat16", "complex64", "complex128") else {"ulp": 64}
            for flags in flags_of(op):
                case(op, inputs_of(op, dtype, (3, 5), rows), **near, **flags)
            case(op, inputs_of(op, dtype, (4,), rows), **near)
            if rows:
                case(op, inputs_of(op, dtype, (4, 2), rows, "int32" if dtype == "double" else "int64"), **near)
        case(op, inputs_of(op, "float", (0, 3) if rows is None else (2, 3), [] if rows else None))
        if "l1" in [a.name for a in definition(op).input_arg]:
            case(op, inputs_of(op, "float", (3, 5), rows, l1=tensor(0, "float"), l2=tensor(0, "float")), ulp=64)
        if "lr_power" in [a.name for a in definition(op).input_arg]:
            case(op, inputs_of(op, "float", (3, 5), rows, lr_power=tensor(-0.7, "float")), ulp=64)
        refusals(op)
