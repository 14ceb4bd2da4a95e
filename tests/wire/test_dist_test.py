"""docker/dist_test: whole clusters by the options that people know, here in processes."""

import os
import re
import signal
import subprocess
import sys

import pytest

from conftest import FULL, WATCHDOG, troupe_binary
from programs import ROOT


def dist_test(script, *arguments, **environment):
    return subprocess.run([str(ROOT / "docker" / "dist_test" / script), *arguments], capture_output=True, text=True, timeout=WATCHDOG * 4,
                          env={**os.environ, "TROUPE_BIN": os.path.abspath(troupe_binary()), "PYTHON": sys.executable,
                               "TROUPE_DIST_ENGINE": "processes", "TF_CPP_MIN_LOG_LEVEL": "2", **environment})


def assert_success(ended):
    assert ended.returncode == 0 and ended.stdout.endswith("SUCCESS\n"), ended.stdout + ended.stderr


def test_mnist_in_step():
    ended = dist_test("local_test.sh", "--model-name", "MNIST", "--num-workers", "2", "--num-parameter-servers", "1", "--sync-replicas",
                      "--train-steps=80")
    assert_success(ended)
    assert len(re.findall("Accuracy", ended.stdout)) == 2


def test_a_cluster_that_is_set_up_serves_a_remote_test():
    ended = dist_test("remote_test.sh", "--setup_cluster_only", "--num_workers=2", "--num_parameter_servers=2")
    assert ended.returncode == 0, ended.stderr
    urls = re.search(r"TF_DIST_GRPC_SERVER_URL=(\S+)", ended.stdout).group(1)
    nodes = [int(pid) for pid in re.search(r"^kill (.*)$", ended.stdout, re.M).group(1).split()]
    try:
        assert len(nodes) == 4 and urls.count("grpc://") == 2
        # One address serves all: its node is the master of both clients.
        assert_success(dist_test("remote_test.sh", "--num-workers=2", "--num-parameter-servers=2", "--train-steps=80",
                                 TF_DIST_GRPC_SERVER_URL=urls.split(",")[0]))
    finally:
        for pid in nodes:
            os.kill(pid, signal.SIGTERM)


@pytest.mark.skipif(not FULL, reason="another estimator's minute: with TROUPE_FULL=1")
def test_census_on_servers_that_run():
    assert_success(dist_test("remote_test.sh", "--model-name=CENSUS_WIDENDEEP", "--num-workers=2", "--num-parameter-servers=1", "--train-steps=200"))


@pytest.mark.parametrize("arguments, complaint", [
    (["--num-workers=none"], "--num-workers takes a number from 1 on, not 'none'"),
    (["--model-name=ALEXNET"], "--model-name is MNIST or CENSUS_WIDENDEEP, not 'ALEXNET'"),
    (["--model-name"], "--model-name takes a value"),
    (["--nonsense"], "unknown option '--nonsense'"),
])
def test_wrong_options_are_named(arguments, complaint):
    ended = dist_test("local_test.sh", *arguments)
    assert ended.returncode == 1 and complaint in ended.stderr
