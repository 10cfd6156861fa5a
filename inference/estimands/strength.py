"""Grade how strong an answer is: one rule, of eight facts, the grade the worst of them.

    ============= ========================================== ==================== ==================== =================
    fact          what it is                                 strong               fair                 weak
    ============= ========================================== ==================== ==================== =================
    chains        whether every fit converged                yes                                       no
    law           result of `Fit.check`                      fits                 off: misfit below    does not fit
                                                                                  its tolerance
    width         upper over lower end of the quoted 95%     at most 1.5          at most 3            larger, or no end
                  interval
    sensitivity   largest over smallest median of the stated at most 1.25         at most 2            larger
                  alternatives and the answer
    extrapolation decades of compute, or of the one size,    0                    at most 1            more
                  outside the data
    direction     least probability of a claimed direction   at least 0.975       at least 0.9         less
                  over the stated alternatives
    share         lower end of the 95% interval of a share   at least 0.75        at least 0.4         less, or interval
                  of cases, such as runs that lie within                                               below the nominal
                  their intervals                                                                      share
    guess         whether something is taken for granted     no                   yes
                  that may be otherwise
    ============= ========================================== ==================== ==================== =================

The limits are our choice, made before the answers were graded; those of a share were chosen later. A fact that an
answer does not have is left out.
"""

import math
from typing import NamedTuple

from ..checks.verdict import FITS, NOT, OFF
from ..comparison.scoring import binomial_interval
from ..words import flop

STRONG, FAIR, WEAK = "strong", "fair", "weak"
GRADES = (STRONG, FAIR, WEAK)
WIDTH, SENSITIVITY, EXTRAPOLATION, DIRECTION = (1.5, 3.0), (1.25, 2.0), (0.0, 1.0), (0.975, 0.9)
SHARE = (0.75, 0.4)


class Facts(NamedTuple):
    """Facts about an answer, as the table above has them; None for what it does not have.

    ``p`` and ``size`` are the least p of the tests of a law and the size of the misfit of those that reject it, as a
    share. An infinite width has no upper end. ``direction`` has the least and largest probability of the claimed
    direction over the stated alternatives. ``share`` has the cases in which the claim holds, all cases, and the share
    that is nominal. ``compute`` is the FLOP that the answer is about. ``row`` is what a row of the table is called.
    ``guessed`` says in words what is taken for granted.
    """

    chains: bool
    verdict: str | None = None
    p: float | None = None
    size: float | None = None
    width: float | None = None
    sensitivity: float | None = None
    decades: float | None = None
    direction: tuple | None = None
    share: tuple | None = None
    compute: float | None = None
    row: str = "run"
    guessed: str | None = None


def width(q):
    """Return the ratio of the ends of an interval; infinite where it has no finite positive ends."""
    low, high = q["q2.5"], q["q97.5"]
    return high / low if low is not None and high is not None and low > 0 else float("inf")


def grades(facts):
    """Grade each fact of an answer: dict of str to str.

    Examples
    --------
    >>> grades(Facts(chains=True, verdict="off", p=1e-5, size=0.003, width=2.0, decades=0.0))
    {'chains': 'strong', 'law': 'fair', 'width': 'fair', 'extrapolation': 'strong'}
    """
    graded = {"chains": STRONG if facts.chains else WEAK}
    if facts.verdict is not None:
        graded["law"] = {FITS: STRONG, OFF: FAIR, NOT: WEAK}[facts.verdict]
    limits = {
        "width": (facts.width, WIDTH),
        "sensitivity": (facts.sensitivity, SENSITIVITY),
        "extrapolation": (None if facts.decades is None else abs(facts.decades), EXTRAPOLATION),
    }
    for name, (value, (strong, fair)) in limits.items():
        if value is not None:
            graded[name] = STRONG if value <= strong else FAIR if value <= fair else WEAK
    if facts.direction is not None:
        graded["direction"] = grade_of_direction(facts.direction[0])
    if facts.share is not None:
        graded["share"] = grade_of_share(*facts.share)
    return graded | ({"guess": FAIR} if facts.guessed else {})


def grade_of_direction(probability):
    """Grade a direction by its least probability over the stated alternatives.

    Examples
    --------
    >>> grade_of_direction(0.93)
    'fair'
    """
    strong, fair = DIRECTION
    return STRONG if probability >= strong else FAIR if probability >= fair else WEAK


