"""Made-up results of the benchmark beside the peers, as plausible as they need to be."""

from dataclasses import replace
from random import Random

from benchmarks.peers.kernels import BYTES
from benchmarks.peers.results import (
    First,
    Import,
    Kernel,
    Memory,
    Refusal,
    Results,
    System,
    Turn,
    Workload,
)
from benchmarks.peers.roofline import SHAPES, moving_numbers
from benchmarks.speed import counts

# key: name, kind, whether sample by sample, microseconds a call, and nanoseconds for K D and for K K D
SYSTEMS = {
    "ours-float32": ("Gaussian neurons, float32", "ours", True, 0.05, 0.1, 0.05),
    "ours-float64": ("Gaussian neurons, float64", "ours", True, 0.1, 0.2, 0.1),
    "ours-one": ("Gaussian neurons, a call a sample", "ours", True, 9.0, 0.1, 0.05),
    "ours-auto": ("Gaussian neurons, automatic width", "ours", True, 2.0, 1.2, 0.5),
    "river-kmeans": ("river KMeans", "peer", True, 20.0, 180.0, 0.0),
    "river-streamkmeans": ("river STREAMKMeans", "peer", True, 15.0, 150.0, 0.0),
    "river-dbstream": ("river DBSTREAM", "peer", True, 60.0, 250.0, 0.0),
    "river-denstream": ("river DenStream", "peer", True, 30.0, 140.0, 0.0),
    "river-clustream": ("river CluStream", "peer", True, 90.0, 220.0, 0.0),
    "sklearn-minibatch-1": ("MiniBatchKMeans, 1 row", "peer", True, 290.0, 1.0, 0.0),
    "sklearn-minibatch-1024": ("MiniBatchKMeans, 1024 rows", "peer", False, 0.35, 0.6, 0.0),
    "sklearn-birch": ("Birch", "peer", True, 28.0, 3.0, 0.0),
    "minisom": ("MiniSom", "peer", True, 22.0, 6.0, 0.0),
    "artlib-fuzzy": ("Fuzzy ART", "peer", True, 35.0, 30.0, 0.0),
    "artlib-gaussian": ("Gaussian ART", "peer", True, 50.0, 60.0, 0.0),
    "faiss-kmeans": ("Faiss k-means", "peer", False, 0.1, 0.4, 0.0),
    "rule-numpy": ("the rule in NumPy", "rule", True, 32.0, 8.0, 2.4),
    "rule-numpy-products": ("the rule in NumPy, matrix products", "rule", True, 30.0, 2.0, 0.3),
    "rule-numba": ("the rule in Numba", "rule", True, 1.0, 1.0, 0.9),
    "rule-torch": ("the rule in PyTorch", "rule", True, 75.0, 2.0, 0.5),
    "rule-jax": ("the rule in JAX", "rule", True, 11.0, 2.0, 0.6),
    "krotov-hopfield": ("Krotov-Hopfield", "peer", False, 1.4, 2.0, 0.0),
}
NAMED = {
    "mnist-5x5": ("MNIST, 5 × 5 patches", 16, 25),
    "mnist-13x13": ("MNIST, 13 × 13 patches", 16, 169),
    "cifar10-5x5x3": ("CIFAR-10, 5 × 5 patches in colour", 50, 75),
}
GRID = {
    f"rows-D{D}-K{K}": (f"rows, D = {D}, K = {K}", K, D)
    for D in (2, 16, 128, 784)
    for K in (16, 64, 256, 1024)
}


def made_up(systems=None, workloads=None, repetitions=5, noise=0.03, seed=0, slower=None, kernels=True):
    """Results of these systems and workloads; `slower` holds a factor for some of the systems."""
    random = Random(seed)
    results = Results({"processor": "A processor of 2 cores", "cores used": "1", "python": "3.11.2"})
    around = lambda value: value * random.uniform(1 - noise, 1 + noise)  # noqa: E731
    for key, (name, K, D) in (NAMED | GRID).items():
        if workloads is None or key in workloads:
            results.workloads[key] = Workload(key, name, K, D)
    for key, (name, kind, per_sample, call, linear, square) in SYSTEMS.items():
        if systems is not None and key not in systems:
            continue
        results.systems[key] = System(key, name, "made-up", "1.0", f"a|b, key={key!r}", kind, per_sample)
        factor = (slower or {}).get(key, 1.0)
        results.imports += [Import(key, k, around(0.9), around(0.6)) for k in range(repetitions)]
        for workload in results.workloads.values():
            K, D = workload.K, workload.D
            microseconds = factor * (call + (linear * K * D + square * K * K * D) / 1000)
            if microseconds > 60_000:
                results.refusals.append(Refusal(key, workload.key, "a sample takes over 60 ms"))
                continue
            for k in range(repetitions):
                results.turns.append(Turn(key, workload.key, k, 1000, 500, around(microseconds) * 500e-6))
            results.firsts.append(First(key, workload.key, microseconds * 1e-6 + 0.002))
            results.memory.append(Memory(key, workload.key, 0.2 + K * D * 8e-6))
    if kernels:
        results.kernels = made_up_kernels(repetitions, around)
    return results


def made_up_kernels(repetitions, around):
    """The core alone."""
    found = []
    for K, D, double in SHAPES:
        for isa, lanes, peak, reached in (("avx512", 16, 56e9, 0.8), ("avx2", 8, 55e9, 0.65)):
            for precision in ("float32", "float64")[: 1 + double]:
                half = 4 / BYTES[precision]
                count = counts(K, D, False, int(lanes * half), 8)
                seconds = count.done / (peak * half * reached) + 1e-7
                bandwidth = 1e11 / (1 + K * D / 1e6)
                facts = (count.needed, count.done, moving_numbers(K, D), peak * half, bandwidth)
                found += [
                    Kernel(K, D, precision, isa, k, around(seconds), *facts) for k in range(repetitions)
                ]
    return found


def without(results, *, systems=(), workloads=()):
    """The same without the turns of some."""
    return replace(
        results,
        turns=[
            turn for turn in results.turns if turn.system not in systems and turn.workload not in workloads
        ],
    )
