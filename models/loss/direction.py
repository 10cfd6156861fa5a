"""What sizes of rows tell apart, and which way a quantity moves with each: what a law needs, and what it refuses."""

import math
from dataclasses import dataclass

import numpy as np

from ...datasets.deferred import special
from ...datasets.fixes import ANY, Fix
from ...datasets.wording import command, listed, p_value
from ...errors import InputError
from .budget import SIZES

LOSS = "loss"  # what falls; other laws observe a size
FALLS_IN = (*SIZES, "tokens", "training_flop")
RISING, LIKELY = 0.5, 0.01  # rank correlation and its p, from which on a quantity rises; our choice
FLAT, UNLIKELY = -0.5, 0.1  # rank correlation and p of a fall, above which rows show none
APART = 1e-6  # share of the variance of ranks that other columns must leave
PROPORTIONAL = 0.02  # relative scatter of tokens about a power of the size, below which they follow from it
FEWEST_ROWS = 6  # that the Chinchilla law carries, with normal noise of one scatter


@dataclass(frozen=True)
class RankCorrelation:
    """A rank correlation r; its probabilities are those of Student's t, and not below that of one order of the rows."""

    r: float
    free: int
    rows: int

    def p_rise(self):
        """Return the probability of at least this r where there is no rise."""
        return self._beyond(-self.r)

    def p_fall(self):
        """Return the probability of at most this r where there is no fall."""
        return self._beyond(self.r)

    def _beyond(self, r):
        t = r * math.sqrt(self.free / max(1 - r * r, 1e-15))
        return max(float(special.stdtr(self.free, t)), 1 / math.factorial(min(self.rows, 20)))


def partial_rank_correlation(rows, column, others, observed):
    """Compute the rank correlation of what is observed with a column at fixed others, None where these determine it.

    Ranks of both are regressed on the ranks of the other columns; the residuals are correlated.
    """
    x, y = (rows[name].rank().to_numpy() for name in (column, observed))
    design = np.column_stack([np.ones(len(rows)), *(rows[name].rank() for name in others)])
    q, _ = np.linalg.qr(design)
    residuals = [z - q @ (q.T @ z) for z in (x, y)]
    free = len(rows) - design.shape[1] - 1
    sizes = [np.linalg.norm(z) for z in residuals]
    if free < 1 or any(size**2 <= APART * len(rows) * z.var() for size, z in zip(sizes, (x, y), strict=True)):
        return None
    return RankCorrelation(float(np.clip(residuals[0] @ residuals[1] / np.prod(sizes), -1, 1)), free, len(rows))


def directions(law, rows):
    """Return the partial rank correlations of the columns in which a law falls, by column.

    Where columns determine each other they are correlations with each alone, if what is observed rises with all.
    """
    columns = [name for name in law.columns if name in FALLS_IN and law.observed == LOSS]

    def correlations(others):
        return {x: partial_rank_correlation(rows, x, [y for y in others if y != x], law.observed) for x in columns}

    results = correlations(columns)
    if all(results.values()):
        return results
    alone = {column: result for column, result in correlations([]).items() if result is not None}
    return alone if all(result.r > 0 for result in alone.values()) else {}


def _proportional(law, rows):
    """Return the power of the size that tokens follow in every row, None where they do not or fall with it."""
    size = next((name for name in SIZES if name in law.columns), None)
    if law.observed != LOSS or not {size, "tokens"} <= {*law.columns} or rows[size].nunique() < 2:
        return None
    n, d = (np.log(rows[name].to_numpy(float)) for name in (size, "tokens"))
    slope, level = np.polyfit(n, d, 1)
    return slope if slope > 0 and np.std(d - slope * n - level) < PROPORTIONAL else None


def check_apart(law, rows, place):
    """Refuse rows in which tokens grow as a power of the size, so that nothing tells what each of them does."""
    if (power := _proportional(law, rows)) is not None:
        raise refusal(
            f"{place}: tokens grow as the parameters to the power {power:.2f} in every row, so that rows cannot tell "
            "what either does; add runs of other tokens",
            *(law, rows, place),
        )


def refusal(sentence, law, rows, place):
    """Return an error of rows that do not carry a law, with what they carry as a way out of it."""
    if law.observed != LOSS:
        return InputError(sentence)
    both = all(column in rows and rows[column].nunique() > 1 for column in ("parameters", "tokens"))
    if both and _proportional(law, rows) is None and len(rows) >= FEWEST_ROWS and law.name != "chinchilla":
        options = ", with the options that read it" if rows.attrs.get("reading") else ""
        fix, name = Fix(formula="chinchilla"), ["chinchilla"]
        what = "chinchilla, which these rows carry"
    else:
        options, fix, name, what = "", Fix(formula=ANY), [], "the formula that these rows carry"
    way = command("fit", *name, "--data", place)
    return InputError(f"{sentence}, or fit {what}: {way}{options}", sentence, {f"Fit {what}": fix})


def check_falls(law, rows, place):
    """Refuse a quantity that rises with a size at equal others, with the laws that describe one."""
    for column, correlation in law.directions(rows).items():
        if correlation.r > RISING and (p := correlation.p_rise()) < LIKELY:
            sentence = (
                f"{place}: {_moves(law, column, 'rises')} (rank correlation {correlation.r:.2f}, {p_value(p)}), and "
            )
            sentence += f"the {law.name} law only falls"
            fix = {"A score is fitted by a formula": Fix(formula=ANY)}
            way = command("fit", "--data", place)
            raise InputError(f"{sentence}; a score is fitted by a formula: {way}", sentence, fix)


def flat(law, rows):
    """Return a sentence for each size with which what is observed does not fall in the rows, at equal others."""
    return [
        f"{_moves(law, column, 'does not fall')} in these rows (rank correlation {of.r:.2f}, {p_value(of.p_fall())}): "
        "they tell little of its exponent, which the prior decides"
        for column, of in law.directions(rows).items()
        if of.r > FLAT and of.p_fall() > UNLIKELY
    ]


def _moves(law, column, verb):
    others = [name for name in law.columns if name in FALLS_IN and name != column]
    return f"the {law.observed} {verb} with {column}{f' at equal {listed(others)}' if others else ''}"
