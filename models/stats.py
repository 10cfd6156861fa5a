"""SciPy's distributions, imported on first use: that takes half a second, which help and refusals need not wait for."""


def __getattr__(name):
    import scipy.stats

    return getattr(scipy.stats, name)
