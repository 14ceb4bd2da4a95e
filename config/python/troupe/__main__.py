"""`python -m troupe program.py ARG...`: runs a TensorFlow program as it is, with the servers that it starts made Troupe nodes."""

import os
import runpy
import sys

from .replacement import replace_server

USAGE = "usage: python -m troupe PROGRAM.py [ARG...]\n       python -m troupe -m MODULE [ARG...]"


def main():
    arguments = sys.argv[1:]
    module = arguments[:1] == ["-m"]
    arguments = arguments[1:] if module else arguments
    if not arguments or (not module and arguments[0] in ("-h", "--help")):
        print(__doc__, USAGE, sep="\n", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    program = arguments[0]
    if not module and not os.path.exists(program):
        print(f"python -m troupe: {program} does not exist", file=sys.stderr)
        return 2
    replace_server()
    sys.argv = arguments
    if module:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        # Python puts the folder of a program first; the folder that `-m` has put there is not the program's.
        if not getattr(sys.flags, "safe_path", False):
            sys.path[0] = os.path.dirname(os.path.abspath(program))
        runpy.run_path(program, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
