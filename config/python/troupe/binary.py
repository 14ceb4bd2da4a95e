"""Finds the program `troupe`: named by TROUPE_BIN, on the PATH, or beside this package."""

import os
import pathlib
import shutil

_PACKAGE = pathlib.Path(__file__).resolve().parent
# In an installed package, and in a checkout of the sources.
_BESIDE = [_PACKAGE / "bin" / "troupe", _PACKAGE.parents[2] / "build" / "release" / "troupe"]


def find_binary():
    named = os.environ.get("TROUPE_BIN")
    if named:
        if not os.access(named, os.X_OK):
            raise FileNotFoundError(f"TROUPE_BIN: {named} is no program; let it name the binary `troupe`")
        return named
    found = shutil.which("troupe")
    if found:
        return found
    for path in _BESIDE:
        if os.access(path, os.X_OK):
            return str(path)
    raise FileNotFoundError("the program `troupe` is not found: set TROUPE_BIN to it, put it on the PATH, "
                            f"or copy it to {_BESIDE[0]}")
