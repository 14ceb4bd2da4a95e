"""What the machine itself does at best: loopback TCP, copies of memory, matrix products, and multiply-adds that wait for no memory."""

import os
import socket
import subprocess
import threading
import time

import numpy as np

SIZE = 1 << 26


def best(f, times=3):
    return max(f() for _ in range(times))


def loopback_mb_s():
    listener = socket.create_server(("127.0.0.1", 0))
    received = bytearray(SIZE)

    def receive():
        connection, _ = listener.accept()
        view = memoryview(received)
        while len(view):
            view = view[connection.recv_into(view):]
        connection.sendall(b"x")
        connection.close()

    thread = threading.Thread(target=receive)
    thread.start()
    with socket.create_connection(listener.getsockname()) as connection:
        data = bytes(SIZE)
        begin = time.perf_counter()
        connection.sendall(data)
        connection.recv(1)
        seconds = time.perf_counter() - begin
    thread.join()
    listener.close()
    return SIZE / seconds / 1e6


def copy_mb_s():
    source, target = np.ones(SIZE, np.uint8), np.empty(SIZE, np.uint8)
    target[:] = source
    begin = time.perf_counter()
    target[:] = source
    return SIZE / (time.perf_counter() - begin) / 1e6


def gemm_gflop_s():
    """By the NumPy of this environment, whose library may not be the best there is for this processor."""
    a = np.random.RandomState(1).rand(1024, 1024).astype(np.float32)
    a @ a
    begin = time.perf_counter()
    for _ in range(10):
        a @ a
    return 10 * 2 * 1024**3 / (time.perf_counter() - begin) / 1e9


def peak_gflop_s(program):
    """What no product of matrices can exceed here."""
    return float(subprocess.run([program], check=True, capture_output=True, text=True).stdout)


def measure():
    measured = {"loopback TCP, MB/s": best(loopback_mb_s), "memory copy, MB/s": best(copy_mb_s), "matmul 1024 in NumPy, GFLOP/s": best(gemm_gflop_s)}
    program = os.path.join(os.path.dirname(os.environ["TROUPE_BIN"]), "bench", "troupe_peak")
    try:
        measured["multiply-adds of all cores at most, GFLOP/s"] = best(lambda: peak_gflop_s(program))
    except (OSError, subprocess.CalledProcessError) as error:  # not built, or a processor without the vectors
        print(f"the peak of the cores is not known: {getattr(error, 'stderr', None) or error}", flush=True)
    return measured
