"""The usual point estimators of a table of runs."""

from ...inference import fit_frontier, fit_huber, fit_isoflop


def point_estimates(runs, *, drop_highest=0):
    """Run the parametric, iso-FLOP and frontier estimators.

    Parameters
    ----------
    runs : DataFrame
    drop_highest : int
        Runs of highest loss that the parametric fits leave out.

    Returns
    -------
    parametric : dict of str to PointFit
    envelopes : dict of str to PowerLaw
    """
    parametric = {
        "huber_free_scale": fit_huber(runs, scale="free", drop_highest=drop_highest),
        "huber_fixed_threshold": fit_huber(runs, scale="fixed", drop_highest=drop_highest),
    }
    return parametric, {"isoflop": fit_isoflop(runs), "frontier": fit_frontier(runs)}
