"""Clustering: k-means++ and k-MC2 seeds, nearest centers."""

import numpy as np
from framework import *
from values import *


def i(value):
    return tensor(value, "int64")


for seed in (0, 7, -3, 2**40):
    for count, retries in ((1, 0), (4, 0), (5, 2), (9, -1)):
        case("KmeansPlusPlusInitialization", [f32(9, 3, kind="distinct"), i(count), i(seed), i(retries)])
    case("KMC2ChainInitialization", [f32(30, kind="positive"), i(seed)])
    case("KMC2ChainInitialization", [tensor([0, 0, 0, 1], "float32"), i(seed)])
case("KmeansPlusPlusInitialization", [f32(40, 1), i(12), i(5), i(3)])
case("KmeansPlusPlusInitialization", [f32(4, 0), i(1), i(5), i(0)])
refuse("KmeansPlusPlusInitialization", [f32(4), i(1), i(5), i(0)])
refuse("KmeansPlusPlusInitialization", [f32(4, 2), i([1]), i(5), i(0)])
refuse("KmeansPlusPlusInitialization", [f32(4, 2), i(1), i([5]), i(0)])
refuse("KmeansPlusPlusInitialization", [f32(4, 2), i(1), i(5), i([0])])
refuse("KmeansPlusPlusInitialization", [f32(4, 2), i(0), i(5), i(0)])
refuse("KmeansPlusPlusInitialization", [f32(4, 2), i(5), i(5), i(0)])
refuse("KmeansPlusPlusInitialization", [f32(0, 2), i(1), i(5), i(0)])

case("KMC2ChainInitialization", [tensor([3], "float32"), i(1)])
case("KMC2ChainInitialization", [tensor([1, np.nan, np.inf, 2, -1], "float32"), i(1)])
refuse("KMC2ChainInitialization", [f32(0), i(1)])
refuse("KMC2ChainInitialization", [f32(2, 2), i(1)])
refuse("KMC2ChainInitialization", [f32(2), i([1])])

for k in (0, 1, 2, 5, 9):
    case("NearestNeighbors", [f32(70, 3), f32(5, 3), i(k)], close=8)
case("NearestNeighbors", [f32(3, 2), f32(1500, 2, kind="distinct"), i(1)], close=8)
case("NearestNeighbors", [f32(3, 2), f32(1500, 2, kind="distinct"), i(4)], close=8)
case("NearestNeighbors", [tensor([[0, 0]], "float32"), tensor([[1, 0], [0, 1], [-1, 0], [0.5, 0]], "float32"), i(3)])
case("NearestNeighbors", [f32(3, 2), f32(0, 2), i(2)])
case("NearestNeighbors", [f32(3, 0), f32(2, 0), i(2)])
refuse("NearestNeighbors", [f32(3), f32(2, 2), i(2)])
refuse("NearestNeighbors", [f32(3, 2), f32(2), i(2)])
refuse("NearestNeighbors", [f32(3, 2), f32(2, 2), i([2])])
refuse("NearestNeighbors", [f32(3, 2), f32(2, 3), i(2)])
refuse("NearestNeighbors", [f32(0, 2), f32(2, 2), i(1)])
