"""Named sweeps, read from TOML; apart from other tables, since the command line lists them before it works."""

import tomllib


def read_presets(path):
    """Read named sweeps: each has the tables of its ``preset``, an earlier one, and its own over them, key by key.

    What has neither ``arms`` nor ``stages`` is there for others alone.
    """
    every = {}
    for name, own in tomllib.loads(path.read_text(encoding="utf-8")).items():
        base = every.get(own.pop("preset", None), {})
        every[name] = base | {key: base.get(key, {}) | x if isinstance(x, dict) else x for key, x in own.items()}
    return {name: tables for name, tables in every.items() if "arms" in tables or "stages" in tables}
