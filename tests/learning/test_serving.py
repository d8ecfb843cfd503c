"""Layers of other processes, learned in this one: with the compiled core in place of a GPU."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gaussian_neurons.learning import native
from gaussian_neurons.learning.cuda import serving
from gaussian_neurons.learning.cuda.task import Task
from gaussian_neurons.learning.rule import Rule
from gaussian_neurons.sampling import Patches
from gaussian_neurons.sampling.undrawn import Undrawn

IMAGES = np.random.default_rng(0).integers(256, size=(50, 20, 20)).astype(np.uint8)
LABELS = np.arange(50) % 3


def tasks_of(seed):
    centers, widths = np.random.default_rng(seed).random((4, 9), np.float32), np.full(4, 0.5, np.float32)
    streams = Patches(IMAGES, 3, seed), Patches(IMAGES, 3, seed, LABELS, seed % 3)
    rows = [Undrawn(stream, 100 * seed, 40) for stream in streams]
    return [
        Task(centers, widths, samples, None, Rule(0.1, 0.5), seed, True)
        for samples in (*rows, np.asarray(rows[0]))
    ]


def learned(tasks):
    return [
        native.learn(it.centers, it.widths, np.asarray(it.samples), it.sample_widths, it.rule, it.seen)
        for it in tasks
    ]


def bits(found):
    return [array.tobytes() for layer in found for array in layer]


def client(address, seeds, answers):
    remote, found = serving.Remote(address), []
    with remote.connected():
        for seed in seeds:
            found.append((seed, bits(remote.compute(tasks_of(seed)))))
        try:
            remote.compute([])
        except ValueError as error:
            found.append((-1, str(error)))
    answers.put(found)


def test_other_processes_get_the_bits_of_this_one():
    def compute(tasks):
        if not tasks:
            raise ValueError("nothing to compute")
        return learned(tasks)

    spawn = multiprocessing.get_context("spawn")
    answers = spawn.Queue()
    with serving.served(compute) as address:
        clients = [
            spawn.Process(target=client, args=(address, seeds, answers)) for seeds in ([0, 1, 2], [2, 3])
        ]
        for process in clients:
            process.start()
        found = dict(pair for _ in clients for pair in answers.get(timeout=60))
        for process in clients:
            process.join()
    assert found.pop(-1) == "nothing to compute"
    assert found == {seed: bits(learned(tasks_of(seed))) for seed in range(4)}


def test_images_are_sent_once(monkeypatch):
    received, sizes = [], []

    def compute(tasks):
        received.extend(task.samples.stream.images for task in tasks if isinstance(task.samples, Undrawn))
        return learned(tasks)

    class Recorded(serving._Pickler):
        def dump(self, value):
            super().dump(value)
            sizes.append(self.file.tell())

        def __init__(self, file, keys):
            super().__init__(file, keys)
            self.file = file

    monkeypatch.setattr(serving, "_Pickler", Recorded)
    with serving.served(compute) as address:
        remote = serving.Remote(address)

        def learn(seed):
            with remote.connected():
                return bits(remote.compute(tasks_of(seed)))

        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(learn, range(6)))
    assert found == [bits(learned(tasks_of(seed))) for seed in range(6)]
    assert len({id(images.base if images.base is not None else images) for images in received}) == 1
    assert max(sizes) < IMAGES.nbytes / 2


def test_a_stranger_is_turned_away_and_the_server_goes_on():
    with serving.served(learned) as address:
        with pytest.raises(multiprocessing.AuthenticationError):
            serving.Client(address.place, authkey=b"a guess")
        remote = serving.Remote(address)
        with remote.connected():
            assert bits(remote.compute(tasks_of(1))) == bits(learned(tasks_of(1)))
