"""Write the numbers of a report, and the output of cells, into README and documentation.

    bayescaling report --out report
    python docs/headline.py report/results.json    # headline.json and headline.svg, then the pages
    python docs/headline.py                        # the pages alone, from headline.json
    python docs/headline.py --cells [PAGE...]      # and the output of the cells of all pages, or of some

Text between ``<!-- answer: NAME -->`` and ``<!-- end -->`` is written by this command.
Tests compare it with ``headline.json``.
"""

import argparse
import json
import re
import sys
from pathlib import Path

from bayescaling import __version__
from bayescaling.reports import optimum
from bayescaling.reports.cache.whole import CLAIMS
from bayescaling.reports.html.illustrations import in_light
from bayescaling.reports.pages.front.page import not_quotable, quotable

HERE = Path(__file__).resolve().parent
README = HERE.parent / "README.md"
ANSWER = re.compile(r"(<!-- answer: ([\w-]+) -->)(\n?).*?(<!-- end -->)", re.DOTALL)
GAP = 12  # points between two pictures
CONSTANTS = ("E", "alpha", "beta", "kappa", "exponent_parameters")
SIZES = ("parameters", "tokens", "tokens_per_parameter", "loss", "extrapolation")


def digest(document):
    """Choose what is quoted from the content of results.json."""
    provenance = document["provenance"]
    best = optimum.preferred(document)
    return {
        "version": __version__,
        "made": {key: provenance[key] for key in ("seed", "draws", "chains", "sampler", "data")},
        "answers": document["answers"],
        "claims": document["claims"],
        "quotable": quotable(document),
        "not_quotable": not_quotable(document),
        "best": best,
        "laws": {
            name: {
                "elpd": document["laws"][name]["elpd_loo"],
                "verdict": document["laws"][name]["verdict"]["sentence"],
                "constants": {key: q for key, q in document["laws"][name]["parameters"].items() if key in CONSTANTS},
                "posterior": {
                    key: {"mean": quantity["posterior_mean"], "sd": quantity["posterior_sd"]}
                    for key, quantity in document["laws"][name]["robust"].items()
                    if key in CONSTANTS
                },
                "robust_ratio": document["laws"][name]["robust"]["exponent_parameters"]["ratio"],
                "at_1e24": {key: optimum.at_budget(document, optimum.BUDGET, name)[key] for key in SIZES},
            }
            for name in optimum.planned(document)
        },
        "progress": document["compute_equivalent_gain"],
        "far": document["pooled_doubling_months"],
        "effective_compute_since_2014": document["effective_compute_since_2014"],
        "attribution": [{key: row[key] for key in ("from", "to", "progress")} for row in document["attribution"]],
        "chinchilla_over_kaplan": document["chinchilla_over_kaplan"],
        "lengths": {
            "train_digits": document["lengths"]["train_digits"],
            "typical": document["lengths"]["lengths"]["typical"],
            "beyond": {name: of["ood"] for name, of in document["lengths"]["accuracy"].items()},
            "rivals": document["lengths"]["rivals"],
        },
        "speedruns": {key: document["speedruns"][key] for key in ("records", "quoted", "paces", "second_track")},
        "since": {key: document["since"][key] for key in ("rows", "break_year", "periods", "gains")},
    }


def picture(folder):
    """Place the narrow charts of two claims of a report side by side, as one SVG file in light colours."""
    texts = [(folder / f"{CLAIMS[name]}.html").read_text(encoding="utf-8") for name in ("progress", "sizes")]
    drawn = [re.search(r'class="narrow-only">(<svg.*?</svg>)', text, re.DOTALL)[1] for text in texts]
    sizes = [[float(x) for x in re.search(r'viewBox="0 0 (\S+) (\S+)"', svg).groups()] for svg in drawn]
    parts, left = [], 0.0
    for k, (svg, (width, height)) in enumerate(zip(drawn, sizes, strict=True)):
        moved = svg.replace("<svg", f'<svg x="{left:g}" width="{width:g}" height="{height:g}"', 1).replace(
            "f1n-", f"p{k}-"
        )
        parts.append(moved.replace(' aria-hidden="true"', ""))
        left += width + GAP
    tall = max(height for _, height in sizes)
    view = f'viewBox="0 0 {left - GAP:g} {tall:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {view}>'
    return in_light("".join([head, '<rect width="100%" height="100%" fill="#ffffff"/>', *parts, "</svg>\n"]))


def pages():
    """Return the paths of README and of every page of the documentation."""
    return [README, *sorted(HERE.rglob("*.md"))]


def written(text, answers):
    """Return the text of a page with its answers written again."""
    return ANSWER.sub(lambda match: f"{match[1]}{match[3]}{answers[match[2]]}{match[3]}{match[4]}", text)


def main(arguments):
    """Write what the arguments request."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", type=Path)
    parser.add_argument("--cells", nargs="*", type=Path, metavar="PAGE")
    options = parser.parse_args(arguments)
    if options.results:
        document = json.loads(options.results.read_text(encoding="utf-8"))
        text = json.dumps(digest(document), indent=1, ensure_ascii=False, allow_nan=False)
        (HERE / "headline.json").write_text(text + "\n", encoding="utf-8")
        (HERE / "headline.svg").write_text(picture(options.results.parent), encoding="utf-8")
    sys.path.insert(0, str(HERE))
    import outputs
    from quoted import substitutions

    answers = substitutions(json.loads((HERE / "headline.json").read_text(encoding="utf-8")))
    if options.cells is not None:
        for path in [path.resolve() for path in options.cells] or pages():
            path.write_text(outputs.written(path), encoding="utf-8")
    for path in pages():
        path.write_text(written(path.read_text(encoding="utf-8"), answers), encoding="utf-8")
    outputs.write_notebooks()


if __name__ == "__main__":
    main(sys.argv[1:])
