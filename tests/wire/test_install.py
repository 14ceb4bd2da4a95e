"""Somebody else's project finds the installed package, or has Troupe's sources below its own, builds against its headers, and trains on a node."""

import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import troupe_binary

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONSUMER = ROOT / "tests" / "install" / "consumer"
SUBPROJECT = ROOT / "tests" / "install" / "subproject"
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


def test_the_embedding_example_needs_nothing_but_the_package(prefix, tmp_path):
    run("cmake", "-S", ROOT / "examples" / "embed", "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Debug")
    run("cmake", "--build", tmp_path)
    assert "POST /predict" in run(tmp_path / "embed_service", "--help")


def test_components_are_found_by_name(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text("""
        cmake_minimum_required(VERSION 3.25)
        project(Finer LANGUAGES CXX)
        find_package(Troupe 0.1 REQUIRED COMPONENTS ops devices)
        find_package(Troupe 0.1 QUIET COMPONENTS orchestra)
        message(STATUS "ops ${Troupe_ops_FOUND}, all ${Troupe_FOUND}")
        if(NOT TARGET Troupe::ops OR NOT TARGET Troupe::devices)
          message(FATAL_ERROR "no targets")
        endif()
    """)
    assert "ops TRUE, all 0" in run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")


def test_it_is_a_subproject(tmp_path, troupe):
    """Configured anew below another project; the libraries, which are the same ones, are taken from where they are built."""
    if not (BUILD / "libtroupe_actors.a").exists():
        pytest.skip("the program does not stand in a build folder")
    run("cmake", "-S", SUBPROJECT, "-B", tmp_path, "-G", "Unix Makefiles", f"-DTROUPE_SOURCES={ROOT}", "-DCMAKE_BUILD_TYPE=Release")
    inside = tmp_path / "troupe"
    for library in BUILD.glob("libtroupe_*.a"):
        (inside / library.name).symlink_to(library)
    shutil.copytree(BUILD / "generated", inside / "generated", ignore=shutil.ignore_patterns("*.cc"), dirs_exist_ok=True)
    run("make", "-C", tmp_path, "consumer/fast")  # without what it depends on
    assert run(tmp_path / "consumer", troupe.target("worker/0").removeprefix("grpc://")) == "y = 2.000 x + 1.000\n"
    assert "troupe_actors_test" not in run("make", "-C", tmp_path, "help")


def test_pkg_config_knows_it(prefix):
    folder = next(prefix.rglob("troupe.pc")).parent
    said = run("pkg-config", "--cflags", "--libs", f"--define-variable=prefix={prefix}", "troupe", env={**os.environ, "PKG_CONFIG_PATH": str(folder)})
    assert f"-I{prefix}/include" in said and "-ltroupe_actors" in said
