"""Puts troupe.Server where TensorFlow keeps its own, whether TensorFlow is loaded already or not."""

import importlib.abc
import importlib.machinery
import sys

from .server import Server

_MODULE = "tensorflow.python.training.server_lib"


class _Loader(importlib.abc.Loader):
    """Loads the module as always, and changes the one name in it before anybody can have taken it."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        module.Server = Server


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != _MODULE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None:
            spec.loader = _Loader(spec.loader)
        return spec


def replace_server():
    """From now on, tf.train.Server and all its other names are troupe.Server in this process."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _Finder())
    module = sys.modules.get(_MODULE)
    if module is None:
        return
    replaced = module.Server
    for name, loaded in list(sys.modules.items()):
        if name.split(".")[0].startswith("tensorflow") and getattr(loaded, "__dict__", {}).get("Server") is replaced:
            loaded.Server = Server
