"""Checks every #include of a source tree against the table of folders: who may include whom."""

import pathlib
import re
from graphlib import CycleError, TopologicalSorter

MAY_INCLUDE = {
    "messaging": set(),
    "ops": {"messaging"},
    "devices": {"ops", "messaging"},
    "config": {"messaging"},
    "actors": {"messaging", "ops", "devices", "config"},
}

# Headers generated from messaging/proto.
GENERATED = {"wire": "messaging"}

# A kernel neither starts threads, nor locks, nor knows actors or the transport.
FOREIGN_TO = {
    "ops": re.compile(r"(caf|boost/asio|grpcpp|grpc)/.*|(thread|mutex|shared_mutex|condition_variable|future)"),
    "config": re.compile(r"(caf|boost/asio)/.*"),
}

SUFFIXES = {".cpp", ".hpp", ".h", ".inc", ".def", ".cu", ".cuh", ".S"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    """Yields (line number, '<' or '"', what is included)."""
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[1], match[2]


def included_folder(root, path, quote, target):
    """The folder that an include leads to; None for the standard library and third parties."""
    if target.startswith("troupe/"):
        folder = target.split("/")[1]
        return GENERATED.get(folder, folder)
    if quote == '"':
        landing = (path.parent / target).resolve()
        if landing.is_relative_to(root):
            return landing.relative_to(root).parts[0]
    return None


def examine(root):
    """Returns (violations as text, edges between folders as {folder: {included folders}})."""
    root = pathlib.Path(root).resolve()
    violations = []
    edges = {folder: set() for folder in MAY_INCLUDE}
    for folder, allowed in MAY_INCLUDE.items():
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            for number, quote, target in includes(path):
                where = f"{path.relative_to(root)}:{number}"
                other = included_folder(root, path, quote, target)
                if other is None:
                    if folder in FOREIGN_TO and FOREIGN_TO[folder].fullmatch(target):
                        violations.append(f"{where}: {folder} must not include {target}")
                elif other != folder:
                    edges[folder].add(other)
                    if other not in allowed:
                        violations.append(f"{where}: {folder} must not include {other} ({target})")
    return violations, edges


def cycle(edges):
    """A list of folders that include each other in a ring, or None."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return error.args[1]
    return None
