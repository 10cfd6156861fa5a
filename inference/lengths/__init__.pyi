"""What `bayescaling.lengths` exports, with its types."""

from .quantities import (
    accuracy_at_length as accuracy_at_length,
    embedding_contrasts as embedding_contrasts,
    length_at_accuracy as length_at_accuracy,
    summary as summary,
)

__all__: list[str]
