"""The structure of the package: import direction, file length, import cost, docstrings of public names."""

import ast
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.needs import OPTIONAL

import hinged
from hinged.compiling.cache import BESIDES, CORE

ROOT = Path(hinged.__file__).parent
#: From the bottom up. A module imports from folders below its own, and from its own folder.
LEVELS = (
    ("compiling", "interface"),
    ("native",),
    ("rules", "tasks", "sharing", "geometry"),
    ("mercer",),
    ("loops", "io"),
    ("text",),
    ("estimators",),
    ("evaluate",),
    ("files",),
    ("bounds",),
    ("experiments", "http", "journal", "scale"),
    ("mail",),
    ("",),  # the public surface, hinged/__init__.py
    ("client", "service"),
    ("cli",),
)
LEVEL = {folder: level for level, folders in enumerate(LEVELS) for folder in folders}
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))
#: Modules that need packages that are not installed here.
MISSING = {
    path.removeprefix("src/").removesuffix(".py").replace("/", ".")
    for path, packages in OPTIONAL.items()
    if not all(map(find_spec, packages))
}
FOLDERS = sorted(p.name for p in ROOT.iterdir() if (p / "__init__.py").exists())


def imported(path):
    """Yield the modules of this package that a file imports, at any level."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "hinged")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            if (node.module or "").split(".")[0] == "hinged":
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("module", [m for m in MODULES if m.split("/")[0] not in CORE])
def test_compiled_code_calls_only_what_its_folder_is_named_after(module):
    tree, part = ast.parse((ROOT / module).read_text(encoding="utf-8")), module.split("/")[0]
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    origin = {alias.name: node.module.split(".") for node in imports for alias in node.names}
    foreign = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any("compiled" in ast.unparse(d) for d in node.decorator_list):
            used = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
            foreign += [name for name in used if origin.get(name, [""])[0] == "hinged"]
    assert [name for name in foreign if origin[name][1] not in (*CORE, part, BESIDES.get(part))] == []


def test_one_decorator_compiles():
    assert [m for m in MODULES if "njit(" in (ROOT / m).read_text(encoding="utf-8")] == [
        "compiling/decorator.py",
        "compiling/parts.py",
    ]


def test_the_wheel_holds_the_package_alone():
    project = tomllib.loads((ROOT.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["src/hinged"]


def test_every_folder_has_its_level():
    assert sorted(LEVEL) == ["", *FOLDERS]


@pytest.mark.parametrize("module", [m for m in MODULES if "/" in m])
def test_imports_point_downwards(module):
    folder = module.split("/")[0]
    upwards = []
    for name in imported(ROOT / module):
        parts = name.split(".")
        other = parts[1] if len(parts) > 1 and parts[1] in FOLDERS else ""
        if other != folder and LEVEL[other] >= LEVEL[folder]:
            upwards.append(name)
    assert upwards == []


@pytest.mark.parametrize("module", MODULES)
def test_a_file_can_be_read_in_one_sitting(module):
    lines = (ROOT / module).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 400
    assert all(len(line) <= 120 for line in lines)


#: Functions that are longer, or take more arguments, and why. Constructors and commands take what their users may set.
LONG = {
    "mercer/persistent.py": "Triton has no tuples, and compiles a program with all that it calls from flat arguments",
    "mercer/arrays.py": "a public function on plain arrays, with a setting each",
    "io/examples/reader.py": "a public function, with a setting each",
    "loops/side_by_side.py": "one round, step by step; calls would pass all its arrays for every row",
    "loops/weight_rows.py": "addresses and lanes, one by one: a tuple would be taken apart for every row",
    "scale/keyed.py": "a public function, with a setting each",
    "scale/mixing.py": "a public function, with a setting each",
    "rules/combine.py": "what a round gives a rule, apart from its arrays",
}


def too_long(tree):
    """Yield the functions of a module with more than 60 lines or eight arguments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != "__init__":
            arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            if node.end_lineno - node.lineno >= 60 or len([a for a in arguments if a.arg != "self"]) > 8:
                yield node.name


@pytest.mark.parametrize("module", [m for m in MODULES if not m.startswith("cli/")])
def test_a_function_can_be_seen_at_once(module):
    found = list(too_long(ast.parse((ROOT / module).read_text(encoding="utf-8"))))
    assert bool(found) == (module in LONG), found


@pytest.mark.parametrize("module", MODULES)
def test_a_file_begins_by_saying_what_it_is(module):
    assert ast.get_docstring(ast.parse((ROOT / module).read_text(encoding="utf-8")))


#: Methods of every NamedTuple, public in spite of their names.
OF_NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_make"}


def private_names(tree):
    """Private names that a file defines: functions, classes, variables, and attributes that it sets."""
    for node in ast.walk(tree):
        name = getattr(node, "name", None) or getattr(node, "id", None) or getattr(node, "attr", None) or ""
        stores = isinstance(getattr(node, "ctx", None), ast.Store) or isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        )
        if stores and name.startswith("_") and not name.startswith("__"):
            yield name


