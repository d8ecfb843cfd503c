"""Create a model of each system for a workload. Packages are imported on demand."""

from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np

from benchmarks.peers.learners import (
    ByHand,
    Competing,
    InArtlib,
    InFaiss,
    InMiniSom,
    InRiver,
    Learner,
    Portions,
    Task,
    Whole,
)
from benchmarks.peers.rules import (
    Competition,
    jax_scan,
    numba_kernel,
    numpy_broadcast,
    numpy_products,
    torch_steps,
)

SEED = 0
HORIZON = 1_000_000  # samples over which the rates of a map decay
FEWEST, MOST = 39, 256  # rows per center: with fewer, faiss warns; with more, it ignores rows
MOST_IN_A_SCAN = 1024  # samples of one compiled loop in JAX


def ours(task: Task) -> Any:
    from gaussian_neurons import GaussianNeurons

    rule = task.rule
    return GaussianNeurons(
        task.K,
        width=rule.width,
        learning_rate=rule.learning_rate,
        inhibition=rule.inhibition,
        domain=(0, 1),
        random_state=SEED,
    )


def ours_auto(task: Task) -> Learner:
    from gaussian_neurons import GaussianNeurons

    return Whole(GaussianNeurons(task.K, random_state=SEED), portion=1024, settled=2048)


def mini_batch(task: Task, size: int) -> Learner:
    from sklearn.cluster import MiniBatchKMeans

    return Portions(MiniBatchKMeans(task.K, compute_labels=False, random_state=SEED), first=task.K, size=size)


def birch(task: Task) -> Learner:
    from sklearn.cluster import Birch

    return Portions(Birch(n_clusters=None, compute_labels=False), size=1024)


def k_means(task: Task) -> Learner:
    from river import cluster

    return InRiver(cluster.KMeans(n_clusters=task.K, seed=SEED))


def stream_k_means(task: Task) -> Learner:
    from river import cluster

    return InRiver(cluster.STREAMKMeans(n_clusters=task.K, seed=SEED), portion=10)  # its chunk size


def dbstream(task: Task) -> Learner:
    from river import cluster

    return InRiver(cluster.DBSTREAM())


def denstream(task: Task) -> Learner:
    from river import cluster

    model = cluster.DenStream(decaying_factor=0.01, beta=0.5, mu=2.5, epsilon=0.5, n_samples_init=10)
    return InRiver(model, settled=2 * model.n_samples_init)


def clustream(task: Task) -> Learner:
    from river import cluster

    model = cluster.CluStream(n_macro_clusters=task.K, seed=SEED)
    return InRiver(model, portion=model.time_gap, settled=2 * model.max_micro_clusters)


def minisom(task: Task) -> Learner:
    from minisom import MiniSom

    model = MiniSom(*grid(task.K), task.D, sigma=0.3, learning_rate=0.5, random_seed=SEED)
    return InMiniSom(model, HORIZON)


def grid(count: int) -> tuple[int, int]:
    """The sides of a map of `count` neurons, as square as possible."""
    side = next(side for side in range(isqrt(count), 0, -1) if count % side == 0)
    return side, count // side


def fuzzy_art(task: Task) -> Learner:
    from artlib import FuzzyART

    return InArtlib(FuzzyART(rho=0.7, alpha=0.0, beta=1.0), columns=task.D)


def gaussian_art(task: Task) -> Learner:
    from artlib import GaussianART

    return InArtlib(GaussianART(rho=0.05, sigma_init=np.full(task.D, 0.5)), columns=task.D)


def faiss(task: Task) -> Learner:
    import faiss

    faiss.omp_set_num_threads(1)
    return InFaiss(lambda: faiss.Kmeans(task.D, task.K, seed=SEED), first=FEWEST * task.K, most=MOST * task.K)


def competing(task: Task) -> Learner:
    weights = np.random.default_rng(SEED).normal(size=(task.K, task.D)).astype(np.float32)
    return Competing(weights, Competition())


def rule_numpy(task: Task) -> Learner:
    return ByHand(numpy_broadcast, task.centers(np.float64), task.rule, np.asarray, dtype=np.float64)


def rule_products(task: Task) -> Learner:
    return ByHand(numpy_products, task.centers(np.float32), task.rule, np.asarray)


def rule_numba(task: Task) -> Learner:
    return ByHand(compiled("numba", numba_kernel), task.centers(np.float32), task.rule, np.asarray)


def rule_torch(task: Task) -> Learner:
    import torch

    torch.set_num_threads(1)
    return ByHand(torch_steps, torch.from_numpy(task.centers(np.float32)), task.rule, torch.from_numpy)


def rule_jax(task: Task) -> Learner:
    import jax.numpy as jnp

    step = compiled("jax", jax_scan)
    samples = int(min(MOST_IN_A_SCAN, max(1, 1e9 // (task.K**2 * task.D))))
    portion = 1 << (samples.bit_length() - 1)  # a power of two
    centers = jnp.asarray(task.centers(np.float32))
    return ByHand(step, centers, task.rule, jnp.asarray, portion=portion, call=portion)


_compiled: dict[str, Callable] = {}


def compiled(name: str, make: Callable[[], Callable]) -> Callable:
    """A compiled function, which all models share."""
    if name not in _compiled:
        _compiled[name] = make()
    return _compiled[name]
