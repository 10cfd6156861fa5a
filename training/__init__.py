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
        "language.corpora.corpus": ["open_corpus"],
        "language.corpora.synthetic": ["Synthetic"],
        "language.corpora.text": ["hugging_face", "open_documents", "open_text"],
        "language.corpora.token_files": ["StoredTokens", "open_token_files"],
        "language.loss": ["cross_entropy", "token_losses"],
        "language.presets": ["PRESETS"],
        "language.language_run": ["Run"],
        "language.sampled_text": ["sample_text"],
        "language.stages": ["Stage", "Sweep", "table"],
        "language.sweep_file": ["make_sweep", "outline", "read_sweep", "sweep_keys", "train"],
        "language.transformer": ["Configuration", "Decoder"],
        "sweeps.base": ["Execution"],
        "sweeps.trainer": ["train_run"],
    },
)
