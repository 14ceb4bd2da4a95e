"""Somebody else's project finds the installed package, builds against its headers, and trains on a node."""

import os
import pathlib
import subprocess

import pytest
from conftest import troupe_binary

CONSUMER = pathlib.Path(__file__).resolve().parents[1] / "install" / "consumer"
BUILD = pathlib.Path(troupe_binary()).resolve().parent


def run(*command, **kwargs):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=1200, **kwargs)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    if not (BUILD / "CMakeCache.txt").exists():
        pytest.skip("the program does not stand in a build folder")
    prefix = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", prefix)
    return prefix


def test_an_outside_project_trains(prefix, tmp_path, troupe):
    run("cmake", "-S", CONSUMER, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", tmp_path)
    assert run(tmp_path / "consumer", troupe.target("worker/0").removeprefix("grpc://")) == "y = 2.000 x + 1.000\n"


def test_pkg_config_knows_it(prefix):
    folder = next(prefix.rglob("troupe.pc")).parent
    said = run("pkg-config", "--cflags", "--libs", f"--define-variable=prefix={prefix}", "troupe", env={**os.environ, "PKG_CONFIG_PATH": str(folder)})
    assert f"-I{prefix}/include" in said and "-ltroupe_actors" in said
