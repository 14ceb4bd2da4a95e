"""Collective ops of groups with one member."""

import tensorflow as tf

from definitions import allowed_types, for_dtypes
from framework import *
from values import *

GROUP = dict(group_size=1, group_key=1)
keys = iter(range(100, 10000))


def named(op):
    return (name_of(t) for t in allowed_types(op, "T"))


def ints(*numbers):
    return [tensor(n, "int32") for n in numbers]


for dtype in named("CollectiveReduce"):
    for merge in ("Min", "Max", "Mul", "Add"):
        case("CollectiveReduce", [values(dtype, 2, 3)], merge_op=merge, final_op="Id", subdiv_offsets=[0], instance_key=next(keys), **GROUP, alone=True)
        case("CollectiveReduceV2", [values(dtype, 2, 3), *ints(1, 2, next(keys)), []], merge_op=merge, final_op="Div", Nordering_token=0, alone=True)
for dtype in named("CollectiveGather"):
    case("CollectiveGather", [values(dtype, 2, 3)], shape=[2, 3], instance_key=next(keys), **GROUP, alone=True)
    case("CollectiveGatherV2", [values(dtype, 2, 3), *ints(1, 2, next(keys)), []], Nordering_token=0, alone=True)
for dtype in named("CollectiveBcastSend"):
    case("CollectiveBcastSend", [values(dtype, 2, 3)], shape=[2, 3], instance_key=next(keys), **GROUP, alone=True)
    case("CollectiveBcastSendV2", [values(dtype, 2, 3), *ints(1, 2, next(keys))], alone=True)
case("CollectiveReduceV2", [f32(), *ints(1, 2, next(keys)), []], merge_op="Add", final_op="Id", Nordering_token=0, alone=True)
for size in (0, -1):
    refuse("CollectiveReduce", [f32(2)], merge_op="Add", final_op="Id", subdiv_offsets=[], group_size=size, group_key=1, instance_key=next(keys))
    refuse("CollectiveReduceV2", [f32(2), *ints(size, 2, next(keys)), []], merge_op="Add", final_op="Id", Nordering_token=0)
for group in (([1], 2, 3), (1, [2], 3), (1, 2, [3])):
    refuse("CollectiveReduceV2", [f32(2), *ints(*group), []], merge_op="Add", final_op="Id", Nordering_token=0)
refuse("CollectiveGather", [f32()], shape=[1], instance_key=next(keys), **GROUP)
refuse("CollectiveBcastSend", [f32(2)], shape=[3], instance_key=next(keys), **GROUP)
refuse("CollectiveReduceScatterV2", [f32(2), *ints(1, 2, next(keys)), []], merge_op="Add", final_op="Id", Nordering_token=0)
refuse("CollectiveAllToAllV2", [f32(1, 2), *ints(1, 2, next(keys)), []], Nordering_token=0)
for index in (0, 2, 3):
    case("CollectiveAssignGroupV2", ints([[0, 1], [2, 3]], index, 5))
refuse("CollectiveAssignGroupV2", ints([[0, 1], [2, 3]], 7, 5))
refuse("CollectiveAssignGroupV2", ints([0, 1], 0, 5))
refuse("CollectiveAssignGroupV2", ints([[0, 1]], [0], 5))
refuse("CollectiveAssignGroupV2", ints([[0, 1]], 0, [5]))
