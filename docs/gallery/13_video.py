"""
Frames of a video
=================

A sample is the mean of a patch over successive frames, and its width is twice their variance: small at a
place where nothing moves, large where something does. Neurons adapt their widths to it.
"""

import matplotlib.pyplot as plt

from gaussian_neurons import GaussianNeurons, plotting
from gaussian_neurons.datasets.synthetic import MovingDigits
from gaussian_neurons.sampling import Frames

video = MovingDigits(side=24, seed=1, life=60).video(3000)
stream = Frames(video, size=5, frames=9, seed=0, noise=0.1)
model = GaussianNeurons(
    9, width=6.0, width_learning_rate=0.1, learning_rate=0.1, domain=(0, 1), random_state=0
)
model.learn(stream, 100_000)

figure = plt.figure(figsize=(9, 4), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(1, 1.2))
for number, place in enumerate(left.subplots(3, 3).flat):
    place.imshow(video[3 * number], cmap="gray")
    place.axis("off")
axes = right.subplots()
plotting.filters(axes, model.centers_, (5, 5), model.learned_)
axes.set_title("widths " + ", ".join(f"{width:.1f}" for width in model.widths_[model.learned_]))
plt.show()
