"""The Chinchilla law: its mathematics, on arrays of any broadcastable shape and any array library, and what is fitted.

Notation: N parameters, D training tokens, C = 6 N D training FLOP, loss in nats per token.

References
----------
.. [1] Hoffmann, J. et al. (2022). Training compute-optimal large language models. arXiv:2203.15556.
.. [2] Besiroglu, T. et al. (2024). Chinchilla scaling: a replication attempt. arXiv:2404.10102.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from ..arrays import exp, log
from . import corner, coupled, embeddings
from .budget import log_slots
from .law import CENTRE_RATIONALE, LossLaw, Sampled

CORNERED = ("chinchilla", "coupled")  # laws with coordinates at the corner
EXPONENT_RATIONALE = (
    "Statistical rates of learning run from nearly 0 (no return to size) to 1/2 and 1 (the classical rates); the "
    "prior's 95% interval is 0.08 to 1.2. It avoids 0, where optima and doubling times cease to exist."
)


def loss(parameters, tokens, *, E, A, B, alpha, beta):
    """Return the mean loss ``E + A / N**alpha + B / D**beta``, nats per token, equation 2 of Hoffmann et al. (2022)."""
    return E + A * exp(-alpha * log(parameters)) + B * exp(-beta * log(tokens))


def optimum(compute, *, A, B, alpha, beta, **_):
    """Return the parameters and tokens of least loss at a budget in FLOP, section 3.3 of Hoffmann et al. (2022).

    ``N* = G (C/6)**(beta/(alpha+beta))`` with ``G = (alpha A / (beta B))**(1/(alpha+beta))``, and ``D* = C/(6 N*)``.
    """
    slots = log_slots(compute)
    log_parameters = (log(alpha * A / (beta * B)) + beta * slots) / (alpha + beta)
    return exp(log_parameters), exp(slots - log_parameters)


def returns(parameters, tokens, *, A, B, alpha, beta, **_):
    """Compute the returns to N and D, ``alpha A/N**alpha`` and ``beta B/D**beta``: equal where C is spent best."""
    return alpha * A * exp(-alpha * log(parameters)), beta * B * exp(-beta * log(tokens))


def parameter_exponent(*, alpha, beta, **_):
    """Return the exponent ``beta/(alpha+beta)`` of N* in C, equation 4 of Hoffmann et al. (2022)."""
    return beta / (alpha + beta)


def constants(loss_centre, reducible_share, parameter_share, alpha, beta, *, reference_parameters, reference_tokens):
    """Return the textbook constants E, A, B, alpha and beta from what a table of runs informs.

    The loss at the centre, in nats per token, has a reducible share, which is not E, and of that a share which is
    ``A/N**alpha``. The centre is usually that of the geometric means of N and D over the fitted runs.
    """
    reducible = loss_centre * reducible_share
    return {
        "E": loss_centre * (1 - reducible_share),
        "A": reducible * parameter_share * exp(alpha * log(reference_parameters)),
        "B": reducible * (1 - parameter_share) * exp(beta * log(reference_tokens)),
        "alpha": alpha,
        "beta": beta,
    }


@dataclass(frozen=True)
class Chinchilla(LossLaw):
    """The Chinchilla law, ``loss = E + A/N**alpha + B/D**beta`` (Hoffmann et al. 2022, equation 2).

    N is all parameters, D training tokens, loss in nats per token. Sampled are quantities that the data see directly,
    with N0 and D0 the geometric means of N and D over the table:

    ================= ======================== ==================================================================
    quantity          default prior            what it is and why
    ================= ======================== ==================================================================
    loss_centre       LogNormal(1.1, 0.5)      loss at (N0, D0): 1.1 to 8 nats, from a very good to a unigram model
    reducible_share   Beta(2, 2)               share of it above E; no side preferred, the ends excluded
    parameter_share   Beta(2, 2)               share of that which is A/N**alpha; likewise
    alpha, beta       LogNormal(-1.2, 0.7)     0.08 to 1.2: from no return to the classical rates; avoids 0
    sigma             LogNormal(-4.6, 1.5)     scatter at (N0, D0), relative (on the loss scale: -3.5, in nats)
    sigma_parameters  Normal(0, 0.5)           change of log sigma per log of N; with ``scatter="one"`` absent
    sigma_tokens      Normal(0, 0.5)           the same per log of D
    nu_minus_one      Gamma(2, 0.1)            Student-t only: degrees of freedom above 1 (Juarez and Steel 2010)
    run_sd            as sigma                 with ``run_effects``: scale of what all rows of a run share
    size_sd           LogNormal(-5.75, 1.5)    with ``size_effects``: scale of what all rows of a size share: 0.02% to
                                               6%, as sizes of public tables of eight sources deviate
    ================= ======================== ==================================================================

    Derived, draw by draw: E, A, B, ``exponent_parameters = beta/(alpha+beta)``, nu, and sigma at the runs of the least
    and the greatest N D, ``sigma_smallest_run`` and ``sigma_largest_run``. Beyond the table's sizes sigma has its
    value at the end of their range, or that at (N0, D0) where this is larger. With ``run_effects`` also
    ``rho = run_sd**2/(run_sd**2 + sigma**2)``, the share of the scatter at (N0, D0) that rows of a run have in common;
    with ``size_effects`` the same of ``size_sd``.

    Parameters
    ----------
    noise : {"student_t", "normal", "huber"}
        Distribution of the residuals. Where rows are fewer than 8 more than the quantities of the mean, `fit` takes
        normal noise with one scatter.
    scale : {"log_loss", "loss"}
        Where residuals are taken.
    threshold : float
        Threshold of the Huber noise in units of its scale.
    scatter : {"by_size", "one"}
        Let sigma depend on the sizes, or hold one for all runs.
    skew : bool
        Let residuals be wider on one side than on the other (Fernandez and Steel 1998).
    measurement_error : bool
        Add a uniform reading error on plus or minus the table's ``loss_halfwidth``. Errors read off one colour scale
        are not independent of each other; this option treats them as if they were.
    run_effects : bool
        Rows of one run, as the table's column ``run`` names it, share a random effect that is integrated out: readings
        of one curve are not independent. They are jointly normal, or multivariate Student-t with one mixing a run;
        other noise, `skew` and `measurement_error` are refused. Log densities by row are conditional on the other rows
        of the run; `Fit.loo(by="run")` leaves runs out. A run has one size, so that large effects can stand for what
        size does. If chains disagree on ``run_sd``, or it is beyond what seeds do, the law does not hold along runs.
    size_effects : bool, optional
        Rows of equal model size share a random effect, as rows of a run do with `run_effects`. For example, a learning
        rate that suits a size less shifts all its runs. By default `fit` has them where a size has two rows or more in
        the mean, unless the rows show that they do not matter. A column ``size_group``, where a table has one, names
        the sizes instead, such as sizes that differ by a few parameters. A prediction draws one new effect for each
        size, also for a size that was fitted. Cannot be used together with `run_effects`. Where ``size_sd`` is above a
        few percent, effects stand for what size does: fit a wider law, such as `Coupled`.
    priors : mapping of str to str
        Replacements of the default priors, ``{"alpha": "LogNormal(-1, 0.5)"}``. Only sampled quantities have priors.

    Raises
    ------
    InputError
        If an option or prior is unknown, or a prior leaves its quantity's support.

    Examples
    --------
    >>> Chinchilla(noise="normal", priors={"alpha": "LogNormal(-1, 0.5)"}).priors
    {'alpha': 'LogNormal(-1, 0.5)'}
    """

    name: ClassVar[str] = "chinchilla"
    in_all_parameters: ClassVar[bool] = True
    sum_of_terms: ClassVar[bool] = True
    loss_centre = Sampled("LogNormal(1.1, 0.5)", CENTRE_RATIONALE, "nats/token")
    reducible_share = Sampled("Beta(2, 2)", "Share of that loss above E; neither side preferred.", support=(0, 1))
    parameter_share = Sampled("Beta(2, 2)", "Share of the reducible loss that parameters remove.", support=(0, 1))
    alpha = Sampled("LogNormal(-1.2, 0.7)", EXPONENT_RATIONALE)
    beta = Sampled("LogNormal(-1.2, 0.7)", EXPONENT_RATIONALE)
    loss: ClassVar[Any] = staticmethod(loss)
    derive: ClassVar[Any] = staticmethod(constants)
    exponent = staticmethod(parameter_exponent)
    returns: ClassVar[Any] = staticmethod(returns)
    best: ClassVar[Any] = staticmethod(optimum)  # parameters and tokens of least loss at a budget, given the constants

    @property
    def wider(self):
        """Return the same law with coupled terms; see `LossLaw.wider`."""
        options = {name: x for name, x in self.options.items() if name != "priors"}
        return Coupled(**options), "kappa", 1.0

    def reference(self, rows):
        """Return what the sampled quantities refer to, and their coordinates where a size or a count is one of two."""
        return super().reference(rows) | (corner.of_rows(self, rows) if self.name in CORNERED else {})

    def _coordinates(self, reference):
        ranges = tuple(reference.get(name, 0.0) for name in corner.REFERENCE)
        if not all(ranges):
            return super()._coordinates(reference)
        return corner.Corner(self.prior_of, ranges=ranges), (self._key, ranges)

    def optimal_sizes(self, constants, compute, *, gamma, delta=embeddings.PROPORTIONAL):
        """Return the compute-optimal N_x, N_T and D; see `best`. The family of sizes decides N_x alone."""
        parameters, tokens = self.best(compute, **{name: constants[name] for name in self._constant_names})
        return embeddings.nonembedding(parameters, gamma, delta), parameters, tokens


@dataclass(frozen=True)
class Coupled(Chinchilla):
    """The Chinchilla law with coupled terms, ``loss = E + ((A/N**alpha)**(1/kappa) + (B/D**beta)**(1/kappa))**kappa``.

    This is the form of Busbridge et al. (2025): one constant more than the Chinchilla law, which it is at kappa = 1.
    Kaplan's law is the case E = 0, kappa = beta. Where kappa is below 1 the scarcer of parameters and data decides more
    of the loss than in their sum. Sampled are the quantities of `Chinchilla`, whose options it has, and

    ================= ======================== ==================================================================
    quantity          default prior            what it is and why
    ================= ======================== ==================================================================
    kappa             LogNormal(-0.5, 0.7)     0.15 to 2.4: from the larger term alone to terms that hinder each other
    ================= ======================== ==================================================================

    Examples
    --------
    >>> Coupled(priors={"kappa": "LogNormal(0, 0.5)"}).priors
    {'kappa': 'LogNormal(0, 0.5)'}
    """

    name: ClassVar[str] = "coupled"
    sum_of_terms: ClassVar[bool] = False
    wider: ClassVar[None] = None
    kappa = coupled.KAPPA
    loss = staticmethod(coupled.loss)
    derive = staticmethod(coupled.constants)
    returns = staticmethod(coupled.returns)
    best = staticmethod(coupled.optimum)
