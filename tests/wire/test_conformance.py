"""Families of ops that agree with TensorFlow in every case: kept so. The whole suite, with those that do not agree yet, is `./run conformance`."""

import os
import subprocess
import sys

import pytest

from conftest import FULL, WATCHDOG, troupe_binary

AGREEING = ["math_arithmetic", "math_choices", "containers_queues", "containers_accumulators"]
MORE = ["arithmetic", "linalg_fourier", "nn_norms", "strings_records"]
RUN = os.path.join(os.path.dirname(__file__), "..", "conformance", "run.py")


@pytest.mark.parametrize("family", AGREEING + (MORE if FULL else []))
def test_a_family_agrees_with_tensorflow(family):
    done = subprocess.run([sys.executable, RUN, "--family", family], env={**os.environ, "TROUPE_BIN": os.path.abspath(troupe_binary())},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=WATCHDOG * 4)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " agreeing" in done.stdout
