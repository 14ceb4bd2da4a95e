"""A `troupe node` in a process of its own that ends with the process that started it, however that ends."""

import atexit
import os
import subprocess
import threading

_PATIENCE = 10  # seconds that a node gets to finish before it is killed

_lock = threading.Lock()
_running = []


class Node:
    """Serves once constructed. It is not stopped when the object is collected: a program may keep only the target."""

    def __init__(self, command, environment):
        self._owner = os.getpid()
        # The node reads the one end and finishes when the other end closes, which the kernel does for us when we die.
        theirs, self._pipe = os.pipe()
        try:
            # A group of its own: a Ctrl-C at the terminal is for the program, which may want a last checkpoint.
            self.process = subprocess.Popen([*command, f"--owner_fd={theirs}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                            env=environment, pass_fds=[theirs], start_new_session=True)
        except BaseException:
            os.close(self._pipe)
            raise
        finally:
            os.close(theirs)
        with _lock:
            _running.append(self)
        self.target = self.process.stdout.readline().strip()
        if not self.target.startswith("grpc://"):
            self.stop()
            self.target = None

    def ask_to_stop(self):
        if self._pipe is None or self._owner != os.getpid():  # a fork has our objects, but not our children
            return
        pipe, self._pipe = self._pipe, None
        os.close(pipe)

    def stop(self):
        """Ends the node: it answers what is under way, and is killed if it does not come to an end."""
        if self._owner != os.getpid():
            return
        self.ask_to_stop()
        try:
            self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        with _lock:
            if self in _running:
                _running.remove(self)


@atexit.register
def _stop_all():
    with _lock:
        nodes = list(_running)
    for node in nodes:
        node.ask_to_stop()
    for node in nodes:
        node.stop()
