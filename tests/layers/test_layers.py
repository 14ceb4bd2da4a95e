"""The house's direction of includes holds, and the check that says so sees violations."""

import pathlib

import include_directions as directions
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def plant(root, path, text):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_no_folder_includes_what_it_must_not():
    violations, _ = directions.examine(ROOT)
    assert not violations, "\n".join(violations)


def test_no_folders_include_each_other_in_a_ring():
    _, edges = directions.examine(ROOT)
    assert directions.cycle(edges) is None


def test_every_folder_of_the_table_has_sources():
    for folder in directions.MAY_INCLUDE:
        assert any(path.suffix in directions.SUFFIXES for path in (ROOT / folder).rglob("*")), folder


def test_table_itself_has_no_ring():
    assert directions.cycle(directions.MAY_INCLUDE) is None


@pytest.mark.parametrize(
    "path, text",
    [
        ("messaging/tensor.hpp", "#include <troupe/ops/call.hpp>\n"),
        ("messaging/deep/down/codec.cpp", "  #  include <troupe/actors/master.hpp>\n"),
        ("ops/nn.cpp", '#include "troupe/devices/cpu.hpp"\n'),
        ("ops/nn.cpp", '#include "../devices/cpu.hpp"\n'),
        ("ops/nn.cpp", "#include <caf/all.hpp>\n"),
        ("ops/nn.cpp", "#include <mutex>\n"),
        ("config/flags.cpp", "#include <troupe/ops/call.hpp>\n"),
        ("devices/gpu/add.cu", "#include <troupe/actors/device.hpp>\n"),
        ("actors/server.cpp", "#include <troupe/nowhere/x.hpp>\n"),
        ("actors/server.cpp", '#include "../tests/fixture.hpp"\n'),
    ],
)
def test_planted_violation_is_seen(tmp_path, path, text):
    plant(tmp_path, path, "// A file.\n" + text)
    violations, _ = directions.examine(tmp_path)
    assert len(violations) == 1
    assert violations[0].startswith(f"{path}:2: ")


@pytest.mark.parametrize(
    "path, text",
    [
        ("ops/nn.cpp", "#include <troupe/messaging/tensor.hpp>\n#include <vector>\n#include <Eigen/Core>\n"),
        ("ops/nn.cpp", '#include <troupe/wire/graph.pb.h>\n#include "call.hpp"\n#include "sub/call.hpp"\n'),
        ("actors/server.cpp", "#include <troupe/config/flags.hpp>\n#include <caf/all.hpp>\n#include <mutex>\n"),
        ("tests/ops/nn_test.cpp", "#include <troupe/actors/server.hpp>\n"),
        ("ops/notes.md", "#include <troupe/actors/server.hpp>\n"),
    ],
)
def test_what_is_allowed_passes(tmp_path, path, text):
    plant(tmp_path, path, text)
    assert directions.examine(tmp_path)[0] == []


def test_planted_ring_is_seen(tmp_path):
    plant(tmp_path, "messaging/a.hpp", "#include <troupe/config/b.hpp>\n")
    plant(tmp_path, "config/b.hpp", "#include <troupe/messaging/a.hpp>\n")
    _, edges = directions.examine(tmp_path)
    assert set(directions.cycle(edges)) == {"messaging", "config"}
