"""What a user should know about the result of a model: facts in, one line of text out.

The estimator gives each text once per model, as a warning. docs/any-data.md has the measurements.
"""

from collections.abc import Iterator

import numpy as np

from gaussian_neurons.clustering.tree import tree_of
from gaussian_neurons.model.look import LEAST_SCORE
from gaussian_neurons.model.scaling import uneven
from gaussian_neurons.model.settings import Settings
from gaussian_neurons.model.state import State

LEAST_NEURONS = 4  # with fewer, a small limit on the number of clusters is intended
CLUSTERS = 0.6  # part of the neurons of an automatic width: with more clusters, some may be missing
ROWS = 2.0  # rows for each neuron of an automatic width: with fewer, most rows are clusters of their own
FEWEST_ROWS = 10  # for which fewer neurons are advised
OUT_OF_REACH = 0.25, 0.5  # part of the recent samples, with a given width: after fit, in a stream
SETTLED, CONVERGED = 5, 100  # windows of samples after which that can be told: automatic width, given width


class AdviceWarning(UserWarning):
    """A result is probably not what was wanted, and the text says what to do."""


def advice(state: State, given: Settings, first: bool) -> Iterator[tuple[str, str]]:
    """What there is to say about a state: pairs of a kind and a text.

    Parameters
    ----------
    state : State after a review, with a network
    given : Settings
    first : whether the neurons have just been placed
    """
    network, recent, fitted = state.network, state.recent, state.labels is not None
    assert network is not None
    if first and given.scale is None and given.domain is None and given.covariance_type == "spherical":
        text = uneven(recent.raw, state.names)
        if text is not None:
            yield "scale", text
    count, found = len(network.neurons), len(network.look.found_then.numbers)
    windows = CONVERGED if not network.shared else SETTLED
    if count < LEAST_NEURONS or not (fitted or recent.received >= windows * recent.window):
        return
    if not network.shared:
        # fit without any cluster has a warning of its own
        beyond = float((network.look.scores < LEAST_SCORE).mean()) if found else float(not fitted)
        if beyond > OUT_OF_REACH[0 if fitted else 1]:
            yield (
                "reach",
                f"{beyond:.0%} of the last samples are out of reach of all clusters, and predict gives -1 "
                f"for such rows. Use init='spread', more neurons or a larger width; shuffle sorted rows.",
            )
        if found == count:
            yield (
                "neurons",
                f"all {count} neurons are clusters, so there may be more. Use a larger n_neurons, or a "
                f"larger width for fewer clusters.",
            )
    elif given.n_clusters is not None:
        return
    elif state.labels is not None and len(state.labels) < ROWS * count:
        rows = len(state.labels)
        yield (
            "rows",
            f"{rows} row{'s are' if rows > 1 else ' is'} few for {count} neurons, so many clusters may be "
            f"single rows. Use more rows{f', or n_neurons={rows // 5}' if rows >= FEWEST_ROWS else ''}.",
        )
    elif found > CLUSTERS * count:
        yield (
            "neurons",
            f"{found} clusters are many for {count} neurons, so there may be more. Use "
            f"n_neurons={4 * found}.",
        )
    elif fitted and found == 1:
        tree = tree_of(network.look.neurons, network.look.recent.samples, given.shape)
        if tree is not None and len(tree.scores) > 1:
            other = int(np.argmax(tree.scores[1:])) + 2
            apart = float(tree.scores[0] - tree.scores[other - 1])
            score = f"{apart:.3g} less" if apart >= 0 else f"{-apart:.3g} more, but all except one are noise"
            yield (
                "one",
                f"one cluster was found (cluster_counts_: {other} clusters have {score}). If there should be "
                f"more, use scale='columns', shape='any' or n_clusters=....",
            )
