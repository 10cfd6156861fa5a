import sys
import threading

import bayescaling as bs
import pytest
from bayescaling.datasets import progress_messages
from bayescaling.datasets.progress_messages import announced, counted, lasting, say


def test_nothing_is_said_that_nobody_watches(capfd):
    say("compiling", False)
    assert list(counted([1, 2, 3], "refitting", False)) == [1, 2, 3]
    assert capfd.readouterr() == ("", "")
    say("compiling", True)
    assert capfd.readouterr() == ("", "compiling\n")
    assert list(counted(iter([1, 2]), "refitting", True, total=2)) == [1, 2]
    output = capfd.readouterr()
    assert output.out == "" and "refitting" in output.err


def test_a_person_at_a_terminal_is_told_what_lasts(capsys, monkeypatch):
    for terminal, said in ((True, "sampling; progress=True shows how far it is\n"), (False, "")):
        monkeypatch.setattr(progress_messages, "PATIENCE", 0.0)
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        with announced("sampling", False):
            for timer in [of for of in threading.enumerate() if isinstance(of, threading.Timer)]:
                timer.join()
        assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize(("seconds", "words"), [(0.4, "0 s"), (42, "42 s"), (600, "10 min"), (9000, "2.5 h")])
def test_times_are_said_in_words(seconds, words):
    assert lasting(seconds) == words


@pytest.mark.filterwarnings("ignore::bayescaling.DiagnosticWarning")
def test_a_fit_names_what_runs_and_how_long_another_try_should_take(capfd):
    runs = bs.load("chinchilla_runs")
    fitter = bs.Fitter(bs.laws.Chinchilla(scatter="one"), runs)
    fitter.fit(seed=1, draws=60, tune=60, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    compiling, sampling = (err.index(f"{verb} chinchilla, scatter=one") for verb in ("compiling", "sampling"))
    assert compiling < sampling
    assert "245 rows, 4 chains of 60 + 60 iterations" in err
    assert "longer for more effective draws, up to" in err
