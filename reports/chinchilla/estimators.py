"""The usual point estimators of a table of runs."""

from ...inference import frontier_fit, huber_fit, isoflop_fit


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
        "huber_free_scale": huber_fit(runs, scale="free", drop_highest=drop_highest),
        "huber_fixed_threshold": huber_fit(runs, scale="fixed", drop_highest=drop_highest),
    }
    return parametric, {"isoflop": isoflop_fit(runs), "frontier": frontier_fit(runs)}
