"""The corpora that a sweep's file can name.

A corpus has ``vocabulary``, ``fingerprint``, ``check``, ``batch`` and ``held_out``, as `StoredTokens` has them. If its
law is known it has ``log_probability`` and ``irreducible_loss`` too, as `Synthetic` has them.
"""

import os
from dataclasses import fields
from pathlib import Path
from typing import Literal

from ...engine.fields import check_value
from ...sweeps.keys import NEEDED, Key, checked, make_keys
from ..external_trainer import ExternalTrainer
from .synthetic import Synthetic
from .text import Paths, hugging_face, open_documents, open_package, open_text
from .token_files import open_token_files


def open_corpus(table, *, base, folder):
    """Open the corpus that a table describes: its ``kind`` and the options of that kind, as `KINDS` has them.

    Relative paths start from the folder `base`; tokens that are made from text are saved in `folder`. `InputError` is
    raised if the kind or an option is unknown, an option is missing, or the corpus cannot be used.

    Examples
    --------
    >>> from bayescaling.training import open_corpus
    >>> open_corpus({"kind": "synthetic", "vocabulary": 64}, base=".", folder=".").vocabulary
    64
    """
    options, base = dict(table), Path(base)
    kind = options.pop("kind", KIND.usual)
    check_value("corpus: kind", kind, KIND.takes)
    options = dict(checked(f"corpus of {kind}", options, KINDS[kind]))
    if kind in MADE:
        return MADE[kind](**options)
    if kind == "tokens":
        paths = {name: base / os.path.expanduser(options[name]) for name in TOKEN_FILES if name in options}
        return open_token_files(**options | paths)
    if kind == "package":
        return open_package(folder=folder, **options)
    if kind == "text":
        files = options.pop("files")
        files = [str(base / os.path.expanduser(file)) for file in ([files] if isinstance(files, str) else files)]
        return open_text(files, folder=folder, **options)
    where = {name: options.pop(name) for name in PLACE if name in options}
    name = where.pop("name")
    label = " ".join([name, *(f"{key}={value}" for key, value in sorted(where.items()))])
    return open_documents(hugging_face(name, **where), folder=folder, name=label, **options)


MADE = {"synthetic": Synthetic, "trainer": ExternalTrainer}
TOKEN_FILES = ("training", "evaluation")
PLACE = ("name", "column", "configuration", "split", "files")
FILES = Key(Paths, NEEDED, "Files .txt or .txt.gz, in UTF-8, or patterns such as books/*.txt.")
# Options of each kind.
KINDS = {
    **{kind: make_keys(of, [field.name for field in fields(of)]) for kind, of in MADE.items()},
    "text": {"files": FILES, **make_keys(open_text, ("vocabulary", "held_out"))},
    "package": make_keys(open_package, ("package", "files", "vocabulary", "held_out")),
    "tokens": make_keys(open_token_files, (*TOKEN_FILES, "vocabulary", "held_out")),
    "hugging-face": make_keys(hugging_face, PLACE)
    | make_keys(open_documents, ("vocabulary", "tokens", "held_out", "sample")),
}
KIND = Key(Literal[tuple(KINDS)], "synthetic", "The kind of text, which decides the other keys.")
