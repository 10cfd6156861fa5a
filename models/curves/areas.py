"""What a learning-rate schedule did to a run by each reading: how far it trained, and how far it annealed."""

import numpy as np

# The curves of `schedule_curves` fit best near these, whichever size is left out: `evidence/curves.py`. Tissue et al.
# (2024) have a memory of 1,000 steps and a power of 1.
MEMORY = 300.0  # steps over which a fall of the rate takes effect
POWER = 0.7  # of the rate, with which training progresses: steps at a low rate do more than their share


def areas(clock, rate, *, memory=MEMORY, power=POWER, peak=None, before=None):
    """Return the area under a power of the rate, and the annealing, at each reading of a run, (reading,) each.

    The clock has steps, or tokens, ascending; before the first reading the rate is taken to rise linearly from zero.
    The area is of the rate's share of its `peak`, by default the largest rate, to the `power`. Annealed are the falls
    of that share so far less its rises, each in effect by ``1 - exp(-t / memory)`` after a time t; a memory of 0 has
    them take effect at once. Before the peak nothing is annealed. Of a run after its peak, `before` has the area and
    the annealing at the first reading.

    Examples
    --------
    >>> area, annealed = areas([0, 100, 200], [1, 1, 0], memory=0)
    >>> area.tolist(), annealed.round(6).tolist()
    ([0.0, 100.0, 150.0], [0.0, 0.0, 1.0])

    References
    ----------
    Tissue, Wang and Wang (2024), Scaling law with learning rate annealing, arXiv 2408.11029.
    """
    clock, share = np.asarray(clock, float), np.asarray(rate, float) / (np.max(rate) if peak is None else peak)
    gaps, memory = np.diff(clock), max(memory, 1e-9 * clock[-1])
    risen = before is not None or np.arange(len(share)) >= share.argmax()
    total = np.where(risen, 1.0 - share, 0.0)
    speed = share**power
    start, done = (speed[0] * clock[0] / (1 + power), 0.0) if before is None else before
    area = start + np.concatenate([[0.0], np.cumsum(gaps * (speed[1:] + speed[:-1]) / 2)])
    pending = [total[0] - done]
    for gap, fall in zip(gaps, np.diff(total), strict=True):
        left = np.exp(-gap / memory)
        # Of a fall that is even over the gap this is still pending at its end.
        pending.append(pending[-1] * left + fall * memory * (1 - left) / gap)
    return area, total - np.array(pending)
