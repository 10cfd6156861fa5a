"""English: words, sentences and numbers of the text that a person reads, and names of variables.

    python tests/test_english.py [FILE...]    # print what breaks the rules, by default in every file

Generated text, from ``<!-- answer -->`` or ``<!-- output -->`` to ``<!-- end -->``, is checked at its source.
Texts in the code of tests are those of the package, which are checked there.
"""

import ast
import inspect
import io
import re
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGEST, MOST_NUMBERS = 28, 3
FOLDERS = ("commands", "datasets", "docs", "evidence", "inference", "models", "plots", "reports", "tests", "training")
WORDS = re.compile(
    r"""\b(?:
    says|said|told|asks|asked|kept|keeps?|keeping|judg(?:e|es|ed|ing)|verdicts?|mends?|mended|(?:its|one's)\ own|beside
    |foretells?|foretold|rests?\ on|hangs?\ on|hung\ on|off\ by|effects\ of\ papers|pace(?!=)
    |without\ trusting\ the\ law|(?:do|does)\ not\ trust\ the\ law|decades\ beyond|moved|pieces?\ of\ work|crew
    |as\ (?:it\ is|it\ stands|they\ stand)
    |not\ to\ be\ trusted|gone\ on\ with|go\ on|goes\ on|hardly|baked|spoilt|unasked|to\ be\ had|passed\ over
    |departures?|anew)\b""",
    re.VERBOSE | re.IGNORECASE,
)
NAMES = {"found", "said", "own", "each", "known", "kept", "given", "theirs", "made"}
GENERATED = re.compile(r"<!-- (?:answer|output)[^>]*-->.*?<!-- end -->", re.DOTALL)
NOT_PROSE = (
    (re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE), ""),
    (GENERATED, "N"),
    (re.compile(r"<!--.*?-->", re.DOTALL), ""),
    (re.compile(r"^ *(```|~~~).*?^ *\1", re.DOTALL | re.MULTILINE), "\n\n"),
    (re.compile(r"\$\$.*?\$\$|(?<!\$)\$[^$\n]+\$", re.DOTALL), " F "),
    (re.compile(r"(?:(?<=\n\n)|\A)(?:(?: {4,}|\t).*\n?|\n)+", re.MULTILINE), "\n\n"),
    (re.compile(r"``.+?``|`[^`]+`", re.DOTALL), "C"),
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"[\"“][^\"”\n]*[\"”]"), "Q"),
    (re.compile(r"(?:https?://|\b(?:doi|arXiv):)\S*\w"), ""),
    (re.compile(r"^ *=+(?: +=+)+ *\n(?:.*\n)*?^ *=+(?: +=+)+ *(?=\n\s*\n|\Z)", re.MULTILINE), "\n\n"),  # tables
)
TEMPLATE = ((re.compile(r"\{#.*?#\}|\{%.*?%\}", re.DOTALL), "\n\n"), (re.compile(r"\{\{.*?\}\}", re.DOTALL), "V"))
TAG = re.compile(r"</?[a-zA-Z][^>]*>", re.DOTALL)
INTERVAL = re.compile(r"\[[-+\d.][^\]]*\]")
NUMBER = re.compile(r"(?<![\w./])[-+]?(?!(?:19|20)\d\d\b)\.?\d[\d,.]*(?:e[-+]?\d+)?")
END = re.compile(r"(?<=[.!?])[)*_”]*\s+(?=[A-Z(*\[“])")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+|^#+\s+|^>\s+", re.MULTILINE)
EXAMPLE = re.compile(r"^\s*>>>.*?(?:\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)
TERM = re.compile(r"^(?:.+\n-{3,}|[*\w, ]+ : .*|((?![-*\d])\S.*)(?=\n +\S))$", re.MULTILINE)  # of a docstring


def paths():
    """Return every file that a person reads, as text of the project or in a message."""
    paths = [
        ROOT / name
        for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SKILL.md", "llms.txt")
    ]
    paths += [ROOT / name for name in ("__init__.py", "errors.py", "clusters.py")]
    for folder in FOLDERS:
        for suffix in ("md", "py", "jinja"):
            paths += sorted((ROOT / folder).rglob(f"*.{suffix}"))
    return paths


def faults(path):
    """List what breaks the rules in a file, as text."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        prose, messages = of_python(text)
        messages = [] if Path(__file__).parent in path.resolve().parents else messages
        return [*of_prose(prose), *(f"word {word!r}: {part}" for part in messages for word in WORDS.findall(part))]
    for pattern, instead in TEMPLATE if path.suffix == ".jinja" else ():
        text = pattern.sub(instead, text)
    return of_prose(TAG.sub("", plain(text)))


def names(path):
    """List variables, arguments and loop names of a file that are no nouns, as text."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8")))) if path.suffix == ".py" else []
    bound = {(node.lineno, node.arg) for node in nodes if isinstance(node, ast.arg)}
    bound |= {
        (node.lineno, node.id) for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return [f"line {line}: name {name!r}" for line, name in sorted(bound) if name in NAMES]


def plain(text):
    for pattern, instead in NOT_PROSE:
        text = pattern.sub(instead, text)
    return text


def of_prose(text):
    problems = []
    rows = [line for line in text.splitlines() if line.lstrip().startswith("|")]
    for part in re.split(r"\n\s*\n", ITEM.sub("\n\n", re.sub(r"^\s*\|.*$", "", text, flags=re.MULTILINE))):
        for sentence in END.split(" ".join(part.split())):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) > LONGEST:
                problems.append(f"{len(words)} words: {sentence}")
            if len(numbers := NUMBER.findall(INTERVAL.sub("", sentence))) > MOST_NUMBERS:
                problems.append(f"{len(numbers)} numbers: {sentence}")
            problems += [f"word {word!r}: {sentence}" for word in WORDS.findall(sentence)]
    return problems + [f"word {word!r}: {row}" for row in rows for word in WORDS.findall(row)]


