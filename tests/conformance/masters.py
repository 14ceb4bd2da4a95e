"""Graphs that a client refuses to send: their raw GraphDefs go to the masters of TensorFlow's server and of a node."""

import grpc
import tensorflow as tf
from google.protobuf.internal.decoder import _DecodeVarint
from google.protobuf.internal.encoder import _VarintBytes
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2

from compare import Refusal
from stage import encode


def _field(number, content):
    """A length-delimited field; TensorFlow's wheel has no classes for the master's messages, and these are all they are made of."""
    content = content.encode() if isinstance(content, str) else content
    return _VarintBytes(number << 3 | 2) + _VarintBytes(len(content)) + content


def _first_field(message):
    size, at = _DecodeVarint(message, 1)
    return message[at : at + size].decode()


class Master:
    """The MasterService at a target, without a client library's own checks."""

    def __init__(self, target):
        self.channel = grpc.insecure_channel(target.removeprefix("grpc://"))

    def _call(self, method, request):
        return self.channel.unary_unary(f"/tensorflow.MasterService/{method}")(request, timeout=30)

    def run(self, built):
        """The outcome of making a session of the nodes of a case and, if that is let through, of its steps: the first refusal."""
        graph = graph_pb2.GraphDef(node=built.nodes)
        graph.versions.producer = tf.version.GRAPH_DEF_VERSION
        config = config_pb2.ConfigProto()
        config.graph_options.place_pruned_graph = True
        session = None
        try:
            session = _first_field(self._call("CreateSession", _field(1, graph.SerializeToString()) + _field(2, config.SerializeToString())))
            for wanted in built.steps:
                self._call("RunStep", self._step(session, built.feeds, wanted))
            return []
        except grpc.RpcError as refused:
            return Refusal(refused.code().value[0], refused.details(), by_graph=True)
        finally:
            if session:
                self._call("CloseSession", _field(1, session))

    @staticmethod
    def _step(session, feeds, wanted):
        feeds = b"".join(_field(2, _field(1, name + ":0") + _field(2, encode(array))) for name, array in feeds.items())
        wanted = b"".join(_field(3 if ":" in w else 4, w) for w in wanted)
        return _field(1, session) + feeds + wanted


def reference_server():
    """TensorFlow's own server in this process; it lives as long as the process."""
    return tf.distribute.Server.create_local_server()