def grade_of_share(hits, count, nominal):
    """Grade a share of cases by the 95% interval that their number leaves.

    Examples
    --------
    >>> grade_of_share(7, 9, 0.9), grade_of_share(57, 62, 0.9), grade_of_share(0, 0, 0.9)
    ('fair', 'strong', 'weak')
    """
    low, high = binomial_interval(hits, count)
    strong, fair = SHARE
    return WEAK if low < fair or high < nominal else STRONG if low >= strong else FAIR


def strength(facts):
    """Return the worst grade of the facts of an answer.

    Examples
    --------
    >>> strength(Facts(chains=True, width=1.2, direction=(0.93, 0.99)))
    'fair'
    """
    return max(grades(facts).values(), key=GRADES.index)


def reasons(facts):
    """Name in plain words what prevents an answer from being strong, the worst first: a list of str."""
    words = {"chains": "not every chain converged", "law": "the rows reject the law", "guess": facts.guessed}
    if facts.size is not None:
        words["law"] = f"the law misses its rows by {100 * facts.size:.2g}% on average"
    if facts.width is not None:
        spans = f"the interval spans a factor of {facts.width:.2g}"
        words["width"] = spans if facts.width < float("inf") else "the interval has no upper end"
    if facts.sensitivity is not None:
        words["sensitivity"] = f"alternatives differ by a factor of {facts.sensitivity:.2g}"
    if facts.decades is not None:
        side = f"above the largest fitted {facts.row}" if facts.decades > 0 else f"below the smallest {facts.row}"
        far = f"it lies {times_outside(facts.decades)} {side}"
        words["extrapolation"] = "how far outside the runs it lies is unknown" if math.isnan(facts.decades) else far
    if facts.direction is not None:
        least = facts.direction[0]
        words["direction"] = f"the least probability of the direction is {least:.2f}" if least else "nothing to compare"
    if facts.share is not None:
        hits, count, _ = facts.share
        low, high = binomial_interval(hits, count)
        share = f"a share of {hits} in {count} may be {low:.0%} to {high:.0%}"
        words["share"] = share if count else "nothing to compare"
    graded = grades(facts)
    return [words[name] for grade in (WEAK, FAIR) for name, value in graded.items() if value == grade]


def raises(facts):
    """Name what would raise an answer by one grade: a list of str, one for each fact that has its grade.

    Examples
    --------
    >>> raises(Facts(chains=True, width=6.0, decades=1.9, compute=1e24))
    ['an interval within a factor of 3', 'runs of 1e23 FLOP']
    """
    graded, grade = grades(facts), strength(facts)
    if grade == STRONG:
        return []
    place = 0 if grade == FAIR else 1
    outside = None if facts.decades is None else abs(facts.decades) - EXTRAPOLATION[place]
    words = {
        "chains": "chains that converge",
        "guess": "knowledge of what is guessed",
        "law": "a law that the rows do not reject" if grade == FAIR else "a law that misses its rows by less",
        "width": f"an interval within a factor of {WIDTH[place]:g}",
        "sensitivity": f"alternatives within a factor of {SENSITIVITY[place]:g}",
        "direction": f"a probability of at least {DIRECTION[place]:g} in every analysis",
        "share": f"a share whose interval starts at {SHARE[place]:.0%}",
    }
    if outside is not None and math.isnan(outside):
        words["extrapolation"] = "runs whose sizes are known"
    elif outside is not None and facts.compute is not None and facts.decades > 0:
        words["extrapolation"] = f"runs of {flop(facts.compute / 10 ** EXTRAPOLATION[place])}"
    elif outside is not None:
        size = "larger than the largest run" if facts.decades > 0 else "smaller than the smallest run"
        words["extrapolation"] = f"runs {times_outside(outside)} {size}"
    return [words[name] for name, value in graded.items() if value == grade]


def times_outside(decades):
    """Write a distance in decades of compute as a factor of two digits.

    Examples
    --------
    >>> times_outside(-5.0545), times_outside(0.3)
    ('110,000 times', '2 times')
    """
    return f"{float(f'{10 ** abs(decades):.2g}'):,g} times"
