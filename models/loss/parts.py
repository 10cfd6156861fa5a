"""The parts of laws of the loss: how runs are tested, grouped and planned."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pandas as pd

from ...datasets.wording import shorten_number
from ...errors import InputError
from ..contrasts import Contrast, groupings, informed, means, ordinals
from ..parts import Grouping, Planner, Tests
from .budget import FLOP_PER_PARAMETER_TOKEN, SIZES, compute_bins, training_flop
from .direction import directions, flat
from .least_squares import Nearest, may_deviate
from .noise import WITH_EFFECTS
from .plan import FamilyPlan
from .sizes import family_constant

LEAST_FREE = 8  # rows beyond the quantities of the mean, from which on these inform a scatter by size
SIZE_GROUP = "size_group"  # column that names the model size of each row under size effects


class LossTests(Tests):
    """How runs test a law of the loss."""

    def check_priors(self, rows, reference):
        """Refuse priors whose medians give a loss that is not finite."""
        medians = {name: prior.median for name, prior in self.prior_of.items()}
        with np.errstate(all="ignore"):
            loss = self.mean(self.constants(medians, reference), self.sizes(rows))
        if not (np.isfinite(loss) & (loss > 0)).all():
            listed = ", ".join(f"{name} {median:.3g}" for name, median in medians.items())
            raise InputError(
                f"at the medians of the priors ({listed}) the {self.name} law has no finite loss; check the priors"
            )

    def check_calibration(self, truth):
        """Refuse a law that has no one posterior, or whose prior alone gives no truths."""
        if self.upstream:
            raise InputError(
                f"{self.name} takes {' and '.join(self.upstream)} from sizes alone and has no one posterior to "
                "calibrate; calibrate it with joint=True (--option joint=true)"
            )
        if truth == "prior" and self.potential is not None:
            raise InputError(f"{self.name} learns from other data too, so its prior alone gives no truths")

    def contrasts(self, rows):
        """Return residuals' means in bins of compute, slopes in N/D there, and means of sizes with several rows."""
        size = self.size_column
        if size is None or "tokens" not in self.columns:
            return {}
        n, d = (rows[name].to_numpy(float) for name in (size, "tokens"))
        bins = compute_bins(FLOP_PER_PARAMETER_TOKEN * n * d)
        named = ordinals(bins, "compute")
        contrasts = {"means by compute": Contrast.of_means(bins, "bins of compute", named)}
        contrasts["slopes by compute"] = Contrast.of_slopes(bins, np.log(n / d), "log(N/D)", "bins", named)
        if self.repeated_size(rows):
            codes = pd.factorize(n)[0]
            several = means(codes)[np.bincount(codes) > 1]
            what = f"mean of z in each of {len(several)} sizes of several rows"
            contrasts["means by size"] = Contrast(what, several).named([f"size {x:.3g}".replace("e+", "e") for x in n])
        return informed(contrasts)

    def groupings(self, rows):
        """Return codes of the groups that the table's other columns name, but for runs that share effects."""
        return groupings(rows, (SIZE_GROUP, *((self.effect_column,) if self.effects_of else ())))

    def wider_laws(self, rows):
        """Widen the law, that of a loss with a scatter by size; where runs or sizes have several rows, with effects."""
        law = self if self.wider is None else self.wider[0]
        law = replace(law, scatter="by_size") if law.observed == "loss" else law
        laws = [law] if law != self else []
        if not self._may_have_effects():
            return laws
        if "run" in rows and rows["run"].notna().all() and rows["run"].duplicated().any():
            laws.append(replace(law, run_effects=True))
        if self.repeated_size(rows):
            laws.append(replace(law, size_effects=True))
        return laws

    def repeated_size(self, rows):
        """Return the column of model sizes of which at least two have several rows, None where there are fewer."""
        size = self.size_column
        return size if size is not None and (rows[size].value_counts() > 1).sum() > 1 else None

    def exact_constants(self, rows, reference):
        """Return the constants at which the law has the losses of rows to `EXACT`, None where losses are off the law.

        Losses that were measured are never on a law: such losses were computed from it, and sampling finds no noise.
        """
        if self.upstream or rows[self.observed].nunique() == 1:
            return None
        return Nearest(self, rows, reference).exact(rows)

    def suited(self, table):
        """Return the law with what its default options leave to the rows.

        Rows that leave fewer than `LEAST_FREE` beyond the quantities of the mean have normal noise with one scatter.
        Where a model size has two rows or more in the mean, sizes have effects, unless rows show that these do not
        matter. The law has no part in that, so that laws that are compared have effects alike.
        """
        few = len(table) < len(self.mean_parameters) + LEAST_FREE and self.noise in WITH_EFFECTS
        law = replace(self, noise="normal", scatter="one") if few else self
        if self.size_effects is not None or not {self.size_column, "tokens"} <= {*self.columns}:
            return law
        wide = replace(law, size_effects=True) if law._may_have_effects() else law
        if not {*self.columns, self.observed} <= {*table} or len(table) < len(wide._free_parameters):
            return law
        several = self.repeated_size(table) and 2 * table[self.size_column].nunique() <= len(table)
        return wide if several and may_deviate(table, self.columns, self.observed, self.size_column) else law

    def size_apart(self, rows):
        """Return the size whose runs lie furthest from the law of the others, None where no two have several rows.

        In the dict are its ``name``, ``shift``, a share of the loss, ``share`` of the rows, and ``p``: the least p of
        the sizes with several rows, times their number.
        """
        if self.upstream or self.run_effects or self.repeated_size(rows) is None:
            return None
        sizes = rows[self.size_column].to_numpy()
        names, shifts, p = Nearest(self, rows, self.reference(rows)).shifts(sizes)
        counts = rows[self.size_column].value_counts().reindex(names).to_numpy()
        k = int(np.where(counts > 1, p, 2.0).argmin())
        apart = {"p": min(1.0, float(p[k]) * int((counts > 1).sum())), "shift": float(shifts[k])}
        return apart | {"share": float(counts[k] / len(rows)), "name": f"{shorten_number(names[k])} parameters"}

    def directions(self, rows):
        """Return the rank correlations of the columns in which the law falls; see `direction.directions`."""
        return directions(self, rows)

    def notes(self, suited, rows):
        """Return sentences on why a law is `suited` to the rows, and on sizes that these tell little of."""
        changed = f"the law fitted is {suited.label}, because {self._reason(suited, rows)}"
        return [changed] * (suited.noise != self.noise or suited.scatter != self.scatter) + flat(suited, rows)

    def _reason(self, suited, rows):
        return f"{len(rows)} rows tell little of a scatter by size next to {len(self.mean_parameters)} constants"

    def _may_have_effects(self):
        fixed = self.upstream or self.effects_of or self.skew or self.measurement_error
        return not fixed and self.noise in WITH_EFFECTS


