"""The command ``laws``: published laws, and what is known of one."""

from typing import Annotated

from typer import Argument

from . import options, tables


def laws(
    name: Annotated[str | None, Argument(metavar="NAME", help="A published law.")] = None,
    json: options.Json = False,
):
    """List published laws by what they are of, or show one."""
    from dataclasses import asdict

    from ..models import published

    if name is not None:
        from ..inference import published as shown

        tables.print_result(shown(name), asdict(published.find(name)), json)
        return
    every = published.laws().values()
    if json:
        tables.print_json({"laws": [asdict(law) for law in every]})
        return
    longest = max(len(law.name) for law in every)
    for of in dict.fromkeys(law.of for law in every):
        lines = [f"  {law.name:{longest}}  {law.source.partition(',')[0]}" for law in every if law.of == of]
        print(f"{of[:1].upper()}{of[1:]}", *lines, sep="\n")
    tables.print_sentences(["bayescaling laws NAME shows one", "bayescaling fit NAME FILE fits it"])
