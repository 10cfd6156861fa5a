"""Published estimates of the constants of Chinchilla's law, by source."""

PREFIX = "chinchilla."
CONSTANTS = ("E", "A", "B", "alpha", "beta")


def chinchilla_estimates(published):
    """Rows of ``load("published")`` on Chinchilla's law, their quantities without the prefix."""
    table = published[published["quantity"].str.startswith(PREFIX)]
    return table.assign(quantity=table["quantity"].str.removeprefix(PREFIX))


def chinchilla_constants(published):
    """Return the constants of each source that gives all five, as a dictionary by source."""
    sets = {}
    for source, rows in chinchilla_estimates(published).groupby("source", sort=False):
        estimates = dict(zip(rows["quantity"], rows["estimate"], strict=True))
        if set(CONSTANTS) <= set(estimates):
            sets[source] = {name: estimates[name] for name in CONSTANTS}
    return sets
