# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # A sensor stream with drift and novelties
#
# A machine has four states. Three sensors measure it ten times a second: temperature, pressure and
# vibration. The temperature of all states drifts upward during the day. In the afternoon there is a new
# state that nobody knew, and now and then a single reading is broken. The model knows none of this.

# %%
import matplotlib.pyplot as plt
import numpy as np

from gaussian_neurons import GaussianNeurons

COLUMNS = ["temperature, °C", "pressure, kPa", "vibration, mm/s"]
STATES = np.array(
    [
        [40.0, 101.0, 0.2],  # idle
        [55.0, 180.0, 1.1],  # running
        [62.0, 240.0, 1.6],  # full load
        [48.0, 140.0, 2.6],  # cleaning
        [70.0, 150.0, 0.6],  # new in the afternoon
    ]
)
NOISE = np.array([0.6, 4.0, 0.08])
ROWS, NEW = 40_000, 25_000


# %% [markdown]
# The state changes every few seconds. Broken readings are one in a thousand.

# %%
random = np.random.default_rng(0)
blocks = []
for begin in range(0, ROWS, 50):
    blocks += [random.integers(5 if begin >= NEW else 4)] * 50
state = np.array(blocks)
X = STATES[state] + NOISE * random.normal(size=(ROWS, 3))
X[:, 0] += 6.0 * np.arange(ROWS) / ROWS
broken = random.random(ROWS) < 0.001
X[broken] = random.uniform([0, 50, 0], [120, 400, 5], size=(broken.sum(), 3))

# %% [markdown]
# ## Learn, row by row
#
# The columns have different units, so the model gets `scale="columns"`. Before rows are learned, they are
# asked whether they are novel, and which cluster they belong to.

# %%
model = GaussianNeurons(30, scale="columns", random_state=0)
cluster = np.full(ROWS, -1)
novel = np.zeros(ROWS, bool)
for begin in range(0, ROWS, 100):
    rows = slice(begin, begin + 100)
    if begin >= 1000:
        cluster[rows] = model.predict(X[rows])
        novel[rows] = model.is_novel(X[rows], false_alarms=0.001)
    model.partial_fit(X[rows])
print(model.n_clusters_, "clusters after", f"{model.n_samples_seen_:,}", "rows")

# %%
figure, axes = plt.subplots(4, 1, figsize=(10, 7), layout="constrained", sharex=True)
t = np.arange(ROWS)
for column, (name, place) in enumerate(zip(COLUMNS, axes[:3], strict=True)):
    colours = plt.get_cmap("tab10")(cluster % 10)
    colours[cluster < 0] = 0.8
    place.scatter(t[::5], X[::5, column], s=1, c=colours[::5])
    place.set_ylabel(name, fontsize=8)
axes[3].plot(t, np.convolve(novel, np.ones(200) / 200, "same"), color="tab:red", lw=1)
axes[3].set(ylabel="part of novel rows", xlabel="row")
for place in axes:
    place.axvline(NEW, color="0.5", ls=":")
plt.show()

# %% [markdown]
# Colours are the clusters that rows belonged to before they were learned. At the dotted line the fifth
# state begins: its first rows are novel, and then it is a cluster with a number of its own.
#
# ## What was reported

# %%
for event in model.events_:
    if event.samples >= 5000:
        center = np.round(event.center, 1)
        print(f"{event.samples:6,}  {event.kind:9} cluster {event.cluster}  {center}  {event.reason}")

# %% [markdown]
# The drift is reported as moves, and the new state as a birth, once two reviews have shown it. How good are
# the alarms?

# %%
usual = (t >= 5000) & (state < 4) & ~broken
print(f"{novel[usual].mean():.2%} of the usual rows were called novel; 0.10% were asked for")
late = broken & (t >= 5000)
print(f"{novel[late].mean():.0%} of {late.sum()} broken readings were novel")
fifth = np.flatnonzero((state == 4) & ~broken)
print(f"{novel[fifth[:50]].mean():.0%} of the first 50 rows of the new state were novel")

# %% [markdown]
# ## Stop and go on
#
# In practice `learn` takes the stream as a whole, writes a checkpoint, and calls functions of yours. The
# same lines go on after a crash, and give the same bits as without it.

# %%
import tempfile
from pathlib import Path

path = Path(tempfile.mkdtemp()) / "machine.safetensors"


def run(n_samples=None):
    model = GaussianNeurons(30, scale="columns", random_state=0)
    return model.learn(X, n_samples, checkpoint=path, every=5000, progress=False)


run(17_000)  # stopped here
again = run()
print("the same bits:", np.array_equal(again.centers_, model.centers_))

# %% [markdown]
# For a file that grows, the command `gaussian-neurons follow` does all of this: see [alerts from a file
# that grows](../alerting.md).
