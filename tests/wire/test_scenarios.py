"""The client programs of scenarios/, each run on Troupe's cluster and on TensorFlow's: same seeds and data, same values."""

import csv
import pathlib

import pytest

from scenarios import digits
from scenarios.scene import ALL, Scene, assert_same

FACTS = pathlib.Path(__file__).parent / "facts" / "scenario_ops.tsv"


def recorded_ops(name):
    """The ops that the same program was seen to make when its traffic was recorded."""
    with FACTS.open() as rows:
        return {row["op"] for row in csv.DictReader(rows, delimiter="\t") if row["scenario"] == name}


@pytest.fixture
def client():
    """The client's switches, put back to what the other tests expect."""
    import tensorflow as tf

    tf1 = tf.compat.v1
    tf1.disable_eager_execution()
    before = tf1.control_flow_v2_enabled()
    yield tf1
    (tf1.enable_control_flow_v2 if before else tf1.disable_control_flow_v2)()
    tf1.disable_resource_variables()
    tf1.reset_default_graph()


def play(tf1, scenario, backend, cluster, folder):
    import tensorflow

    tf1.disable_resource_variables()
    (tf1.enable_control_flow_v2 if scenario.loops == "v2" else tf1.disable_control_flow_v2)()
    tf1.reset_default_graph()
    tensorflow.keras.utils.set_random_seed(11)
    tf1.Session.reset(cluster.target("worker/0"))
    folder.mkdir()
    scene = Scene(tf1, cluster, folder, backend, scenario.resource)
    scenario.play(scene)
    return scene


# Queue runners of a session that closes end with its error.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("name", sorted(ALL))
def test_scenario(name, client, troupe, tensorflow_cluster, tmp_path):
    scenario = ALL[name]
    print("Data:", digits.source())
    theirs = play(client, scenario, "tensorflow", tensorflow_cluster, tmp_path / "tensorflow")
    missing = recorded_ops(name) - theirs.ops - scenario.absent
    assert not missing, f"this program does not make {sorted(missing)}"
    ours = play(client, scenario, "troupe", troupe, tmp_path / "troupe")
    assert theirs.values
    assert_same(name, ours.values, theirs.values, scenario.rtol, scenario.atol)


def test_every_recorded_program_is_here():
    with FACTS.open() as rows:
        assert {row["scenario"] for row in csv.DictReader(rows, delimiter="\t")} <= set(ALL)
