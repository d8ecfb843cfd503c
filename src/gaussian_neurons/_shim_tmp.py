import numpy as np

from gaussian_neurons import _core

if not hasattr(_core, "learn"):

    def learn(centers, widths, samples, sample_widths, first, seen, lr, inh, wlr, every, lists=True):
        s = np.array([seen], np.int64)
        L = (_core.LearningSingle if centers.dtype == np.float32 else _core.LearningDouble)(
            centers, widths, s, lr, inh, wlr, every, sample_widths is not None, lists
        )
        trouble, row, where = L.learn(samples, sample_widths, first)
        return ["", "value", "width", "neuron"].index(trouble), row, where

    _core.learn = learn
