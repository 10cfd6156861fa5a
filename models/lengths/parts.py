"""The parts of the law of lengths: how counts are tested."""

import numpy as np

from ..contrasts import Contrast, bin_levels, ordinals, slopes
from ..parts import Tests


class LengthsTests(Tests):
    """How counts test the law of lengths."""

    share_of = "the problems"
    tolerance = 0.05

    def contrasts(self, rows):
        """Return means of cells by length and embedding, within and beyond training, and shorter operands' slopes."""
        a, b = (rows[name].to_numpy(float) for name in ("length_a", "length_b"))
        longer = np.maximum(a, b)
        lengths = bin_levels(longer)
        beyond = np.where(longer > rows["train_digits"].to_numpy(float), "beyond", "within").astype(object)
        named, embedding = ordinals(lengths, "length"), rows["embedding"].astype(str).to_numpy(object)
        contrasts = {
            "means by length": Contrast.of_means(lengths, "bins of the longer operand", named),
            "means by embedding": Contrast.of_means(
                embedding + beyond,
                "embeddings, within and beyond the lengths of training",
                "embedding " + embedding + ", " + beyond + " the lengths of training",
            ),
        }
        within = slopes(lengths, np.log(np.minimum(a, b) / longer))
        if len(within):
            what = f"slope of z in the log of shorter over longer operand in each of {len(within)} bins of the longer"
            contrasts["slopes by shorter operand"] = Contrast(what, within).named(named)
        return contrasts
