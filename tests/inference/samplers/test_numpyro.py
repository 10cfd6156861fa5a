import subprocess
import sys

import bayescaling as bs
import pytest
from bayescaling.models.arrays import exp, log

FIT = """
import sys
import bayescaling as bs
fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, sampler="numpyro", draws=60, tune=60, chains=2)
assert fit.record["sampler"] == "numpyro" and fit["posterior"].sizes["draw"] == 60
assert not {"pymc", "pytensor"} & {*sys.modules}
"""


@pytest.mark.slow
def test_a_density_that_is_not_finite_is_refused(runs):
    pytest.importorskip("numpyro", reason="NumPyro is not installed")

    class Nowhere(bs.laws.Chinchilla):
        def density(self, rows, reference):
            density = super().density(rows, reference)
            rest = density.rest
            return density._replace(rest=lambda values, data: rest(values, data) | {"more": log(-exp(values["alpha"]))})

    with pytest.raises(bs.InputError, match="not finite where sampling starts"):
        bs.fit(Nowhere(noise="normal", scatter="one"), runs, seed=1, sampler="numpyro", draws=20, tune=20, chains=2)


@pytest.mark.slow
def test_numpyro_samples_without_pymc():
    pytest.importorskip("numpyro", reason="NumPyro is not installed")
    subprocess.run([sys.executable, "-W", "ignore", "-c", FIT], check=True)
