"""One small fit of the law of horizons for all tests of the folder."""

import bayescaling as bs
import pytest


@pytest.fixture(scope="session")
def fit():
    """A small part of the built-in table."""
    table = bs.load("weirdml")
    models = table["model"].unique()[::6]
    return bs.fit(
        bs.laws.Horizons(noise="binomial", family_effects=False, estimates=False),
        table[table["model"].isin(models) & table["threshold"].isin([50, 90])],
        seed=1,
        draws=300,
        tune=500,
        chains=4,
    )
