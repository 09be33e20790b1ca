"""The documentation is complete and correct: names, links, commands, options, and examples with their output."""

import ast
import contextlib
import inspect
import io
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
import typer
from benchmarks.__main__ import NAMES as BENCHMARKS
from benchmarks.markdown import write_section

import hinged
from hinged.cli.main import app

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAYS = re.compile(r"# (?:[^→]+ )?→ (.+)$")
FIGURE = r"\d[\d,.]*\d|\d"


def name_of(page):
    return str(page.relative_to(ROOT))


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(page, language):
    """Yield the code blocks of a page as (first line, words after the language, code)."""
    content = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(content):
        if match[1] == language:
            yield content.count("\n", 0, match.start()) + 2, match[2].strip(), match[3]


# ------------------------------------------------------------------ the surface
def named_in(page, name):
    """Return True if a page contains a name in code: alone, after a dot, or with its arguments."""
    shown = " ".join(re.findall(r"`[^`\n]+`", FENCE.sub("", text(page))))
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", shown) is not None


@pytest.mark.parametrize("name", hinged.__all__)
def test_every_export_is_in_the_reference(name):
    assert named_in("docs/api.md", f"hinged.{name}")


@pytest.mark.parametrize(
    "module",
    [
        "bounds",
        "costs",
        "datasets",
        "evaluate",
        "experiments",
        "features",
        "geometry",
        "journal",
        "mail",
        "mercer",
        "rules",
        "sharing",
        "text",
    ],
)
def test_every_export_of_a_module_is_in_the_reference(module):
    missing = [name for name in getattr(hinged, module).__all__ if not named_in("docs/api.md", name)]
    assert not missing, f"docs/api.md lacks {', '.join(missing)} of hinged.{module}"


@pytest.mark.parametrize("name", inspect.signature(hinged.Classifier).parameters)
def test_every_setting_of_a_classifier_is_in_the_reference(name):
    assert f"| `{name}` |" in text("docs/api.md")


@pytest.mark.parametrize(
    "kind",
    [
        hinged.BinaryClassifier,
        hinged.Classifier,
        hinged.OrdinalClassifier,
        hinged.Ranker,
        hinged.Regressor,
        hinged.TextClassifier,
        hinged.Uniclass,
        hinged.text.Hasher,
        hinged.text.Vocabulary,
    ],
)
def test_every_method_and_attribute_is_in_the_reference(kind):
    ours = [base for base in kind.__mro__ if base.__module__.startswith("hinged")]
    names = {name for base in ours for name in vars(base) if not name.startswith(("_", "set_"))}
    missing = sorted(name for name in names if not named_in("docs/api.md", name))
    assert not missing, f"docs/api.md lacks {', '.join(missing)}"


@pytest.mark.parametrize("name", hinged.rules.RULES)
def test_every_rule_is_in_the_guide(name):
    assert f"| `{name}` |" in text("docs/rules_compared.md")
    assert f'"{name}"' in text("docs/api.md")


@cache
def commands():
    """Return the parser of every command by name, with "" for the program itself."""
    known, left = {}, [("", typer.main.get_command(app))]
    while left:
        name, command = left.pop()
        known[name] = command
        left += [(f"{name} {own}".strip(), below) for own, below in getattr(command, "commands", {}).items()]
    return known


@pytest.mark.parametrize("name", commands())
def test_every_command_and_option_is_in_the_guide(name):
    guide = text("docs/cli.md")
    section = re.search(rf"^## `{f'hinged {name}'.strip()}`$(.*?)(?=^## |\Z)", guide, re.MULTILINE | re.DOTALL)
    assert section, f"docs/cli.md has no section on hinged {name}"
    for parameter in commands()[name].params:
        argument = parameter.param_type_name == "argument"
        for option in [parameter.metavar] if argument else [*parameter.opts, *parameter.secondary_opts]:
            assert f"`{option}`" in section[1], f"docs/cli.md lacks {option} of hinged {name}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_shown_exists(page):
    for line, _, code in blocks(page, "bash"):
        for command in re.findall(r"^(?:\S*/)?hinged( .*)$", code, re.MULTILINE):
            words = shlex.split(command, comments=True)
            names = [" ".join(words[:length]) for length in (3, 2, 1)]
            name = next((name for name in names if name in commands()), words[0])
            known = commands().get(name, commands()[""])
            options = {option for p in known.params for option in [*p.opts, *p.secondary_opts]} | {"--help", "-h", "-"}
            assert words[0] in commands() or words[0].startswith("-"), f"{name_of(page)}:{line} hinged {words[0]}"
            assert {word for word in words if word.startswith("-")} <= options, f"{name_of(page)}:{line}{command}"


