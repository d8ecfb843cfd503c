"""An extension of Figure 5f: fifty neurons on colour patches adapt diagonal or full covariances."""

from dataclasses import dataclass, replace

from gaussian_neurons.experiments import covariances, figure5f

run = covariances.run
draw = covariances.draw


@dataclass(frozen=True)
class Config(figure5f.Config):
    """The settings of Figure 5f, with far fewer samples: full covariances in 75 dimensions are slow."""

    n_samples: int = 10_000
    starts: tuple[float, ...] = (figure5f.Config.width,)


EXPERIMENT = replace(
    covariances.EXPERIMENT,
    name="covariances-5f",
    title="Figure 5f with covariances",
    config=Config(),
    data="cifar10",
    seconds=21,
    samples=30_000,
    note=covariances.NOTE.format(figures="5f", samples=Config.n_samples),
    quantities=covariances.quantities(Config.starts),
)
