"""Random graphs over three tasks give the same on Troupe as on TensorFlow. TROUPE_SEED reruns one of them."""

import os

import numpy as np
import pytest

from conftest import FULL
from random_graphs import RandomGraph

SEEDS = [int(os.environ["TROUPE_SEED"])] if "TROUPE_SEED" in os.environ else range(200 if FULL else 12)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_graph(seed, troupe, tensorflow_cluster, tf1):
    loops = tf1.control_flow_v2_enabled()
    try:
        graph = RandomGraph(tf1, seed)
        theirs = graph.run(tensorflow_cluster.target("worker/0"))
        ours = graph.run(troupe.target("worker/0"))
    finally:
        (tf1.enable_control_flow_v2 if loops else tf1.disable_control_flow_v2)()
    again = f"{graph.describe()}\nrerun with TROUPE_SEED={seed}"
    print(again)
    for step, (mine, wanted) in enumerate(zip(ours, theirs)):
        assert type(mine) is type(wanted), f"step {step}: {mine} instead of {wanted}"
        if isinstance(wanted, str):
            assert mine == wanted
            continue
        for fetch, a, b in zip(graph.fetches, mine, wanted):
            np.testing.assert_allclose(a, b, 1e-3, 1e-4, err_msg=f"{fetch.name} of step {step}")
