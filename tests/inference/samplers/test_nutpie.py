import subprocess
import sys

import pytest

LAW = """
import sys
import bayescaling as bs
fit = bs.fit(bs.laws.Chinchilla(), bs.load("chinchilla_runs"), seed=1, draws=60, tune=60, chains=2)
"""
# By what the first fit of a process meets: ArviZ not loaded, which is whole when it is loaded later, or loaded before.
CHECKS = {
    "ArviZ comes later": LAW
    + """
assert "arviz" not in sys.modules, "a fit needs none of ArviZ's plots"
import arviz
assert callable(arviz.summary) and "numpy" in sys.modules, "ArviZ is whole afterwards"
assert sys.modules["nutpie.sample"].arviz.summary is arviz.summary, "what nutpie takes of ArviZ is there"
""",
    "ArviZ was there before": "import arviz\n" + LAW + "assert sys.modules['nutpie.sample'].arviz is arviz",
}


@pytest.mark.parametrize("state", CHECKS)
def test_nutpie_is_imported_without_what_only_an_annotation_needs(state):
    command = [sys.executable, "-W", "ignore", "-c", CHECKS[state]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