def test_every_target_of_the_makefile_is_explained():
    targets = re.findall(r"^([a-z-]+):.*##", text("Makefile"), re.MULTILINE)
    missing = [target for target in targets if f"`make {target}`" not in text("CONTRIBUTING.md")]
    assert targets
    assert not missing, f"CONTRIBUTING.md lacks {', '.join(missing)}"


def test_every_dependency_earns_its_place():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    asked = project["dependencies"] + [one for extra in project["optional-dependencies"].values() for one in extra]
    names = {re.match(r"[\w-]+", one)[0] for one in asked} - {project["name"]}
    missing = sorted(name for name in names if f"| `{name}` |" not in text("docs/dependencies.md"))
    assert not missing, f"docs/dependencies.md lacks {', '.join(missing)}"


def test_the_changelog_knows_this_version():
    assert f"## [{hinged.__version__}]" in text("CHANGELOG.md")


def test_headings_that_docstrings_refer_to_exist():
    source = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py")))
    for page, heading in re.findall(r'(docs/\w+\.md),\s+"([^"]+)"', source):
        assert re.search(rf"^#+ {re.escape(heading)}$", text(page), re.MULTILINE), f"{page} has no heading {heading!r}"
    for page in re.findall(r"docs/\w+\.md", source):
        assert (ROOT / page).exists(), f"the sources speak of {page}"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name.startswith(("adding_", "measuring"))], ids=name_of
)
def test_guides_for_contributors_name_files_that_exist(page):
    content = page.read_text(encoding="utf-8")
    named = set(re.findall(r"\b(?:src|tests|benchmarks|docs)/[\w./]*\w+\.(?:py|md|txt)\b", content))
    new = {"src/hinged/rules/by_loss.py", "src/hinged/mail/sources/eml.py", "src/hinged/cli/labels.py"}
    lacking = {name for name in named - new if "NAME" not in name and not (ROOT / name).exists()}
    assert len(named) > 3
    assert lacking == set()


