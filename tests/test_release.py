"""What a release promises: one version everywhere, metadata that is true, and a public API that changes knowingly."""

import re
import tomllib
from difflib import unified_diff
from pathlib import Path

import pytest
import yaml
from tests.public_api import MODULES, lines
from tests.wheel import extras

import hinged

ROOT = Path(__file__).resolve().parents[1]


def test_the_public_api_is_what_the_file_says():
    written = (ROOT / "tests" / "public_api.txt").read_text(encoding="utf-8").splitlines()
    changes = [line for line in unified_diff(written, list(lines()), n=0, lineterm="") if not line.startswith("@@")][2:]
    assert not changes, (
        "the public API has changed. If that is meant (docs/stability.md), write a line in CHANGELOG.md and run\n"
        "python -m tests.public_api > tests/public_api.txt\n" + "\n".join(changes)
    )


def test_the_page_on_stability_lists_the_public_modules():
    page = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r"^\| `(hinged[.\w]*)` \|", page, re.MULTILINE))) == sorted(MODULES)


def test_the_version_is_written_once_and_repeated_truly():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert (ROOT / project["tool"]["hatch"]["version"]["path"]) == Path(hinged.__file__)
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == hinged.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{hinged.__version__}] - {cited['date-released']}\n" in changes


def test_workflows_run_targets_of_the_makefile_and_nothing_else():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    flows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    jobs = [job for flow in flows for job in yaml.safe_load(flow.read_text(encoding="utf-8"))["jobs"].values()]
    commands = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    assert commands
    for command in commands:
        program, target = command.split()[:2]
        assert program == "make", command
        assert target in targets, command


def test_workflows_test_every_python_that_the_metadata_name():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {one.rpartition(" ")[2] for one in project["classifiers"] if re.search(r"Python :: 3\.\d+$", one)}
    flow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    tested = set(re.findall(r'"(3\.\d+)"', flow))
    assert named == tested
    assert min(named, key=lambda one: int(one[2:])) == project["requires-python"].removeprefix(">=")


def test_every_extra_of_users_is_tried_in_an_environment_of_its_own():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(extras.USES) | extras.LEFT_OUT == set(project["optional-dependencies"])


@pytest.mark.parametrize(
    "path",
    [
        "CITATION.cff",
        ".pre-commit-config.yaml",
        *(f".github/ISSUE_TEMPLATE/{name}.yml" for name in ("bug", "idea", "config")),
    ],
)
def test_files_for_the_platform_are_sound(path):
    assert yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))
