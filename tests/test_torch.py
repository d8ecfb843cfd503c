"""PyTorch: responses and maps by hand, the twins of NumPy, gradients, the bits of what is learned."""

import copy
import importlib
import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'gaussian-neurons[torch]'")

from gaussian_neurons import GaussianNeurons  # noqa: E402
from gaussian_neurons.datasets.synthetic import Mixture  # noqa: E402
from gaussian_neurons.learning import responses  # noqa: E402
from gaussian_neurons.learning.cuda import device  # noqa: E402
from gaussian_neurons.stack import STEPS, Layer, Stack, normalization  # noqa: E402
from gaussian_neurons.torch import (  # noqa: E402
    GaussianConv2d,
    GaussianLayer,
    excess,
    from_stack,
    learn_layers,
    log_responses,
    patches,
)
from tests.runs import digest, disturb, interrupt_at  # noqa: E402

pytestmark = [  # of PyTorch itself
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Guards may run slower:RuntimeWarning"),
]

RANDOM = np.random.default_rng(0)
PAGE = (Path(__file__).parents[1] / "docs" / "pytorch.md").read_text()
KINDS = ((), (4,), (4, 4))  # of a width of four columns


def images(count=60, height=12, width=12, channels=()):
    """Noise with an edge in each image: upright in the first half, flat in the second."""
    x = np.random.default_rng(0).integers(0, 60, (count, height, width, *channels), dtype=np.uint8)
    x[: count // 2, :, width // 2 :] += 190
    x[count // 2 :, height // 2 :] += 190
    return x


def as_torch(x):
    """Images (n, height, width) or (n, height, width, channels) of bytes, as PyTorch has them."""
    x = x[..., None] if x.ndim == 3 else x
    return torch.from_numpy(x).movedim(-1, 1) / 255


def neurons_of(kind, K=7, D=4):
    """Centers, and widths or covariances."""
    centers, widths = RANDOM.normal(size=(K, D)), RANDOM.uniform(0.5, 2.0, (K, *kind[:1]))
    if len(kind) == 2:
        turns = np.linalg.qr(RANDOM.normal(size=(K, D, D)))[0]
        widths = turns @ (widths[:, :, None] * turns.transpose(0, 2, 1))
    return centers, widths


# ---- functions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_responses_are_those_of_numpy(kind):
    centers, widths = neurons_of(kind)
    x = np.concatenate([RANDOM.normal(size=(30, 4)), centers[:2]])
    given = [torch.from_numpy(it) for it in (x, centers, widths)]
    expected = responses.responses(x, centers, widths)
    np.testing.assert_allclose(log_responses(*given).exp(), expected, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(excess(*given), responses.excess(x, centers, widths), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", [log_responses, excess])
def test_gradients(kind, function):
    x = torch.from_numpy(RANDOM.normal(size=(3, 4))).requires_grad_()
    given = [torch.from_numpy(it) for it in neurons_of(kind, K=3)]
    given[0].requires_grad_()  # a center too
    assert torch.autograd.gradcheck(function, (x, *given))
    assert torch.autograd.gradgradcheck(function, (x, *given))


def test_responses_are_exact_far_from_the_origin_and_from_all_centers():
    x = (1000 + 0.01 * RANDOM.normal(size=(40, 9))).astype(np.float32)
    x[-1] = 1e30
    widths = np.full(5, 1e-3, np.float32)
    with np.errstate(over="ignore"):
        expected = responses.responses(x, x[:5], widths)
    given = [torch.from_numpy(it) for it in (x, x[:5].copy(), widths)]
    np.testing.assert_allclose(log_responses(*given).exp(), expected, rtol=1e-5, atol=1e-30)
    assert 0.1 < expected[5:].max() < 0.99
    assert (expected[-1] == 0).all()


def test_patches_are_those_of_unfold():
    x = torch.from_numpy(RANDOM.normal(size=(2, 3, 7, 8)))
    found = patches(x, (3, 2), (2, 3)).flatten(3)
    assert found.shape == (2, 3, 3, 18)
    columns = torch.nn.functional.unfold(x, (3, 2), stride=(2, 3))
    assert (found.flatten(1, 2) == columns.transpose(1, 2)).all()


# ---- a layer ----------------------------------------------------------------------------------------

ROWS = Mixture(6, seed=1, dtype=np.float64).read(4000)
GIVEN = {"width": 0.01, "domain": (0, 1), "random_state": 0}
MODELS = {
    "a width": GIVEN,
    "an automatic width": {"random_state": 0},
    "the domain of the data": {"width": 0.01, "random_state": 0},
    "diagonal": GIVEN | {"covariance_type": "diag"},
    "full": GIVEN | {"covariance_type": "full"},
    "scaled columns": {"scale": "columns", "random_state": 0},
    "the reference": GIVEN | {"backend": "reference", "n_neurons": 3},
}


def layer_of(dtype=torch.float64, n_neurons=8, **parameters):
    return GaussianLayer(ROWS.shape[1], n_neurons, dtype=dtype, **(parameters or GIVEN))


def test_responses_by_hand():
    """f = exp(-1/2), exp(-4/2) at the squared distances 1 and 4; the logarithms have the mean -5/4."""
    settings = {"init": [[0.0, 0.0], [3.0, 0.0]], "width": 2.0, "domain": (0, 3), "dtype": torch.float64}
    x = torch.tensor([[1.0, 0.0]])
    for activation, expected in {
        "response": [[np.exp(-0.5), np.exp(-2.0)]],
        "log": [[-0.5, -2.0]],
        "excess": [[0.75, 0.0]],
    }.items():
        np.testing.assert_allclose(GaussianLayer(2, 2, activation=activation, **settings)(x), expected)


def test_a_step_by_hand():
    """One neuron at 0, a sample at 1: the step of the rate 0.1 is 0.1 / e."""
    settings = {"init": [[0.0]], "width": 1.0, "domain": (0, 1), "learning_rate": 0.1, "dtype": torch.float64}
    layer = GaussianLayer(1, 1, **settings).learn(torch.ones(1, 1, dtype=torch.float64))
    assert layer.centers.item() == pytest.approx(0.1 / np.e)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_layer_learns_the_bits_of_partial_fit(kind, dtype):
    parameters = {"n_neurons": 8} | MODELS[kind]
    rows = ROWS[: 300 if kind == "the reference" else 4000].astype(dtype)
    model = GaussianNeurons(**parameters)
    layer = GaussianLayer(rows.shape[1], dtype=torch.from_numpy(rows).dtype, **parameters)
    for part in np.array_split(rows, [250, 260]):
        model.partial_fit(part)
        layer.learn(torch.from_numpy(part))
        expected = model.transform(rows[:50])
        np.testing.assert_allclose(layer(torch.from_numpy(rows[:50])), expected, rtol=1e-3, atol=1e-5)
    assert digest(layer.model) == digest(model)
    assert (layer.learned.numpy() == model.learned_).all()
    assert layer.n_clusters == model.n_clusters_
    assert layer.n_samples_seen == len(rows)
    np.testing.assert_allclose(layer.centers, model.centers_, rtol=1e-6)


def test_sample_widths_are_learned_from():
    parameters = GIVEN | {"width_learning_rate": 0.05, "learning_rate": 0.001}
    own = np.linspace(0.005, 0.02, len(ROWS))
    expected = digest(GaussianNeurons(8, **parameters).partial_fit(ROWS, sample_width=own))
    rows, own = torch.from_numpy(ROWS), torch.from_numpy(own)
    assert digest(layer_of(**parameters).learn(rows, own).model) == expected
    parts = rows.reshape(40, 100, -1), own.reshape(40, 100)
    assert digest(layer_of(**parameters).learn(*parts).model) == expected


def test_rows_of_any_memory_and_shape_teach_the_same():
    rows = torch.from_numpy(ROWS)
    expected = digest(layer_of().learn(rows).model)
    wide = torch.zeros(len(rows), 2 * rows.shape[1], dtype=rows.dtype)
    wide[:, ::2] = rows
    for same in (
        wide[:, ::2],
        rows.t().contiguous().t(),
        rows.reshape(40, 100, -1),
        rows.clone().requires_grad_(),
        rows.clone().requires_grad_() * 1.0,
        rows.flip(0).flip(0),
    ):
        assert digest(layer_of().learn(same).model) == expected
    layer = layer_of()
    for row in rows[:1100]:
        layer.learn(row)
    assert digest(layer.model) == digest(layer_of().learn(rows[:1100]).model)


def test_tensors_share_the_memory_of_the_model():
    layer = layer_of().learn(torch.from_numpy(ROWS))
    assert layer.centers.data_ptr() == layer.model._network.neurons.centers.ctypes.data
    assert layer.widths.data_ptr() == layer.model._network.neurons.widths.ctypes.data
    assert layer(torch.from_numpy(ROWS[:3])).dtype == torch.float64


@pytest.mark.parametrize("activation", ["response", "log", "excess"])
@pytest.mark.parametrize("kind", ["a width", "full", "scaled columns"])
def test_gradients_of_a_layer(activation, kind):
    layer = layer_of(n_neurons=4, activation=activation, **MODELS[kind]).learn(torch.from_numpy(ROWS[:500]))
    x = torch.from_numpy(ROWS[500:503]).requires_grad_()
    assert torch.autograd.gradcheck(layer, x)


def test_learning_leaves_a_graph_as_it_was():
    layer, x = layer_of(), torch.from_numpy(ROWS[:5]).requires_grad_()
    expected = torch.autograd.grad(layer(x).sum(), x)[0]
    y = layer(x)
    layer.learn(torch.from_numpy(ROWS))
    assert (torch.autograd.grad(y.sum(), x)[0] == expected).all()
    assert (torch.autograd.grad(layer(x).sum(), x)[0] != expected).any()


def test_gradients_pass_through_what_was_learned_in_inference_mode():
    with torch.inference_mode():
        layer = layer_of().learn(torch.from_numpy(ROWS))
    x = torch.from_numpy(ROWS[:3]).requires_grad_()
    assert torch.autograd.gradcheck(layer, x)


def test_the_seed_is_drawn_by_pytorch():
    def centers():
        return GaussianLayer(3, 4, width=1.0, domain=(0, 1)).centers

    torch.manual_seed(3)
    first, other = centers(), centers()
    torch.manual_seed(3)
    assert (centers() == first).all()
    assert (other != first).any()


# ---- precision and devices --------------------------------------------------------------------------


def test_precision_is_decided_by_the_first_sample():
    rows = torch.from_numpy(ROWS)
    plain = layer_of(torch.float32).learn(rows)
    assert digest(plain.model) == digest(layer_of(torch.float32).learn(rows.float()).model)
    assert digest(layer_of(torch.float32).double().learn(rows).model) == digest(layer_of().learn(rows).model)
    moved = layer_of(torch.float32).learn(rows[:1500]).double()
    assert moved(rows).dtype == torch.float64
    assert digest(moved.learn(rows[1500:]).model) == digest(plain.model)
    assert moved.centers.dtype == torch.float64


def test_half_precision_responds_and_learns_in_single():
    rows = torch.from_numpy(ROWS[:1500])
    layer = layer_of(torch.bfloat16, width=1.0, domain=(0, 1), random_state=0)
    assert layer.learn(rows.bfloat16())(rows.bfloat16()).dtype == torch.bfloat16
    assert layer.model.centers_.dtype == np.float32


def test_a_gpu_that_is_missing_is_named():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises((ModuleNotFoundError, OSError), match="backend='cuda' needs"):
        layer_of(width=1.0, backend="cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("backend", ["native", "cuda"])
def test_rows_on_a_gpu_teach_what_rows_of_the_host_teach(backend):
    rows = torch.from_numpy(ROWS).float()
    parameters = GIVEN | {"backend": backend}
    model = GaussianNeurons(8, **parameters).partial_fit(rows.numpy())
    layer = layer_of(torch.float32, **parameters).to("cuda").learn(rows.cuda())
    assert digest(layer.model) == digest(model)
    assert layer.centers.is_cuda
    assert layer.learned.is_cuda
    np.testing.assert_allclose(layer(rows[:9].cuda()).cpu(), model.transform(rows[:9].numpy()), rtol=1e-4)
    other = layer_of(torch.float32, **parameters)
    other.load_state_dict({name: it.cuda() for name, it in layer.state_dict().items()})
    assert digest(other.learn(rows.cuda()).model) == digest(model.partial_fit(rows.numpy()))


@pytest.mark.gpu
def test_rows_on_a_gpu_are_not_copied_to_learn_from_them(monkeypatch):
    rows, copied, received = torch.from_numpy(ROWS).float().repeat(9, 1), [], device.received

    def counted(array):
        copied.append(len(array))
        return received(array)

    monkeypatch.setattr(device, "received", counted)
    layer = layer_of(torch.float32, **GIVEN, backend="cuda").to("cuda")
    for part in (rows[:7], rows[7:].double(), rows[:5000:2]):
        layer.learn(part.cuda())
    assert max(copied) == 1000
    monkeypatch.undo()
    model = GaussianNeurons(8, **GIVEN, backend="cuda")
    for part in (rows, rows[:5000:2]):
        model.partial_fit(part.numpy())
    assert digest(layer.model) == digest(model)
    bad = rows[:50].clone()
    bad[17, 1] = torch.nan
    with pytest.raises(ValueError, match="got NaN at row 17, column 1"):
        layer.learn(bad.cuda())
    assert digest(layer.model) == digest(model)


# ---- files, copies, changes -------------------------------------------------------------------------


def through_a_state(layer):
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    other = layer_of(layer.centers.dtype, n_neurons=3, width=5.0)
    other.load_state_dict(torch.load(file, weights_only=True))
    return other


def through_a_pickle(layer):
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@pytest.mark.parametrize("copied", [through_a_state, through_a_pickle, copy.deepcopy])
@pytest.mark.parametrize("seen", [0, 300, 2000])
@pytest.mark.parametrize("kind", ["a width", "an automatic width"])
def test_copies_learn_on_with_the_same_bits(copied, seen, kind):
    rows = torch.from_numpy(ROWS)
    layer = layer_of(**MODELS[kind])
    if seen:
        layer.learn(rows[:seen])
    other = copied(layer)
    if seen:
        assert (other(rows) == layer(rows)).all()
    before = digest(layer.model)
    assert digest(other.model) == before
    other.learn(rows[seen:])
    assert digest(layer.model) == before
    assert digest(layer.learn(rows[seen:]).model) == digest(other.model)


def test_a_model_is_taken_out_and_put_in():
    layer = layer_of().learn(torch.from_numpy(ROWS[:2000]))
    model = layer.model.move_neurons(0, centers=[[0.5] * ROWS.shape[1]])
    assert (layer.centers[0] != 0.5).any()
    layer.model = model
    assert (layer.centers[0] == 0.5).all()
    model.partial_fit(ROWS[2000:])
    assert layer.n_samples_seen == 2000
    assert digest(layer.learn(torch.from_numpy(ROWS[2000:])).model) == digest(model)


def test_surplus_neurons_are_pruned():
    rows = torch.from_numpy(ROWS)
    layer = layer_of(n_neurons=20, **GIVEN).learn(rows)
    learned, before = layer.learned, layer(rows)
    assert 0 < learned.sum() < 20
    kept = layer.prune()
    assert (kept == learned.nonzero()[:, 0]).all()
    np.testing.assert_allclose(layer(rows), before[:, kept], rtol=1e-9)
    assert layer.n_neurons == len(kept)
    assert layer.learned.all()
    assert through_a_state(layer).n_neurons == len(kept)
    layer.learn(rows)


def test_nothing_is_left_if_nothing_was_learned():
    with pytest.raises(RuntimeError, match="no neuron has learned, so none would be left"):
        layer_of().prune()


# ---- a convolution ----------------------------------------------------------------------------------


def test_a_convolution_by_hand():
    """A neuron at the patch (1, 2; 4, 5) of 1 to 9: the other patches differ by 1, 3 and 4 in each number."""
    image = torch.arange(1.0, 10.0).reshape(1, 1, 3, 3)
    centers = [[1.0, 2.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0]]
    layer = GaussianConv2d(1, 2, 2, activation="log", width=4.0, init=centers, domain=(0, 9))
    found = layer(image)
    assert found.shape == (1, 2, 2, 2)
    np.testing.assert_allclose(found[0, 0], [[0, -1], [-9, -16]])
    np.testing.assert_allclose(found[0, 1, 0, 0], -(1 + 4 + 16 + 25) / 4)


def test_a_convolution_responds_as_a_layer_to_its_patches():
    x = torch.from_numpy(RANDOM.random((5, 3, 9, 8)))
    convolution = GaussianConv2d(3, 6, (3, 2), (2, 1), dtype=torch.float64, **GIVEN | {"width": 3.0})
    layer = GaussianLayer(18, 6, dtype=torch.float64, **GIVEN | {"width": 3.0})
    rows = torch.nn.functional.unfold(x, (3, 2), stride=(2, 1)).transpose(1, 2)
    np.testing.assert_allclose(convolution(x).flatten(2), layer(rows).transpose(1, 2), rtol=1e-9)
    kernel = convolution.centers.view(6, 3, 3, 2)
    products = torch.nn.functional.conv2d(x, kernel, stride=(2, 1)).flatten(2)
    np.testing.assert_allclose(products, rows.matmul(layer.centers.T).transpose(1, 2))


def test_a_convolution_learns_all_patches_in_their_order():
    x = torch.from_numpy(RANDOM.random((20, 2, 6, 5)).astype(np.float32))
    layer = GaussianConv2d(2, 6, 3, patches_per_image=None, **GIVEN | {"width": 3.0}).learn(x)
    rows = torch.nn.functional.unfold(x, 3).transpose(1, 2).reshape(-1, 18)
    model = GaussianNeurons(6, **GIVEN | {"width": 3.0}).partial_fit(rows.numpy())
    assert digest(layer.model) == digest(model)


def test_drawn_patches_are_patches_and_do_not_depend_on_the_calls():
    """Each number of an image is another one, so a patch tells where it is from."""
    x = torch.arange(30 * 2 * 7 * 6, dtype=torch.float32).reshape(30, 2, 7, 6) / 2520

    def made():
        return GaussianConv2d(2, 6, 3, (2, 1), patches_per_image=4, **GIVEN | {"width": 3.0})

    whole, parts = made().learn(x), made()
    for part in x.split([1, 9, 20]):
        parts.learn(part)
    assert digest(whole.model) == digest(parts.model)
    assert whole.n_samples_seen == 120
    all_patches = patches(x, (3, 3), (2, 1)).flatten(3)
    places = [np.flatnonzero((all_patches[k // 4] == row).all(-1)) for k, row in enumerate(drawn(whole))]
    assert {len(it) for it in places} == {1}
    assert {int(it[0]) for it in places} == set(range(12))  # of 3 x 4 places


def drawn(layer):
    """The patches that a layer learned from, in their order."""
    return torch.from_numpy(layer.model.recent_samples_.copy())


@pytest.mark.parametrize("normalize", [(), STEPS])
def test_gradients_of_a_convolution(normalize):
    x = torch.from_numpy(RANDOM.random((2, 2, 5, 5))).requires_grad_()
    settings = GIVEN | {"width": 9.0, "normalize": normalize, "n_directions": 5, "activation": "log"}
    layer = GaussianConv2d(2, 3, 3, 2, dtype=torch.float64, **settings).learn(x)
    assert torch.autograd.gradcheck(layer, x)


@pytest.mark.parametrize("normalize", [STEPS, ("contrast",), "whiten", ("length",)])
def test_patches_are_normalized_as_in_a_stack(normalize):
    x = as_torch(images(60, channels=(2,)))

    def made(K):
        settings = {"patches_per_image": None, "normalize": normalize, "n_directions": 7, "width": 0.5}
        return GaussianConv2d(2, K, 3, activation="excess", **settings)

    layer = made(6).learn(x)
    rows = torch.nn.functional.unfold(x, 3).transpose(1, 2).reshape(-1, 18).numpy()
    found = normalization(layer.normalize, rows, 7)
    model = GaussianNeurons(6, width=0.5, random_state=layer.model.random_state).partial_fit(
        found.teaching(rows)
    )
    np.testing.assert_allclose(layer.centers, model.centers_, atol=1e-5)
    expected = responses.excess(found(rows), layer.centers.numpy(), layer.widths.numpy())
    maps = layer(x).movedim(1, -1).reshape(-1, 6)
    np.testing.assert_allclose(maps, expected, rtol=1e-4, atol=1e-4 * expected.max())
    for other in (copy.deepcopy(layer), made(9)):
        other.load_state_dict(layer.state_dict())
        assert (other(x) == layer(x)).all()
        assert digest(other.learn(x[:20]).model) == digest(copy.deepcopy(layer).learn(x[:20]).model)


def test_flat_patches_teach_a_convolution_nothing():
    x = as_torch(images(40))
    layer = GaussianConv2d(1, 5, 3, patches_per_image=None, normalize="contrast").learn(x)
    seen, before = layer.n_samples_seen, digest(layer.model)
    assert seen <= 40 * 100
    assert digest(layer.learn(torch.full((3, 1, 12, 12), 0.5)).model) == before


# ---- networks ---------------------------------------------------------------------------------------


def network_of():
    first = GaussianConv2d(1, 6, 3, activation="excess", width=0.5, init="samples", random_state=0)
    second = GaussianConv2d(6, 5, 2, width=3.0, init="samples", random_state=1)
    return torch.nn.Sequential(torch.nn.Sequential(first, torch.nn.AvgPool2d(2)), second)


def test_layers_learn_one_after_the_other():
    x = as_torch(images(150))
    network, first = network_of(), network_of()[0][0]
    learn_layers(network, x.split(50))
    for part in x.split(50):
        first.learn(part)
    assert digest(network[0][0].model) == digest(first.model)
    second, pool = network_of()[1], torch.nn.AvgPool2d(2)
    second.learn(pool(first(x)))
    assert digest(network[1].model) == digest(second.model)
    other = network_of()
    other.load_state_dict(network.state_dict())
    assert (other(x) == network(x)).all()
    other = network_of()
    learn_layers(other, [x[:20]])
    assert [other[0][0].n_samples_seen, other[1].n_samples_seen] == [200, 200]


def test_layers_learn_at_once():
    x = as_torch(images(150))
    network, alone = network_of(), network_of()
    learn_layers(network, ((part, "label") for part in x.split(25)), at_once=True)
    learn_layers(alone[:1], x.split(25))
    assert digest(network[0][0].model) == digest(alone[0][0].model)
    assert [network[0][0].n_samples_seen, network[1].n_samples_seen] == [1500, 750]  # after 1000: 100 images


def test_a_network_trains_above_a_layer():
    """Backpropagation trains what is below and above neurons; these stay as they are."""
    torch.manual_seed(0)
    layer = layer_of(torch.float32).learn(torch.from_numpy(ROWS))
    network = torch.nn.Sequential(torch.nn.Linear(2, ROWS.shape[1]), layer, torch.nn.Linear(8, 1))
    x, before = torch.rand(64, 2), digest(layer.model)
    y = (x[:, :1] > x[:, 1:]).float()
    optimizer = torch.optim.Adam(network.parameters(), 0.05)
    losses = []
    for _ in range(60):
        loss = torch.nn.functional.mse_loss(network(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    assert digest(layer.model) == before


# ---- compilers --------------------------------------------------------------------------------------


def test_forward_is_compiled_as_one_graph():
    """It is traced with its gradient; what the layer learns later is seen."""
    layer = layer_of().learn(torch.from_numpy(ROWS[:1000]))
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    for _ in range(2):
        x = torch.from_numpy(ROWS[:20]).requires_grad_()
        one, other = compiled(x), layer(x)
        np.testing.assert_allclose(one.detach(), other.detach(), rtol=1e-12)
        gradients = [torch.autograd.grad(it.sum(), x)[0] for it in (one, other)]
        np.testing.assert_allclose(*gradients, rtol=1e-12)
        layer.learn(torch.from_numpy(ROWS[1000:]))


def test_forward_is_exported_for_any_number_of_images():
    network, x = network_of(), as_torch(images(120))
    learn_layers(network, x.split(120))
    shapes = ({0: torch.export.Dim("n")},)
    exported = torch.export.export(network, (x[:5],), dynamic_shapes=shapes).module()
    np.testing.assert_allclose(exported(x[:9]), network(x[:9]), rtol=1e-5)
    module = from_stack(stack_of(("contrast", "whiten", "length")))
    exported = torch.export.export(module, (x[:5],), dynamic_shapes=shapes).module()
    np.testing.assert_allclose(exported(x[:9]), module(x[:9]), rtol=1e-5)


# ---- errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GaussianLayer(0), "in_features must be a whole number of at least 1, got 0"),
        (lambda: GaussianLayer(2, 0), "n_neurons must be a whole number of at least 1"),
        (lambda: GaussianLayer(2, width=-1.0), "width must be positive"),
        (lambda: GaussianLayer(2, activation="exp"), "one of 'response', 'log', 'excess', got 'exp'"),
        (lambda: GaussianLayer(2, dtype=torch.int64), "dtype must be a floating-point type"),
        (lambda: GaussianConv2d(1, 3, (1, 2, 3)), "kernel_size must be a whole number or a pair"),
        (lambda: GaussianConv2d(1, 3, width=1.0, width_learning_rate=0.1), "patches have no sample_width"),
        (lambda: GaussianConv2d(1, 3, patches_per_image=0), "patches_per_image must be a whole number"),
        (
            lambda: GaussianConv2d(1, 3, normalize="centre"),
            "one of 'contrast', 'whiten', 'length', got 'centre'",
        ),
        (
            lambda: GaussianConv2d(1, 3, 2).load_state_dict(GaussianLayer(4, 3).state_dict()),
            "must be that of a GaussianConv2d .* got that of a GaussianLayer",
        ),
        (
            lambda: GaussianConv2d(1, 3, 2).load_state_dict(GaussianConv2d(4, 3, 1).state_dict()),
            "must be that of a GaussianConv2d with .'in_channels': 1.* got .'in_channels': 4",
        ),
        (
            lambda: GaussianLayer(4, 3).load_state_dict(GaussianConv2d(1, 3, 2).state_dict()),
            "the state of the layer is not a complete model",
        ),
        (lambda: layer_of()(torch.zeros(3, 9)), r"x must have the shape \(..., 2\), got \(3, 9\)"),
        (lambda: layer_of().learn(torch.zeros(3, 2, dtype=torch.int64)), r"got torch.int64: use x.float\(\)"),
        (lambda: layer_of().learn(torch.full((3, 2), torch.nan)), "NaN"),
        (lambda: learn_layers([torch.nn.Linear(2, 2)], []), "must contain a GaussianLayer"),
        (lambda: learn_layers([Pair()], []), "Pair contains layers that learn"),
        (lambda: learn_layers(network_of(), iter([])), "read only once"),
        (lambda: learn_layers(network_of(), []), "at least one tensor, got none"),
        (lambda: layer_of().learn(torch.zeros(0, 2)), "nothing to learn from: the batch is empty"),
        (lambda: layer_of().learn(torch.zeros(3, 2).to_sparse()), r"use x.to_dense\(\)"),
        (
            lambda: GaussianConv2d(1, 3, 2, **GIVEN).learn(torch.full((1, 1, 3, 3), torch.inf)),
            "images must hold finite",
        ),
        (lambda: setattr(layer_of(), "model", GaussianNeurons(3)), "model has learned nothing"),
        (
            lambda: setattr(layer_of(), "model", GaussianNeurons(3).partial_fit(np.zeros((5, 7)))),
            "learned from 7 columns, but the layer has 2",
        ),
        (lambda: layer_of().set_extra_state(torch.zeros(99, dtype=torch.uint8)), "the state of the layer"),
        (
            lambda: layer_of().load_state_dict(GaussianLayer(7, **GIVEN).state_dict()),
            "learned from 7 columns, but the layer has 2",
        ),
    ],
)
def test_values_that_are_invalid(call, message):
    with pytest.raises(ValueError, match=message):
        call()


class Pair(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = layer_of()


@pytest.mark.parametrize(
    "call",
    [
        lambda layer: layer(torch.zeros(3, 2)),
        lambda layer: layer.learned,
        lambda layer: layer.n_clusters,
        lambda layer: layer.prune(),
    ],
)
def test_a_layer_without_neurons(call):
    with pytest.raises(RuntimeError, match="no neurons yet, since data decides where they start"):
        call(GaussianLayer(2))
    with pytest.raises(RuntimeError, match="first images decide the normalization"):
        GaussianConv2d(1, 3, 3, normalize="length", **GIVEN)(torch.zeros(2, 1, 5, 5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: layer_of()(np.zeros((3, 2))), "x must be a tensor, got ndarray"),
        (lambda: from_stack(3), r"stack must be a gaussian_neurons\.stack\.Stack, got int"),
        (lambda: setattr(layer_of(), "model", 3), "model must be GaussianNeurons, got int"),
        (lambda: GaussianLayer(2, widht=1.0), "GaussianLayer has no parameter 'widht'"),
        (lambda: learn_layers(network_of(), torch.zeros(3, 1, 9, 9)), r"use x.split\(1000\), or \[x\]"),
    ],
)
def test_values_of_the_wrong_kind(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_the_programs_of_the_page_run(capsys):
    names = {}
    for program in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(program, names)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "tensor(3) of 10 neurons found a cluster"
    assert int(re.match(r"(\d+)% of the other images", lines[2])[1]) > 80
    assert float(lines[3]) < 1e-5
    assert lines[4] == "tensor(True)"


def test_a_missing_pytorch_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "gaussian_neurons.torch")
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'gaussian-neurons\[torch\]'"):
        importlib.import_module("gaussian_neurons.torch")


def test_an_interrupt_leaves_whole_samples():
    layer = layer_of()
    with pytest.raises(KeyboardInterrupt), interrupt_at(layer._model, 1000):
        layer.learn(torch.from_numpy(ROWS))
    seen = layer.n_samples_seen
    assert 1000 <= seen < len(ROWS)
    assert (layer.centers.numpy() == layer.model.centers_).all()
    assert digest(layer.model) == digest(layer_of().learn(torch.from_numpy(ROWS[:seen])).model)


def test_an_error_leaves_a_convolution_as_it_was():
    layer = GaussianConv2d(1, 3, 3, normalize=STEPS)
    with disturb(GaussianNeurons, "partial_fit", MemoryError()), pytest.raises(MemoryError):
        layer.learn(as_torch(images(30)))
    with pytest.raises(RuntimeError, match="first images decide the normalization"):
        layer(as_torch(images(3)))


def test_an_error_leaves_a_layer_as_it_was():
    layer = layer_of().learn(torch.from_numpy(ROWS))
    before, centers = digest(layer.model), layer.centers
    rows = torch.from_numpy(ROWS.copy())
    rows[-1, 0] = np.nan
    with pytest.raises(ValueError, match="row 3999"):
        layer.learn(rows)
    assert digest(layer.model) == before
    assert layer.centers is centers


# ---- a Stack ----------------------------------------------------------------------------------------


def stack_of(normalize, channels=(), grid=2, **parameters):
    parameters = {"width": 0.3, "init": "samples", "inhibition": 0.1} | parameters
    layers = [
        Layer(GaussianNeurons(6, **parameters), kernel_size=3, pool=2, normalize=normalize),
        Layer(GaussianNeurons(5, **parameters), kernel_size=2, stride=2, normalize=normalize, n_directions=9),
    ]
    return Stack(layers, n_samples=1500, grid=grid, random_state=0).fit(images(channels=channels))


@pytest.mark.parametrize(
    "normalize", [("contrast", "whiten", "length"), ("contrast",), ("length",), ("whiten",), ()]
)
@pytest.mark.parametrize("channels", [(), (3,)])
def test_a_stack_gives_the_same_features(normalize, channels):
    stack = stack_of(normalize, channels)
    x = images(20, channels=channels)
    found, expected = from_stack(stack)(as_torch(x)), stack.transform(x)
    assert expected.max() > 0.1
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * expected.max())


@pytest.mark.parametrize(
    "parameters",
    [{"width": "auto", "init": "auto", "inhibition": "auto"}, {"width": 0.3, "covariance_type": "diag"}],
)
def test_a_stack_with_widths_of_its_own_gives_the_same_features(parameters):
    stack = stack_of(("length",), grid=1, **parameters)
    found, expected = from_stack(stack)(as_torch(images(20))), stack.transform(images(20))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * expected.max())


def test_gradients_of_a_stack():
    module = from_stack(stack_of(("contrast", "whiten", "length"))).double()
    x = as_torch(images(2)).double().requires_grad_()
    assert torch.autograd.gradcheck(module, x, fast_mode=True)
    assert not any(it.requires_grad for it in module.parameters())
    module.requires_grad_()(x).sum().backward()
    assert all((it.grad != 0).any() for it in module.parameters())


def test_a_stack_that_has_not_learned():
    with pytest.raises(ValueError, match="call fit or partial_fit first"):
        from_stack(Stack([Layer(GaussianNeurons(3))]))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (torch.zeros(2, 12, 12, 1), r"must have the shape \(n, 1, height, width\), got \(2, 12, 12, 1\)"),
        (torch.zeros(2, 1, 12, 12, dtype=torch.uint8), "got torch.uint8: divide bytes by 255"),
        (torch.zeros(2, 1, 2, 12), "at least 3 x 3"),
    ],
)
def test_images_that_a_stack_does_not_take(x, message):
    with pytest.raises(ValueError, match=message):
        from_stack(stack_of(()))(x)
