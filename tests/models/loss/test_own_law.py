"""Custom laws, whose columns and constants are read from the signatures of their functions."""

import importlib
import subprocess
import sys

import bayescaling as bs
import numpy as np
import pytest
from bayescaling.models import laws
from bayescaling.models.arrays import exp, log


class Tokens(bs.laws.LossLaw):
    """A power law with a floor in tokens."""

    name = "tokens"
    loss_centre = bs.laws.Sampled("LogNormal(1.1, 0.5)", "Loss at the typical number of tokens.", "nats/token")
    reducible_share = bs.laws.Sampled("Beta(2, 2)", "Share of it above E.", support=(0, 1))
    beta = bs.laws.Sampled("LogNormal(-1.2, 0.7)", "An exponent.")

    def derive(self, loss_centre, reducible_share, beta, typical_tokens):
        reducible = loss_centre * reducible_share
        return {"E": loss_centre - reducible, "B": reducible * exp(beta * log(typical_tokens))}

    def loss(self, tokens, *, E, B, beta):
        return E + B * exp(-beta * log(tokens))


VALUES = {"loss_centre": 2.5, "reducible_share": 0.4, "beta": 0.3}


def test_columns_constants_and_origins_are_those_of_the_signatures(runs):
    law = Tokens(noise="normal", scatter="one")
    assert law.columns == ("tokens",) and law._constant_names == ("E", "B", "beta") and law.derived_names == ("E", "B")
    assert [(q.name, q.support) for q in law.mean_parameters] == [
        ("loss_centre", (0, np.inf)), ("reducible_share", (0, 1)), ("beta", (0, np.inf)),
    ]  # fmt: skip
    reference = law.reference(runs)
    typical = float(np.exp(np.log(runs["tokens"]).mean()))
    assert reference == {"typical_tokens": pytest.approx(typical)}
    constants = law.constants(VALUES, reference)
    assert law.mean(constants, {"tokens": typical}) == pytest.approx(2.5)
    assert constants["E"] == pytest.approx(1.5) and constants["beta"] == 0.3


def test_a_subclass_adds_to_what_is_sampled_and_may_change_a_prior():
    class Narrow(Tokens):
        name = "narrow"
        beta = bs.laws.Sampled("LogNormal(-1.2, 0.1)", "A narrow exponent.")
        kappa = bs.laws.Sampled("LogNormal(0, 1)", "Another.")

    assert [q.name for q in Narrow.mean_parameters] == ["loss_centre", "reducible_share", "beta", "kappa"]
    assert str(Narrow(noise="normal").prior_of["beta"]) == "LogNormal(-1.2, 0.1)"
    assert str(Tokens(noise="normal").prior_of["beta"]) == "LogNormal(-1.2, 0.7)"


def test_functions_that_do_not_fit_together_are_refused_with_both_sides(runs):
    class Lacking(Tokens):
        name = "lacking"

        def derive(self, loss_centre, typical_tokens):
            return {"E": loss_centre}

    class Asking(Tokens):
        name = "asking"

        def derive(self, loss_centre, gamma, typical_tokens):
            return {"E": loss_centre, "B": gamma}

    for law, message in (
        (Lacking(), "loss of the lacking law takes E, B, beta; derive and what is sampled give E, beta"),
        (Asking(), "derive of the asking law takes gamma; sampled are loss_centre, reducible_share, beta"),
    ):
        with pytest.raises(bs.InputError, match=message):
            bs.fit(law, runs, seed=1, draws=50, tune=50)


OUTSIDE = '''"""A law in a module of its user."""

import bayescaling as bs
from bayescaling.models.arrays import exp, log


@bs.laws.register
class Straight(bs.laws.LossLaw):
    """A power law of all that is spent, ``loss = A/D**beta``."""

    name = "straight"
    loss_centre = bs.laws.Sampled("LogNormal(1.1, 0.5)", "Loss at the typical number of tokens.", "nats/token")
    beta = bs.laws.Sampled("Normal(0.1, 0.2)", "An exponent of either sign.")

    def derive(self, loss_centre, beta, typical_tokens):
        return {"A": loss_centre * exp(beta * log(typical_tokens))}

    def loss(self, tokens, *, A, beta):
        return A * exp(-beta * log(tokens))
'''
USED = """
import sys
import bayescaling as bs, straight
from bayescaling.commands.cli import run
assert bs.law("straight", noise="normal") == straight.Straight(noise="normal") and "straight" in bs.laws.names()
assert bs.open("fit.nc").law == straight.Straight()
sys.argv = "bayescaling fit straight --data runs.csv --draws 50 --tune 50 --seed 1 --out again.nc".split()
run()
"""


def test_one_file_of_a_user_adds_a_law_by_name(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(laws, "LAWS", dict(laws.LAWS))
    (tmp_path / "straight.py").write_text(OUTSIDE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    runs.head(60).to_csv("runs.csv", index=False)
    importlib.import_module("straight")
    with pytest.warns(bs.DiagnosticWarning):
        bs.fit("straight", runs.head(60), seed=1, draws=50, tune=50).save("fit.nc")
    done = subprocess.run([sys.executable, "-c", USED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert bs.open("again.nc").law.name == "straight"


def test_the_prior_of_a_sampled_quantity_is_its_support_unless_that_is_said():
    signed = bs.laws.Sampled("Normal(0, 1)", "Either sign.").named("shift")
    assert signed.support == (-np.inf, np.inf) and str(signed.checked("Normal(0, 1)")) == "Normal(0, 1)"
    assert bs.laws.Sampled("Beta(2, 2)", "A share.").named("share").support == (0, np.inf)
    wrong = bs.laws.Sampled("Normal(0, 1)", "Positive.", support=(0, np.inf)).named("scale")
    with pytest.raises(bs.InputError, match=r"default prior of scale, Normal\(0, 1\), leaves its support \(0, inf\)"):
        wrong.checked("Normal(0, 1)")
