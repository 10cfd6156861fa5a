import bayescaling as bs
import pytest

LAWS = [bs.law(name) for name in bs.laws.names() if name != "grouped"]


@pytest.mark.parametrize("law", [*LAWS, bs.laws.Grouped(bs.laws.Coupled(), "corpus")], ids=lambda law: law.label)
def test_a_law_prints_its_equation_on_two_lines(law):
    lines = repr(law).split("\n")
    assert " = " in lines[0] and len(lines) <= 2
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("law", "text"),
    [
        (bs.laws.Chinchilla(), "Chinchilla: loss = E + A/N^alpha + B/D^beta"),
        (
            bs.laws.Chinchilla(noise="normal", priors={"alpha": "HalfNormal(1)"}),
            "Chinchilla: loss = E + A/N^alpha + B/D^beta; noise=normal, prior alpha\n    HalfNormal(1)",
        ),
        (bs.laws.Formula("loss ~ E + A * n**-a"), "Formula: loss ~ E + A * n**-a"),
        (bs.laws.Progress(18), "Progress: log perplexity = exp(b + y + c); progress-18"),
    ],
)
def test_options_other_than_the_defaults_are_printed(law, text):
    assert repr(law) == text


def test_a_law_without_an_equation_prints_its_name():
    class Proportional(bs.laws.LossLaw):
        name = "proportional"
        slope = bs.laws.Sampled("LogNormal(0, 1)", "Any.")

        def loss(self, tokens, *, slope):
            return slope * tokens

    assert repr(Proportional(noise="normal")) == "Proportional: noise=normal"