# ------------------------------------------------------------------ links
def anchor(heading):
    """Return the anchor that Markdown viewers give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_and_pictures_lead_somewhere(page):
    content = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", content):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, place = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{name_of(page)} links to {target}"
        if place:
            headings = re.findall(r"^#+ (.+)$", FENCE.sub("", there.read_text(encoding="utf-8")), re.MULTILINE)
            assert place in map(anchor, headings), f"{name_of(page)} links to {target}"


def test_every_picture_is_used_and_made_by_the_script():
    used = {target for page in PAGES for target in re.findall(r"images/([\w-]+\.\w+)", page.read_text("utf-8"))}
    script = text("docs/make_figures.py")
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.name in used, f"no page shows {picture.name}"
        assert re.search(rf"\b{picture.stem}\b", script), f"docs/make_figures.py does not make {picture.name}"


# ------------------------------------------------------------------ figures
def section(page, place):
    """Return what a page says below the heading with this anchor, up to the next heading of that level."""
    parts = re.split(r"^## (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(map(anchor, parts[1::2]), parts[2::2], strict=True))[place]


def test_every_figure_among_the_reasons_stands_where_its_link_leads():
    link = r"\[[^]]+\]\((docs/\w+\.md)#([\w-]+)\)"
    reasons = re.findall(rf"^- (\*\*.*?){link}$", text("README.md"), re.MULTILINE | re.DOTALL)
    assert len(reasons) == 4
    for words, page, place in reasons:
        there = re.findall(FIGURE, section(ROOT / page, place))
        for figure in re.findall(FIGURE, words):
            assert figure in there, f"README.md says {figure}, which {page}#{place} does not: {words}"


def test_every_figure_of_the_comparison_stands_in_the_section_of_its_row():
    row = r"^\| (.*) \| \[[^]]+\]\(speed\.md#([\w-]+)\), `(\w+)` \|$"
    rows = re.findall(row, text("docs/comparison.md"), re.MULTILINE)
    assert len(rows) > 15
    for words, place, benchmark in rows:
        assert benchmark in BENCHMARKS
        there = re.findall(FIGURE, section(ROOT / "docs" / "speed.md", place))
        for figure in re.findall(FIGURE, re.sub(r"williams-w3|pa1|rcv1|20 News|F1|CoNLL-2000", "", words)):
            assert figure in there, f"docs/comparison.md says {figure}, which speed.md#{place} does not: {words}"


def test_every_figure_of_the_table_how_fast_is_one_of_its_sections():
    places = ("label-stream", "text-files", "one-by-one")
    measured = [section(ROOT / "docs" / "speed.md", place) for place in places]
    cells = re.findall(rf" ({FIGURE}) \|", "".join(measured))
    numbers = [float(one.replace(",", "")) for one in cells]
    rows = re.findall(r"^\|.* \| (.*\d.*) \| (.*) \|$", section(ROOT / "README.md", "how-fast"), re.MULTILINE)
    assert len(rows) > 3
    for shown in re.findall(FIGURE, " ".join(map(" ".join, rows))):
        half = 0.5 * 0.1 ** len(shown.partition(".")[2])
        assert any(abs(float(shown) - one) <= half + 1e-9 for one in numbers), f"README.md says {shown}"


# ------------------------------------------------------------------ examples
def run(code, page, first_line, namespace):
    """Run a block. The value or output of a line that ends in `# → text`, or `# why → text`, must equal the text.

    In the text, … matches anything.
    """
    lines = code.splitlines()
    for statement in ast.parse(code).body:
        where = f"{name_of(page)}:{first_line + statement.lineno - 1}"
        says = SAYS.search(lines[statement.end_lineno - 1])
        ast.increment_lineno(statement, first_line - 1)
        if isinstance(statement, ast.Expr) and says:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                value = eval(compile(ast.Expression(statement.value), str(page), "eval"), namespace)
            got = printed.getvalue().strip() if value is None and printed.getvalue() else repr(value)
            pattern = ".*".join(map(re.escape, says[1].strip().split("…")))
            assert re.fullmatch(pattern, got, re.DOTALL), f"{where} says {says[1]}, but it is {got}"
        else:
            assert not says, f"{where}: only an expression can say what it gives"
            exec(compile(ast.Module([statement], []), str(page), "exec"), namespace)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(word != "no-run" for _, word, _ in blocks(page, "python"))], ids=name_of
)
def test_examples_run_and_give_what_they_say(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for line, words, code in blocks(page, "python"):
        assert words in ("", "no-run"), f"{name_of(page)}:{line} has an unknown mark {words!r}"
        if words != "no-run":
            run(code, page, line, namespace)


def test_notebooks_print_what_is_stored_in_them():
    script = ROOT / "docs" / "site" / "notebooks.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_few_examples_are_left_unrun():
    unrun = [name_of(page) for page in PAGES for _, words, _ in blocks(page, "python") if words == "no-run"]
    assert len(unrun) <= 4, unrun  # three of them start Spark, Dask and Ray


def test_one_benchmark_is_written_on_the_page_of_speed_without_losing_the_others(tmp_path):
    page = tmp_path / "speed.md"
    page.write_text(text("docs/speed.md"))
    machine = {"cpu": "a processor", "cores": 2, "python": "3", "versions": {}, "load": 1.5}
    report = {"name": "one_by_one", "data": "none", "method": "none", "sheets": [], "bars": []}
    write_section(page, machine, report)
    before, after = (
        dict(part.split("\n", 1) for part in p.split("\n## ")) for p in (text("docs/speed.md"), page.read_text())
    )
    assert list(after) == list(before)
    assert "load" in after["One by one"].lower()
    assert {title for title in after if after[title].strip() != before[title].strip()} == {"One by one"}
    write_section(page, machine, {**report, "name": "new"})
    assert page.read_text().count("\n## ") == len(before)