def of_python(source):
    """Return docstrings and comments of a module as prose, and its messages."""
    tree = ast.parse(source)
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    docstrings = [
        node.body[0].value for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node)
    ]
    prose = [TERM.sub(r"\n\n\1\n\n", plain(EXAMPLE.sub("\n\n", inspect.cleandoc(node.value)))) for node in docstrings]
    comments, last = [], None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            whole = token.line.lstrip().startswith("#")
            comments += [] if whole and last == token.start[0] - 1 else [""]
            last = token.start[0] if whole else None
            comments.append(token.string.lstrip("#! "))
    prose.append(plain("\n".join(line if line else "\n" for line in comments)))
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    messages = [
        message_of(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr | ast.Constant) and node not in docstrings and id(node) not in inside
    ]
    return "\n\n".join(prose), [plain(text) for text in messages if len(text.split()) > 3]


def message_of(node):
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(part.value if isinstance(part, ast.Constant) else "V" for part in node.values)


def name_of(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("check", [faults, names])
def test_every_file_follows_the_rules(check):
    problems = [f"{name_of(path)}: {problem}" for path in paths() for problem in check(path)]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The table rests on two runs.", "word 'rests on'"),
        ("One has `kept` and “said”.", None),
        ("It is 1, 2, 3 and 4.", "4 numbers"),
        ("It is 113B [46B, 271B] in 2024, after 2 and 3.", None),
        (f"{'word ' * 29}.", "29 words"),
        ("| kept | a |\n|---|---|", "word 'kept'"),
        ("Before.\n\n    bayescaling said 1 2 3 4\n\nAfter.", None),
        (f"{'word ' * 20}(Gadre 2024, arXiv:2403.08540). {'Word ' * 20}.", None),
    ],
)
def test_the_rules_find_faults(text, fault):
    problems = of_prose(plain(text))
    assert bool(problems) == bool(fault)
    assert not fault or problems[0].startswith(fault)


def test_every_part_of_a_docstring_is_read():
    lines = ["One.", "", "    It said two.", "", "        said 3", "", "    kept : int", "        Hardly."]
    source = "\n".join(["def f():", f'    """{lines[0]}', *lines[1:], '    """'])
    assert of_prose(of_python(source)[0]) == ["word 'said': It said two.", "word 'Hardly': Hardly."]


def test_names_of_variables_arguments_and_loops_are_read(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("def f(own, *, x): return [f(own=each.kept) for each in x]\nmade = given\n", encoding="utf-8")
    assert names(path) == ["line 1: name 'each'", "line 1: name 'own'", "line 2: name 'made'"]


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]) if sys.argv[1:] else paths():
        for fault in (*faults(path), *names(path)):
            print(f"{path}: {fault}")
