"""The embedding example: HTTP requests and a TensorFlow client in the same process, on the service's one thread."""

import concurrent.futures
import http.client
import pathlib
import signal
import subprocess
import threading

import pytest
import tensorflow.compat.v1 as tf
from conftest import FULL, troupe_binary

SERVICE = pathlib.Path(troupe_binary()).resolve().parent / "examples" / "embed" / "embed_service"
REQUESTS = 10_000 if FULL else 400


class Service:
    def __init__(self, *options):
        self.process = subprocess.Popen([str(SERVICE), *options], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        self.target = self.process.stdout.readline().strip()
        self.local = threading.local()

    def ask(self, method, path, body=""):
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port)
        self.local.connection.request(method, path, body)
        response = self.local.connection.getresponse()
        return response.status, response.read().decode()

    def threads(self):
        """By name, without gRPC's helpers, whose number is its own affair; a thread that nobody named has the program's name."""
        names = sorted((task / "comm").read_text().strip() for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir())
        return [name for name in names if name.startswith(("troupe", "embed"))]


@pytest.fixture
def service():
    assert SERVICE.exists(), "the example is not built: cmake --build ... --target embed_service"
    service = Service("--idle")
    yield service
    service.process.send_signal(signal.SIGTERM)
    try:
        assert service.process.wait(30) == 0
    finally:
        service.process.kill()


def model():
    """The example's variables, as TensorFlow names and places them; what it trains towards."""
    with tf.device("/job:ps/task:0"):
        w = tf.get_variable("w", [2, 1], use_resource=True)
    with tf.device("/job:ps/task:1"):
        c = tf.get_variable("c", [1], use_resource=True)
    x = tf.placeholder(tf.float32, [None, 2])
    loss = tf.reduce_mean(tf.squared_difference(tf.matmul(x, w) + c, x @ [[2.0], [-1.0]] + 0.5))
    return x, loss, tf.train.GradientDescentOptimizer(0.05).minimize(loss)


def test_it_serves_while_tensorflow_trains(service):
    assert service.threads() == ["embed_service"]
    assert service.ask("GET", "/healthz") == (503, "no model yet\n")
    assert service.ask("POST", "/predict", "1 2")[0] == 503
    status, target = service.ask("POST", "/start")
    assert status == 200
    service.target = target.strip()
    assert service.ask("POST", "/start")[0] == 503
    assert service.threads() == ["embed_service", "troupe-grpc"]
    assert service.ask("GET", "/healthz") == (200, "ok\n")
    assert service.ask("POST", "/predict", "1 2") == (200, "0\n")
    assert service.ask("POST", "/predict", "1 2 3")[0] == 400
    assert service.ask("GET", "/elsewhere")[0] == 404
    points = [(1, 2), (-1, 0.5), (0, -1), (2, 1)]
    done = threading.Event()

    def train():
        with tf.Graph().as_default():
            x, loss, step = model()
            with tf.Session(service.target) as session:
                while not done.is_set():
                    session.run(step, {x: points})
                return session.run(loss, {x: points})

    def request(i):
        a, b = points[i % len(points)]
        if i % 2:
            return service.ask("POST", "/learn", f"{a} {b} {2 * a - b + 0.5}")[0] == 202
        status, body = service.ask("POST", "/predict", f"{a} {b}")
        float(body)
        return status == 200

    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        trained = pool.submit(train)
        answers = list(pool.map(request, range(REQUESTS), chunksize=20))
        done.set()
        assert trained.result() < 1
    assert all(answers)
    for _ in range(1000):
        service.ask("POST", "/learn", "1 1 1.5")
        for a, b in points:
            service.ask("POST", "/learn", f"{a} {b} {2 * a - b + 0.5}")
        if abs(float(service.ask("POST", "/predict", "3 1")[1]) - 5.5) < 0.05:
            break
    assert float(service.ask("POST", "/predict", "3 1")[1]) == pytest.approx(5.5, abs=0.1)
    assert service.threads() == ["embed_service", "troupe-grpc"]


def test_its_options():
    def said(*options):
        return subprocess.run([str(SERVICE), *options], capture_output=True, text=True, timeout=30)

    assert said("--help").returncode == 0 and "POST /learn" in said("--help").stdout
    for wrong in ["--prt=1", "--port=", "--port=70000", "--port=8x"]:
        assert said(wrong).returncode == 2 and wrong in said(wrong).stderr
