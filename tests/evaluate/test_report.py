"""Pictures and reports: files that stand alone, and say what they show."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from hinged.evaluate.plots import plot_mistakes, plot_reliability, spread_labels
from hinged.evaluate.report import COLUMNS, Run, recent_rate, summarize, write_report
from hinged.evaluate.svg import curves, round_steps


class Model:
    def __init__(self, dual):
        self.dual_ = dual

    def __repr__(self):
        return "Classifier(rule='pa1',\n           C=2)"


def run(name, flags, dual=1.5):
    flags = np.asarray(flags, dtype=np.int8)
    counted = max(1, int(np.sum(flags >= 0)))
    progress = SimpleNamespace(
        flags=flags,
        ranks=np.where(flags < 0, 0, flags + 1),
        mistakes=int(np.sum(flags == 1)),
        rate=float(np.sum(flags == 1)) / counted,
        curve=np.cumsum(flags == 1),
        updates=3,
        seconds=0.25,
        top=lambda k: 1.0,
    )
    return Run(name, Model(dual), progress)


@pytest.fixture
def runs():
    rng = np.random.default_rng(0)
    flags = [(rng.random(200) < rate).astype(int) for rate in (0.5, 0.2)]
    for one in flags:
        one[[0, 7, 90]] = -1
    return [run("weak & <plain>", flags[0], None), run("strong", flags[1], -2.0)]


def test_the_report_stands_alone(tmp_path, runs):
    page = write_report(tmp_path / "report.html", runs, title="A <title>", settings={"Seed": 3}).read_text("utf-8")
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)\s*=|url\(|@import""", page)
    assert "http" not in page
    assert "prefers-color-scheme:dark" in page
    assert page.count("<svg") == 2


def test_the_report_escapes_and_explains(tmp_path, runs):
    excerpt = [{"Subject": "a < b", "Folder": "x"}]
    page = write_report(
        tmp_path / "report.html", runs, title="A <title>", settings={"Seed": 3}, unit="messages", excerpt=excerpt
    ).read_text("utf-8")
    assert "weak &amp; &lt;plain&gt;" in page
    assert "<plain>" not in page
    assert "A &lt;title&gt;" in page
    assert "a &lt; b" in page
    assert "Classifier(rule=&#x27;pa1&#x27;, C=2)" in page
    assert all(heading in page for heading, _ in COLUMNS.values())
    assert all(meaning.count(". ") == 0 for _, meaning in COLUMNS.values())
    assert "−2.0" in page


def test_the_fewest_mistakes_are_named(tmp_path, runs):
    page = write_report(tmp_path / "report.html", runs, title="t", settings={}).read_text("utf-8")
    assert re.search(r"<strong>strong</strong> made the fewest mistakes: \d+ in 197 counted", page)


def test_a_summary_has_a_value_for_every_column(runs):
    rows = summarize(runs)
    assert [set(row) for row in rows] == [set(COLUMNS)] * 2
    assert rows[0]["certificate"] is None


@pytest.mark.parametrize("n", [1, 2, 9])
def test_a_short_stream_can_be_reported(tmp_path, n):
    short = run("one", [-1] * n)  # no round is counted: every label is new
    page = write_report(tmp_path / "report.html", [short], title="t", settings={}).read_text("utf-8")
    assert page.count('class="curve') == 2
    assert "nan" not in page.lower()
    picture = plot_mistakes({"one": short.progress}, tmp_path / "mistakes.png")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_many_learners_reuse_the_colours(tmp_path):
    many = [run(f"learner {i}", [-1, 1, 0, 1]) for i in range(20)]
    page = write_report(tmp_path / "report.html", many, title="t", settings={}).read_text("utf-8")
    assert page.count('class="curve') == 40


def test_nothing_to_show_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="nothing to report"):
        write_report(tmp_path / "report.html", [], title="t", settings={})
    with pytest.raises(ValueError, match="nothing to plot"):
        plot_mistakes({}, tmp_path / "mistakes.png")


@pytest.mark.parametrize(("suffix", "head"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_the_picture_has_the_format_of_its_suffix(tmp_path, runs, suffix, head):
    named = {one.name: one.progress for one in runs}
    path = plot_mistakes(named, tmp_path / f"mistakes.{suffix}")
    assert path.read_bytes().startswith(head)
    again = plot_mistakes(named, tmp_path / f"again.{suffix}")
    assert path.read_bytes() == again.read_bytes()


def test_a_reliability_plot_is_drawn(tmp_path):
    rng = np.random.default_rng(1)
    sure = rng.random(500)
    path = plot_reliability(sure, rng.random(500) < sure, tmp_path / "reliability.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    plot_reliability([0.0, 1.0], [False, True], tmp_path / "extremes.png")


@pytest.mark.parametrize(
    ("sure", "hit", "said"), [([], [], "of one length"), ([0.5], [1, 0], "of one length"), ([1.5], [1], "lie in")]
)
def test_a_bad_confidence_is_refused(tmp_path, sure, hit, said):
    with pytest.raises(ValueError, match=said):
        plot_reliability(sure, hit, tmp_path / "reliability.png")


def test_a_missing_matplotlib_is_named_with_its_cure(tmp_path, runs, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'hinged\[plot\]'"):
        plot_mistakes({one.name: one.progress for one in runs}, tmp_path / "mistakes.png")


def test_labels_keep_their_order_and_distance():
    wanted = [5.0, 1.0, 1.0, 9.0, 1.5, 9.1]
    placed = spread_labels(wanted, gap=2.0)
    order = np.argsort(wanted, kind="stable")
    assert np.all(np.diff(np.asarray(placed)[order]) >= 2.0 - 1e-9)
    assert np.mean(placed) == pytest.approx(np.mean(wanted))
    assert spread_labels([0.0, 10.0], gap=2.0) == [0.0, 10.0]


def test_the_recent_rate_counts_only_counted_rounds():
    flags = np.array([1, 1, -1, 0, 0, 1], dtype=np.int8)
    np.testing.assert_allclose(recent_rate(flags, 3), [np.nan, np.nan, 1.0, 0.5, 0.0, 1 / 3])
    assert np.isnan(recent_rate(flags, 7)).all()


@pytest.mark.parametrize("top", [1e-9, 0.6, 1, 7, 1787, 3000])
def test_steps_are_few_and_within(top):
    steps = round_steps(top, 5)
    assert steps[0] == 0.0
    assert 2 <= len(steps) <= 9
    assert steps[-1] <= top * (1 + 1e-9)


def test_a_curve_without_values_is_drawn_empty():
    drawn = curves({"none": [np.nan, np.nan]}, height=200, unit="rounds", percent=True, about="Nothing.")
    assert "nan" not in drawn
