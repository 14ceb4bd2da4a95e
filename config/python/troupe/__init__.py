"""Runs TensorFlow programs on Troupe: `troupe.Server` in place of `tf.train.Server`, and `python -m troupe program.py ...`."""

from .replacement import replace_server
from .server import Server

__all__ = ["Server", "replace_server"]
