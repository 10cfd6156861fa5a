"""The work of a run, and the time that a GPU needs for it at least: by arithmetic, by memory and by launches."""

from typing import NamedTuple

# Share of a device's peak that training is assumed to reach, for hours. On a CPU, models of width 64 reach .4. From
# width 384 on they reach .85.
SHARE = 0.4
# Assumed for a GPU, since none was measured: seconds to launch a kernel, and kernels of a layer in an update. What a
# layer holds for its gradients is read or written so many times.
LAUNCH, LAUNCHES, STATE_PASSES = 6e-6, 60, 3


class Work(NamedTuple):
    """Work of a run: FLOP of matrix products, bytes read and written, launches of kernels, and FLOP of its test."""

    flop: float
    traffic: float
    launches: float
    test_flop: float = 0.0

    def seconds(self, ceiling, *, on_gpu):
        """Estimate the seconds that it takes at a `Ceiling`: the most of three on a GPU, arithmetic alone on a CPU."""
        arithmetic = self.flop / ceiling.flop_per_second / SHARE
        test = self.test_flop / ceiling.flop_per_second / SHARE
        if not on_gpu:
            return arithmetic + test
        return max(arithmetic, self.traffic / ceiling.bytes_per_second, self.launches * LAUNCH) + test