def test_no_private_name_crosses_a_package():
    trees = {module: ast.parse((ROOT / module).read_text(encoding="utf-8")) for module in MODULES}
    own = {folder: set() for folder in LEVEL}
    for module, tree in trees.items():
        own[module.split("/")[0] if "/" in module else ""].update(private_names(tree))
    crossing = []
    for module, tree in trees.items():
        folder = module.split("/")[0] if "/" in module else ""
        foreign = set().union(*(names for other, names in own.items() if other != folder)) - own[folder]
        for node in ast.walk(tree):
            used = [node.attr] if isinstance(node, ast.Attribute) else []
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hinged."):
                used = [alias.name for alias in node.names if node.module.split(".")[1] != folder]
                foreign |= {name for name in used if name.startswith("_") and not name.startswith("__")}
            crossing += [(module, node.lineno, name) for name in used if name in foreign - OF_NAMED_TUPLES]
    assert crossing == []


def test_the_page_on_architecture_names_what_exists():
    page = (ROOT.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)+\w+\.py)`(?:\s+`([\w.]+)`)?", page)
    assert len(named) > 40
    lacking = []
    for path, name in named:
        at = ROOT / path if (ROOT / path).exists() else ROOT.parents[1] / path
        tree = ast.parse(at.read_text(encoding="utf-8")) if at.exists() else None
        for part in name.split(".") if name else []:
            found = [node for node in getattr(tree, "body", []) if getattr(node, "name", None) == part]
            tree = found[0] if found else None
        if tree is None:
            lacking.append((path, name))
    assert lacking == []
    assert set(FOLDERS) <= set(re.findall(r"`(\w+)/`", page))


def test_importing_the_package_loads_nothing_heavy():
    ask = "import sys, hinged; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout.split()
    assert "hinged" in loaded
    assert not {"numba", "sklearn", "matplotlib", "scipy", "rich", "typer", "river", "torch"} & set(loaded)


@pytest.mark.parametrize("statement", [
    "from hinged.features import Frequency",
    "from hinged.datasets import mail_stream",
    "import hinged.features, hinged.datasets; hinged.features.Frequency, hinged.datasets.names",
    "import hinged; assert hinged.features.Frequency is hinged.sharing.Frequency",
    "import hinged; assert hinged.datasets.mail_stream is hinged.experiments.mail_stream",
])  # fmt: skip
def test_what_can_be_reached_can_be_imported(statement):
    subprocess.run([sys.executable, "-c", statement], check=True, timeout=120)


def test_importing_the_package_loads_next_to_nothing():
    ask = "import sys; before = set(sys.modules); import hinged; print(*sorted(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in loaded if name.startswith("hinged")] == ["hinged"]
    assert len(loaded) < 100


def test_using_an_estimator_loads_no_plots_and_no_progress_bars():
    ask = "import sys, hinged; hinged.Classifier; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout.split()
    assert "numba" in loaded
    assert not {"matplotlib", "rich", "typer", "river"} & set(loaded)


@pytest.mark.parametrize("folder", ["", *FOLDERS])
def test_public_names_are_listed_once_and_exist(folder):
    package = import_module(f"hinged.{folder}".rstrip("."))
    assert len(set(package.__all__)) == len(package.__all__)
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert set(package.__all__) <= set(dir(package))


def test_the_public_surface_is_one_sorted_list():
    assert hinged.__all__ == sorted(hinged.__all__)


def test_an_unknown_name_is_named():
    with pytest.raises(AttributeError, match="no attribute 'Clasifier'"):
        hinged.Clasifier  # noqa: B018


def public_objects():
    """Yield every public class and function, and the public methods of each class."""
    for folder in ["", *FOLDERS]:
        package = import_module(f"hinged.{folder}".rstrip("."))
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isclass(thing) or inspect.isroutine(thing) or hasattr(thing, "py_func"):
                yield f"{package.__name__}.{name}", thing
            if inspect.isclass(thing):
                for method, member in inspect.getmembers(thing):
                    ours = getattr(member, "__module__", None) or getattr(
                        getattr(member, "fget", None), "__module__", ""
                    )
                    if not method.startswith("_") and str(ours).startswith("hinged"):
                        yield f"{package.__name__}.{name}.{method}", member


def test_every_public_name_is_explained():
    assert [name for name, thing in public_objects() if not inspect.getdoc(thing)] == []


#: Import modules in one process: other packages stay loaded, all modules of hinged are removed before each import.
IMPORT_AFRESH = """
import importlib, sys
for name in sys.argv[1:]:
    for ours in [known for known in sys.modules if known.partition(".")[0] == "hinged"]:
        del sys.modules[ours]
    importlib.import_module(name)
"""


def test_every_module_can_be_imported_by_itself():
    modules = [name for _, name, _ in pkgutil.walk_packages([str(ROOT)], "hinged.") if not name.endswith("__main__")]
    modules = [name for name in modules if name not in MISSING]
    for name in modules:
        import_module(name)
    subprocess.run([sys.executable, "-c", IMPORT_AFRESH, *modules[::10]], check=True, timeout=120)
