"""What the package exports, with its types; `__init__.py` reads from here where each name is."""

from .datasets import (
    catalogue as catalogue,
)
from .datasets import (
    load as load,
)
from .datasets import (
    notes as notes,
)
from .datasets import (
    read as read,
)
from .datasets import (
    read_counts as read_counts,
)
from .datasets import (
    read_evaluations as read_evaluations,
)
from .datasets import (
    read_scores as read_scores,
)
from .errors import (
    DiagnosticWarning as DiagnosticWarning,
)
from .errors import (
    InputError as InputError,
)
from .errors import (
    SizeNote as SizeNote,
)
from .errors import (
    TableNote as TableNote,
)
from .errors import (
    TableWarning as TableWarning,
)
from .inference import (
    Fitter as Fitter,
)
from .inference import (
    accuracy_at_length as accuracy_at_length,
)
from .inference import (
    allocate as allocate,
)
from .inference import (
    alternatives as alternatives,
)
from .inference import (
    calibrate as calibrate,
)
from .inference import (
    calibration_table as calibration_table,
)
from .inference import (
    capabilities as capabilities,
)
from .inference import (
    change_of_pace as change_of_pace,
)
from .inference import (
    compare as compare,
)
from .inference import (
    compare_futures as compare_futures,
)
from .inference import (
    compare_progress as compare_progress,
)
from .inference import (
    compute_equivalent_gain as compute_equivalent_gain,
)
from .inference import (
    curve_frontier as curve_frontier,
)
from .inference import (
    diagnose as diagnose,
)
from .inference import (
    doubling_times as doubling_times,
)
from .inference import (
    draws_of as draws_of,
)
from .inference import (
    embedding_contrasts as embedding_contrasts,
)
from .inference import (
    fit as fit,
)
from .inference import (
    fit_frontier as fit_frontier,
)
from .inference import (
    fit_huber as fit_huber,
)
from .inference import (
    fit_isoflop as fit_isoflop,
)
from .inference import (
    fit_item_response as fit_item_response,
)
from .inference import (
    fit_progress as fit_progress,
)
from .inference import (
    fit_two_stages as fit_two_stages,
)
from .inference import (
    gain_times as gain_times,
)
from .inference import (
    growth_rates as growth_rates,
)
from .inference import (
    judge as judge,
)
from .inference import (
    law_of as law_of,
)
from .inference import (
    length_at_accuracy as length_at_accuracy,
)
from .inference import (
    length_summary as length_summary,
)
from .inference import (
    loo as loo,
)
from .inference import (
    loo_by_group as loo_by_group,
)
from .inference import (
    misfit as misfit,
)
from .inference import (
    new_group as new_group,
)
from .inference import (
    open_fit as open_fit,
)
from .inference import (
    pace_by_year as pace_by_year,
)
from .inference import (
    parallel as parallel,
)
from .inference import (
    pit_by_benchmark as pit_by_benchmark,
)
from .inference import (
    predict as predict,
)
from .inference import (
    predict_counts as predict_counts,
)
from .inference import (
    progress_at_fixed_compute as progress_at_fixed_compute,
)
from .inference import (
    progress_fitter as progress_fitter,
)
from .inference import (
    progress_summary as progress_summary,
)
from .inference import (
    reconcile as reconcile,
)
from .inference import (
    robust as robust,
)
from .inference import (
    robust_sd as robust_sd,
)
from .inference import (
    rollout as rollout,
)
from .inference import (
    save_fit as save_fit,
)
from .inference import (
    stack_allocations as stack_allocations,
)
from .inference import (
    table_of as table_of,
)
from .models import (
    Chinchilla as Chinchilla,
)
from .models import (
    Configurations as Configurations,
)
from .models import (
    Coupled as Coupled,
)
from .models import (
    DataConstrained as DataConstrained,
)
from .models import (
    EmbeddingCorrected as EmbeddingCorrected,
)
from .models import (
    EmbeddingWeighted as EmbeddingWeighted,
)
from .models import (
    Frontier as Frontier,
)
from .models import (
    Grouped as Grouped,
)
from .models import (
    Kaplan as Kaplan,
)
from .models import (
    Lengths as Lengths,
)
from .models import (
    Offsets as Offsets,
)
from .models import (
    Progress as Progress,
)
from .models import (
    Scores as Scores,
)
from .models import (
    Specification as Specification,
)
from .models import (
    laws as laws,
)
from .models import (
    register_law as register_law,
)
from .reports import (
    report as report,
)
from .reports import (
    report_fits as report_fits,
)
from .reports import (
    report_table as report_table,
)
from .training import (
    train as train,
)

__version__: str
__all__: list[str]
