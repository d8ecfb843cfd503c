"""The programs of docs/sources.md: killed in the middle and started again, they learn each message once."""

import importlib
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets.synthetic import Mixture
from tests.runs import same
from tests.waiting import wait_for

TEXT = (Path(__file__).parents[1] / "docs" / "sources.md").read_text()
PROGRAMS = dict(
    re.findall(r"^## ([^\n]+)\n(?:(?!\n## ).)*?```python\n(.*?)```", TEXT, re.DOTALL | re.MULTILINE)
)
X = Mixture(5, seed=1, dtype=np.float64).read(900)


def needs(program=None, module=None):
    """Skip the test if a server or the Python client is absent."""
    if module is not None:
        pytest.importorskip(module, reason=f"no Python package {module} here: pip install '.[test]'")
    found = program and shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if program and not found:
        pytest.skip(f"no {program} here: install your system's")
    return found


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def answers(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running(command, port, folder):
    """A server in a temporary folder, once it answers."""
    with open(folder / "server.log", "w") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        wait_for(lambda: server.poll() is not None or answers(port))
        assert server.poll() is None, (folder / "server.log").read_text()
        yield
    finally:
        server.kill()
        server.wait()


@contextmanager
def redis_streams(folder):
    """The environment of the program, and a function that publishes rows; so are all sources below."""
    program, redis = needs("redis-server", "redis"), importlib.import_module("redis")
    port = free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with running(command, port, folder), closing(redis.Redis(port=port)) as client:

        def publish(first, end):
            for x, y in X[first:end].tolist():
                client.xadd("rows", {"x": x, "y": y}, maxlen=500, approximate=False)

        yield {"REDIS_URL": f"redis://127.0.0.1:{port}"}, publish


@contextmanager
def kafka():
    """A mock cluster of librdkafka, in this process, whose topics have four partitions."""
    needs(module="confluent_kafka")
    producer = importlib.import_module("confluent_kafka").Producer(
        {"test.mock.num.brokers": 1, "log_level": 0}
    )
    (broker,) = producer.list_topics(timeout=10).brokers.values()

    def publish(first, end):
        for k in range(first, end):
            producer.produce("rows", json.dumps(X[k].tolist()), partition=k % 4)
        assert producer.flush(10) == 0

    yield {"KAFKA_SERVERS": f"{broker.host}:{broker.port}"}, publish


@contextmanager
def mqtt(folder):
    program = needs("mosquitto", "paho.mqtt.client")
    port = free_port()
    (folder / "mosquitto.conf").write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
    with running([program, "-c", "mosquitto.conf"], port, folder):
        with learner_session(port):
            pass  # the broker keeps messages from the first connection on

        def publish(first, end):
            from paho.mqtt.publish import multiple

            numbered = enumerate(X[first:end].tolist(), start=first + 1)
            messages = [("rows", json.dumps([number, *row]), 1, False) for number, row in numbered]
            multiple(messages, "127.0.0.1", port)

        yield {"MQTT_HOST": "127.0.0.1", "MQTT_PORT": str(port)}, publish


@contextmanager
def learner_session(port):
    """The messages that arrive if one connects as the learner."""
    from paho.mqtt.client import CallbackAPIVersion, Client

    arrived, subscribed = [], []
    client = Client(CallbackAPIVersion.VERSION2, "learner", clean_session=False, manual_ack=True)
    client.on_connect = lambda *_: client.subscribe("rows", qos=1)
    client.on_subscribe = lambda *_: subscribed.append(True)
    client.on_message = lambda _client, _data, message: arrived.append(json.loads(message.payload)[0])
    client.connect("127.0.0.1", port)
    client.loop_start()
    wait_for(lambda: subscribed)
    yield arrived
    client.disconnect()
    client.loop_stop()


def take_over_session(port):
    """Connect as the learner, which disconnects the other one."""
    from paho.mqtt.client import CallbackAPIVersion, Client

    client = Client(CallbackAPIVersion.VERSION2, "learner", clean_session=False)
    connected = []
    client.on_connect = lambda *_: connected.append(True)
    client.connect("127.0.0.1", port)
    while not connected:
        client.loop(1)


@contextmanager
def databases(folder):
    with closing(sqlite3.connect(folder / "points.db")) as database:
        database.execute("CREATE TABLE points (id INTEGER PRIMARY KEY, x REAL, y REAL)")

        def publish(first, end):
            with database:
                numbered = enumerate(X[first:end].tolist(), start=first)
                rows = [(3 * k + 5, x, y) for k, (x, y) in numbered]  # keys with gaps
                database.executemany("INSERT INTO points VALUES (?, ?, ?)", rows)

        yield {"DATABASE": str(folder / "points.db")}, publish


@contextmanager
def started(program, folder, environment):
    """A learning process."""
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def killed_and_resumed(program, folder, environment, publish):
    """The model of a program that is killed after about half of the rows, and started again."""
    checkpoint = folder / "run.safetensors"
    publish(0, 455)
    with started(program, folder, environment) as process:
        wait_for(lambda: process.poll() is not None or rows_in(checkpoint) >= 400)
        assert process.poll() is None, process.stdout.read()
    assert process.returncode == -signal.SIGKILL
    publish(455, 900)
    with started(program, folder, environment) as process:
        assert process.communicate(timeout=60)[0] == ""
    assert process.returncode == 0
    return GaussianNeurons.load(checkpoint)


def rows_in(checkpoint):
    return GaussianNeurons.load(checkpoint).n_samples_seen_ if checkpoint.exists() else 0


def uninterrupted(rows):
    return GaussianNeurons(20, random_state=0).learn(rows)


@pytest.mark.parametrize(
    ("name", "source"),
    [("Redis streams", redis_streams), ("MQTT", mqtt), ("Databases", databases)],
)
def test_program_that_is_killed_learns_each_message_once(tmp_path, name, source):
    with source(tmp_path) as (environment, publish):
        model = killed_and_resumed(PROGRAMS[name], tmp_path, environment, publish)
    assert np.array_equal(model.recent_samples_, X)
    assert same(model, uninterrupted(X))


def test_kafka_program_that_is_killed_learns_each_message_of_a_partition_once_and_in_order(tmp_path):
    with kafka() as (environment, publish):
        model = killed_and_resumed(PROGRAMS["Kafka"], tmp_path, environment, publish)
    order = [X.tolist().index(row) for row in model.recent_samples_.tolist()]
    assert sorted(order) == list(range(900))
    for partition in range(4):
        assert [k for k in order if k % 4 == partition] == list(range(partition, 900, 4))
    assert same(model, uninterrupted(model.recent_samples_))


def test_mqtt_messages_that_are_delivered_again_are_learned_once(tmp_path):
    """After a kill between checkpoint and acknowledgement, a lost connection, and from the publisher."""
    program = PROGRAMS["MQTT"].replace(" 900,", " 200,")
    killed, count = re.subn(
        r"(def acknowledge\(model, t\):.*\n)", r"\1    t == 100 and os.kill(os.getpid(), 9)\n", program
    )
    assert count == 1
    with mqtt(tmp_path) as (environment, publish):
        port = int(environment["MQTT_PORT"])
        publish(0, 130)
        with started(killed, tmp_path, environment) as process:
            process.wait(60)
        assert process.returncode == -signal.SIGKILL
        assert rows_in(tmp_path / "run.safetensors") == 100
        publish(110, 150)
        with started(program, tmp_path, environment) as process:
            wait_for(lambda: process.poll() is not None or rows_in(tmp_path / "run.safetensors") >= 140)
            take_over_session(port)
            publish(145, 200)
            assert process.communicate(timeout=60)[0] == ""
        publish(200, 201)
        with learner_session(port) as arrived:
            wait_for(lambda: arrived)
        assert arrived == [201]  # all others are acknowledged
    assert same(GaussianNeurons.load(tmp_path / "run.safetensors"), uninterrupted(X[:200]))
