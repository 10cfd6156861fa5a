"""What `bayescaling.progress` exports, with its types."""

from .change_points import change_of_pace as change_of_pace, pace_by_year as pace_by_year
from .compare import compare as compare
from .fitting import fit_all as fit_all, new_fitter as new_fitter
from .futures import compare_futures as compare_futures
from .rate_at_optimum import doubling_times as doubling_times, growth_rates as growth_rates
from .rate_at_rows import compute_equivalent_gain as compute_equivalent_gain, gain_times as gain_times
from .trends import (
    by_form as by_form,
    dates_reached as dates_reached,
    doubling_days as doubling_days,
    yearly_gain as yearly_gain,
)

__all__: list[str]
