"""What the package exports, with its types; `__init__.py` reads from here where each name is."""

from .datasets import (
    catalogue as catalogue,
    load as load,
    notes as notes,
    read as read,
)
from .errors import (
    DiagnosticWarning as DiagnosticWarning,
    InputError as InputError,
    SizeNote as SizeNote,
    TableNote as TableNote,
    TableWarning as TableWarning,
)
from .inference import (
    Fit as Fit,
    Fitter as Fitter,
    accuracy_at_length as accuracy_at_length,
    calibrate as calibrate,
    calibration_table as calibration_table,
    capabilities as capabilities,
    change_of_pace as change_of_pace,
    compare as compare,
    compare_futures as compare_futures,
    compare_progress as compare_progress,
    compute_equivalent_gain as compute_equivalent_gain,
    curve_frontier as curve_frontier,
    doubling_times as doubling_times,
    embedding_contrasts as embedding_contrasts,
    fit as fit,
    fit_frontier as fit_frontier,
    fit_huber as fit_huber,
    fit_isoflop as fit_isoflop,
    fit_item_response as fit_item_response,
    fit_progress as fit_progress,
    fit_two_stages as fit_two_stages,
    gain_times as gain_times,
    growth_rates as growth_rates,
    length_at_accuracy as length_at_accuracy,
    length_summary as length_summary,
    misfit as misfit,
    new_group as new_group,
    open as open,
    pace_by_year as pace_by_year,
    parallel as parallel,
    pit_by_benchmark as pit_by_benchmark,
    predict_counts as predict_counts,
    progress_at_fixed_compute as progress_at_fixed_compute,
    progress_fitter as progress_fitter,
    progress_summary as progress_summary,
    reconcile as reconcile,
    rollout as rollout,
)
from .models import (
    Chinchilla as Chinchilla,
    Configurations as Configurations,
    Coupled as Coupled,
    DataConstrained as DataConstrained,
    EmbeddingCorrected as EmbeddingCorrected,
    EmbeddingWeighted as EmbeddingWeighted,
    Frontier as Frontier,
    Grouped as Grouped,
    Kaplan as Kaplan,
    Lengths as Lengths,
    Offsets as Offsets,
    Progress as Progress,
    Scores as Scores,
    Specification as Specification,
    laws as laws,
    register_law as register_law,
)
from .reports import report as report, report_fits as report_fits, report_table as report_table
from .training import train as train

__version__: str
__all__: list[str]
