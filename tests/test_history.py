"""The history of the benchmarks: what is kept of a run, what counts as worse, and the page that shows it."""

from pathlib import Path

import pytest
from benchmarks import history
from benchmarks.markdown import table
from benchmarks.report import Bar, Report, at_least, at_most

ROOT = Path(__file__).parents[1]


def report(*bars):
    return Report("label_stream", "", "", bars=list(bars))


def test_a_run_is_compared_with_the_median_of_the_five_before(tmp_path):
    file = tmp_path / "history.jsonl"
    for day, speed in enumerate((1.0, 10.0, 10.0, 10.0, 99.0, 10.0)):
        history.add(report(at_least("speed over peers", speed, 5.0)), f"2026-01-0{day + 1}", "one core", file)
    assert history.add(report(at_least("speed over peers", 9.5, 5.0)), "2026-01-07", "one core", file) == []
    assert history.add(report(at_least("speed over peers", 4.0, 5.0)), "2026-01-08", "another", file) == []
    (sentence,) = history.add(report(at_least("speed over peers", 7.0, 5.0)), "2026-01-09", "one core", file)
    assert sentence.startswith("label_stream: speed over peers got worse: 7×, 10× before")


def test_a_ceiling_gets_worse_upwards(tmp_path):
    file = tmp_path / "history.jsonl"
    for day, seconds in enumerate((2.0, 1.0, 3.0)):
        said = history.add(report(at_most("start", seconds, 5.0, "s")), f"2026-01-0{day + 1}", "one core", file)
        assert bool(said) == (seconds == 3.0)
    assert [(one.value, one.bar, one.least, one.met) for one in history.read(file)][-1] == (3.0, 5.0, False, True)


def test_what_is_no_number_is_left_out():
    bars = [("at least as good as AROW on 7 sets", "59.3 and 56.4"), ("time ≤ 3 ×", "a lot"), ("time ≤ 3 ×", "7.05 ×")]
    (entry,) = history.entries_of("label_stream", bars, "2026-01-01", "one core")
    assert (entry.target, entry.bar, entry.value, entry.unit, entry.met) == ("time", 3.0, 7.05, "×", False)


def test_the_page_lists_what_got_worse_first_and_counts_days_once(tmp_path):
    file = tmp_path / "history.jsonl"
    for date, speed in (("2026-01-01", 8.0), ("2026-01-02", 7.0), ("2026-01-02", 4.0)):
        history.add(report(at_least("speed", speed, 5.0), Bar("no number", "-", True)), date, "one core", file)
    first, _, every = history.page(history.read(file)).partition("## Every target")
    row = "| label_stream | speed | ≥ 5× | **4×** | -50 % | 8× | 2026-01-02 | 2 |"
    assert row in first
    assert row in every


def test_words_are_aligned_to_the_left_and_figures_to_the_right():
    rows = [["a", "two words", "≥ 5×", "**4 ms**"], ["b", "", "≤ 2 s", "1,000"]]
    assert table(["", "what", "bar", "last"], rows).splitlines()[1] == "| --- | --- | ---: | ---: |"
    assert table(["", "what"], []).splitlines()[1] == "| --- | --- |"


@pytest.mark.parametrize("days", [0, 1, 5])
def test_the_picture_can_be_drawn(tmp_path, days):
    entries = [history.Entry(f"2026-01-0{day + 1}", "a", "b", True, 1.0, 2.0, "×", "m") for day in range(days)]
    history.draw(entries, tmp_path / "history.png")
    assert (tmp_path / "history.png").stat().st_size > 1000


def test_the_page_in_the_documentation_is_that_of_the_file():
    entries = history.read(ROOT / history.FILE)
    assert history.page(entries) == (ROOT / history.PAGE).read_text("utf-8")
