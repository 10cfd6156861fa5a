import numpy as np
import xarray as xr
from bayescaling.inference.fitting.effort import thinned


def test_a_draw_that_is_kept_diverged_where_any_of_those_it_stands_for_did():
    diverging = np.zeros((2, 12), bool)
    diverging[0, 5] = diverging[1, 9] = diverging[1, 10] = True
    stats = xr.Dataset({"diverging": (("chain", "draw"), diverging), "lp": (("chain", "draw"), np.ones((2, 12)))})
    kept = thinned(stats.assign_coords(chain=[0, 1], draw=np.arange(12)), 4)
    assert kept["diverging"].dtype == bool
    assert kept["diverging"].values.tolist() == [[False, True, False], [False, False, True]]
    assert kept["draw"].values.tolist() == [0, 1, 2]
    assert kept["lp"].sizes == {"chain": 2, "draw": 3}
