"""Stopping: a node ends with 0 on SIGTERM, whatever goes on, and every client is answered."""

import threading
import time

from conftest import FULL, Node, troupe_binary


def test_cycles_of_start_serve_and_stop(tf1):
    cycles = 200 if FULL else 5
    slowest = 0.0
    for _ in range(cycles):
        node = Node([troupe_binary(), "node", "--port=0", "--grace=0.05"]).wait_until_serving()
        tf1.reset_default_graph()
        queue = tf1.FIFOQueue(1, [tf1.float32], shared_name="q")
        dequeue = queue.dequeue()
        session = tf1.Session(node.target)
        session.run(tf1.no_op())
        answers = []

        def wait():
            try:
                session.run(dequeue)
            except Exception as e:  # whatever the client makes of it is an answer
                answers.append(e)

        clients = [threading.Thread(target=wait) for _ in range(3)]
        for client in clients:
            client.start()
        time.sleep(0.05)
        begin = time.monotonic()
        assert node.stop() == 0, node.log
        slowest = max(slowest, time.monotonic() - begin)
        for client in clients:
            client.join(30)
            assert not client.is_alive()
        assert len(answers) == 3
    print(f"slowest stop: {slowest:.3f} s")


def test_a_taken_port_is_named():
    first = Node([troupe_binary(), "node", "--port=0"]).wait_until_serving()
    port = first.target.rsplit(":", 1)[1]
    second = Node([troupe_binary(), "node", f"--port={port}"])
    assert second.process.wait(30) == 2
    second._reader.join(5)
    assert port in "\n".join(second.log)
    assert first.stop() == 0


def test_a_missing_peer_is_named(tf1):
    from conftest import free_ports, start_node

    ports = free_ports(2)
    cluster = {"ps": [f"localhost:{ports[0]}"], "worker": [f"localhost:{ports[1]}"]}
    worker = start_node("troupe", cluster, "worker", 0).wait_until_serving()
    try:
        session = tf1.Session(worker.target, config=tf1.ConfigProto(operation_timeout_in_ms=2500))
        try:
            session.run(tf1.no_op())
            raise AssertionError("there is no ps")
        except tf1.errors.DeadlineExceededError:
            pass
        assert any("/job:ps/replica:0/task:0" in line for line in worker.log), worker.log
    finally:
        assert worker.stop() == 0
