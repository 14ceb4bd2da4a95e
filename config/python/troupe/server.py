"""A drop-in for tf.train.Server: the same calls and errors, answered by a Troupe node that this process owns."""

import json
import os

from .binary import find_binary
from .node import Node


def _own_address(server_def):
    """The entry of the task itself; the errors are those of TensorFlow's server."""
    from tensorflow.python.framework import errors

    for job in server_def.cluster.job:
        if job.name != server_def.job_name:
            continue
        if server_def.task_index not in job.tasks:
            raise errors.InternalError(None, None, f'Task {server_def.task_index} was not defined in job "{server_def.job_name}"')
        return job.tasks[server_def.task_index]
    raise errors.InternalError(None, None, f'Job "{server_def.job_name}" was not defined in cluster')


def _split(address):
    from tensorflow.python.framework import errors

    host, colon, port = address.rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()):
        raise errors.InvalidArgumentError(None, None, f'Could not parse port for local server from "{address}".')
    return host, int(port)


def _check_protocol(server_def):
    from tensorflow.python.framework import errors

    if server_def.protocol != "grpc":
        raise errors.NotFoundError(None, None, f"No server factory registered for the given ServerDef: {server_def}\n"
                                   "The available server factories are: [ GRPC_SERVER ]")


def _tf_config(server_def):
    cluster = {job.name: {str(index): job.tasks[index] for index in sorted(job.tasks)} for job in server_def.cluster.job}
    return json.dumps({"cluster": cluster, "task": {"type": server_def.job_name, "index": server_def.task_index}})


def _arguments(config):
    """What a node takes of the default configuration of its sessions: the threads of its kernels, and how many devices it has."""
    threads, cpus = config.intra_op_parallelism_threads, config.device_count.get("CPU", 0)
    return [f"--compute_threads={threads}"] * (threads > 0) + [f"--cpu_devices={cpus}"] * (cpus > 0)


class Server:
    """A task of a cluster, as tf.train.Server is one. The node runs until `stop`, or until this process ends."""

    def __init__(self, server_or_cluster_def, job_name=None, task_index=None, protocol=None, config=None, start=True):
        from tensorflow.python.framework import errors
        from tensorflow.python.training import server_lib

        self._server_def = server_lib._make_server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        _check_protocol(self._server_def)
        host, _ = _split(_own_address(self._server_def))
        command = [find_binary(), "node", *_arguments(self._server_def.default_session_config)]
        self._node = Node(command, {**os.environ, "TF_CONFIG": _tf_config(self._server_def)})
        if self._node.target is None:
            raise errors.UnknownError(None, None, "Could not start gRPC server: the log of the Troupe node says why")
        self._target = f"grpc://{host}:{self._node.target.rpartition(':')[2]}"
        # The node serves from now on; TensorFlow's server, too, answers clients of its own process before it is started.
        self._state = "started" if start else "new"

    def start(self):
        """Serves. A second call does nothing."""
        from tensorflow.python.framework import errors

        if self._state == "stopped":
            raise errors.FailedPreconditionError(None, None, "Server has stopped.")
        self._state = "started"

    def join(self):
        """Waits until the server has stopped."""
        from tensorflow.python.framework import errors

        if self._state != "started":
            return
        code = self._node.process.wait()
        if code != 0 and self._state == "started":
            raise errors.AbortedError(None, None, f"The Troupe node of {self._target} ended with status {code}")

    def stop(self):
        """Ends the node: what it does now is finished or cancelled, and answered."""
        self._state = "stopped"
        self._node.stop()

    @property
    def server_def(self):
        """The `tf.train.ServerDef` of this server."""
        return self._server_def

    @property
    def target(self):
        """What a `tf.compat.v1.Session` takes to connect to this server."""
        return self._target

    @staticmethod
    def create_local_server(config=None, start=True):
        """A cluster of one task on a free port of this machine."""
        return Server({"localhost": ["localhost:0"]}, protocol="grpc", config=config, start=start)
