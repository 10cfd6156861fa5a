"""The command ``study_exponents``: exponents that a study without embeddings would measure."""

from . import options, tables


def reconcile(
    file: options.ReconciledFile,
    vocabulary: options.Vocabulary = None,
    aspect_ratio: options.AspectRatio = None,
    json: options.Json = False,
):
    """Print the exponents that a study like Kaplan's would have measured if a fitted law were true."""
    from ..inference import intervals, storage
    from ..inference.estimands.study_exponents import KAPLAN_EXPONENT
    from ..inference.estimands.study_exponents import study_exponents as reconciled

    fitted = storage.open(file)
    found = reconciled(fitted, vocabulary=vocabulary, aspect_ratio=aspect_ratio)
    at_least = float((found["nonembedding"]["size"] >= KAPLAN_EXPONENT).mean())
    entries = {basis: {n: intervals.summary(x, ratio=True) for n, x in e.items()} for basis, e in found.items()}
    if json:
        document = {"exponents": entries, "p_exponent_above_0.73": at_least, "diagnostics": fitted.diagnostics}
        tables.print_json(document)
        return
    for basis, exponents in entries.items():
        tables.print_exponents(fitted.law.name, basis, exponents)
    print(f"probability of an exponent of at least {KAPLAN_EXPONENT} without embeddings: {at_least:.3f}")
    tables.print_diagnostics(file, fitted.diagnostics)
