"""What `bayescaling.scores` exports, with its types."""

from .capabilities import capabilities as capabilities, pit_by_benchmark as pit_by_benchmark
from .compute import progress_at_fixed_compute as progress_at_fixed_compute, summary as summary
from .ranks import above as above, ranks as ranks

__all__: list[str]