class LossGrouping(Grouping):
    """How runs belong together."""

    clusters = (*SIZES, "run")
    axes = {"compute": "training_flop"}  # noqa: RUF012

    @property
    def left_out_by(self):
        """Return the column whose rows of one value are left out together: the run or, under size effects, the size."""
        return self.effect_column

    def numbers_along(self, rows, by):
        """Return numbers along which rows may be cut; compute is 6 N D where the table does not state it."""
        if by == "compute" and not {"compute", "training_flop"} & set(rows) and training_flop(rows) is not None:
            rows = rows.assign(training_flop=training_flop(rows))
        return super().numbers_along(rows, by)

    def join_simulated(self, rows, simulated):
        """Return rows and simulated rows as one table; a simulated run or size has a new effect."""
        table = super().join_simulated(rows, simulated)
        if not self.effects_of:
            return table
        codes, others = (self.groups(part).codes for part in (rows, simulated))
        return table.assign(**{self.effect_column: np.concatenate([codes, codes.max() + 1 + others])})


class LossPlanner(Planner):
    """How runs are planned under a law of the loss."""

    planned: ClassVar[tuple] = ("vocabulary", "aspect_ratio")
    plan_class: ClassVar[type[FamilyPlan]] = FamilyPlan

    def plan(self, constants, *, vocabulary=None, aspect_ratio=None):
        """Return a `FamilyPlan` of models, whose embeddings grow with their size; see `sizes.family_constant`.

        It describes ``parameters`` (N_T), ``parameters_nonembedding`` (N_x), ``tokens`` and ``loss`` (mean loss, nats
        per token).
        """
        if self.optimal_sizes is None:
            return super().plan(constants)
        return self.plan_class(self, constants, family_constant(vocabulary, aspect_ratio))
