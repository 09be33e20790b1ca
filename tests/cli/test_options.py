"""Options of commands are settings of learners: none is forgotten, none has other choices or defaults."""

import inspect
from typing import Literal, get_args

import pytest
import typer

import hinged
from hinged.cli.options import LEARNER, READING, Format, Rule, learner_settings
from hinged.files.examples import TASKS
from hinged.io.examples import FORMATS, read

#: Settings that are no options, and why.
ELSEWHERE = {
    "epochs": "--passes",
    "shuffle": "a stream has its order",
    "random_state": "nothing is shuffled",
    "n_features": "columns are added as they come",
    "geometry": "a simplex has a fixed number of features",
    "kernel": "an object, from Python",
    "device": "goes with a kernel",
    "budget": "goes with a kernel",
    "dtype": "single precision for text, double for columns",
}


def help_of(name):
    return get_args(LEARNER[name])[1].help


@pytest.mark.parametrize(
    "kind",
    [
        hinged.BinaryClassifier,
        hinged.Classifier,
        hinged.OrdinalClassifier,
        hinged.Ranker,
        hinged.Regressor,
        hinged.TextClassifier,
        hinged.TextRanker,
        hinged.Uniclass,
    ],
)
def test_every_setting_is_an_option(kind):
    assert {*kind().get_params()} <= {*LEARNER} | {*ELSEWHERE}


def test_every_option_is_a_setting():
    kinds = (hinged.Classifier, hinged.TextClassifier, hinged.Regressor, hinged.OrdinalClassifier, hinged.Uniclass)
    settings = {name for kind in kinds for name in kind().get_params()}
    assert {*LEARNER} - {"task"} <= settings


def test_every_choice_is_the_library_s():
    assert get_args(Rule) == tuple(hinged.rules.RULES)
    assert get_args(LEARNER["rule"])[0] == Literal[Rule, "auto"] | None
    assert get_args(Format) == tuple(FORMATS)
    assert get_args(get_args(get_args(LEARNER["task"])[0])[0]) == tuple(TASKS)
    for name in hinged.rules.RULES:
        assert name in help_of("rule")
    for name in FORMATS:
        assert name in get_args(READING["format"])[1].help


@pytest.mark.parametrize("name", ["rule", "C", "sharing", "scaling", "bias"])
def test_defaults_are_told_as_they_are(name):
    text, columns = (getattr(kind(), name) for kind in (hinged.TextClassifier, hinged.Classifier))
    shown = f"{text:g}" if isinstance(text, float) else text
    assert f"{shown} for text, {columns} for columns by default" in help_of(name)


@pytest.mark.parametrize("name", ["rule", "C", "epsilon", "target_scaling", "scaling", "bias"])
def test_auto_may_be_given_where_it_is_the_default(name):
    kind = hinged.Regressor if name in ("epsilon", "target_scaling") else hinged.Classifier
    assert getattr(kind(), name) == "auto"
    assert learner_settings({name: "auto"}) == {name: "auto"}


@pytest.mark.parametrize("name", ["C", "epsilon", "bias"])
def test_a_number_or_auto_is_asked_for_in_one_sentence(name):
    with pytest.raises(typer.BadParameter, match=f"^--{name} is a number or auto; got 'automatic'$"):
        learner_settings({name: "automatic"})


def test_every_option_of_reading_is_one_of_the_readers():
    assert {*READING} == {*inspect.signature(read).parameters} - {"source", "chunk_bytes"}
