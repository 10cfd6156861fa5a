import subprocess
import sys

import pytest

FIT = """
import sys
import bayescaling as bs
fit = bs.fit(bs.Chinchilla(), bs.load("chinchilla_runs"), seed=1, sampler="numpyro", draws=60, tune=60, chains=2)
assert fit.record["sampler"] == "numpyro" and fit["posterior"].sizes["draw"] == 60
assert not {"pymc", "pytensor"} & {*sys.modules}
"""


@pytest.mark.slow
def test_numpyro_samples_without_pymc():
    pytest.importorskip("numpyro", reason="NumPyro is not installed")
    subprocess.run([sys.executable, "-W", "ignore", "-c", FIT], check=True)
