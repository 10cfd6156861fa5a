"""Models trained in sweeps whose results are tables for the laws.

`language` trains small language models, which give runs L(N, D); `arithmetic` trains models on problems of arithmetic,
which give counts of right answers. Both use `sweeps`, which trains and gathers the runs of a sweep, and `engine`, which
trains one model. Nothing here needs PyMC or pandera, which machines with GPUs often lack.
"""

from .names import lazy

__all__, __getattr__, __dir__ = lazy(
    __name__,
    {
        "engine.loop": ["Optimisation", "Outcome", "Task", "run"],
        "language.corpora.corpus": ["Corpus", "open_corpus"],
        "language.corpora.documents": ["hugging_face", "open_documents"],
        "language.corpora.synthetic": ["Synthetic"],
        "language.corpora.text": ["open_text"],
        "language.corpora.token_files": ["StoredTokens", "open_token_files"],
        "language.execution": ["outline", "train", "train_run"],
        "language.loss": ["cross_entropy", "token_losses"],
        "language.presets": ["PRESETS", "preset"],
        "language.records": ["table"],
        "language.runs": ["Run"],
        "language.sweep": ["Stage", "Sweep", "make_sweep", "read_sweep", "sweep_keys"],
        "language.transformer": ["Configuration", "Decoder"],
        "sweeps.options": ["Execution"],
    },
)
