"""Compiled code: where it is stored, when it is compiled anew, and what is never loaded."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config, types
from numba.core.event import Listener, install_listener
from numba.extending import intrinsic
from numba.np.arrayobj import make_array
from tests.needs import program as needed

import hinged
from hinged.compiling import compiled
from hinged.compiling.levels import levels_here

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled with the compiler switched off")

#: Shares of two steps, by a function that Python calls; prints how often it was found stored and how often compiled.
ASK = """
import numpy as np
from hinged.compiling.cache import folder
from hinged.rules import RULES
from hinged.rules.combine import shares
lam = np.array([0.5, 0.25])
total = shares(RULES["simproj"].words, np.zeros(2), np.ones(2), lam)
stats = shares.stats
print(total, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), folder())
"""


def copy_of_package(path):
    """Copy the package's sources into a folder; beside them `ask` has the user's home."""
    copy = path / "packages" / "hinged"
    shutil.copytree(Path(hinged.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture
def package(tmp_path):
    """A copy of the package's sources, of which nothing is compiled."""
    return copy_of_package(tmp_path)


def ask(package, *before, program=ASK, **variables):
    """Run the program in a process of its own; return the sum, stored and compiled versions, and the folder."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"HOME": str(package.parents[1] / "home")} | variables
    command = [*before, sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd="/", timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    total, stored, new, folder = done.stdout.split()
    return float(total), int(stored), int(new), Path(folder)


@pytest.fixture(scope="module")
def home_with_code(tmp_path_factory):
    """The home of a user who has run the program."""
    package = copy_of_package(tmp_path_factory.mktemp("user"))
    ask(package)
    return package.parents[1] / "home"


@pytest.fixture
def folder(package, home_with_code):
    """The folder with the stored code of the package, in a home of the test's own."""
    home = package.parents[1] / "home"
    shutil.copytree(home_with_code, home)
    (found,) = home.rglob("hinged-code-*")
    return found


def test_code_is_stored_for_later_processes(package):
    assert ask(package)[:3] == (0.375, 0, 1)
    total, stored, new, folder = ask(package)
    assert (total, stored, new) == (0.375, 1, 0)
    assert folder.is_relative_to(package.parents[1] / "home")
    assert folder.stat().st_mode & 0o077 == 0


def test_another_checkout_with_the_same_sources_shares_the_code(package, folder, tmp_path):
    other = tmp_path / "elsewhere" / "hinged"
    shutil.copytree(package, other)
    os.utime(other / "rules" / "combine.py", (0, 0))
    assert ask(other, HOME=str(tmp_path / "home")) == (0.375, 1, 0, folder)


def test_an_edit_of_a_file_that_the_function_calls_is_seen(package, folder):
    source = package / "rules" / "choose.py"
    text = source.read_text(encoding="utf-8")
    assert "score_gap < margin" in text or "gap < margin" in text
    source.write_text(text.replace("gap < margin", "gap < margin - 2.0"), encoding="utf-8")
    after = ask(package)
    assert (after[0], after[2]) == (0.0, 1)
    assert after[3] != folder


@pytest.mark.parametrize("variable", [{"NUMBA_OPT": "1"}, {"NUMBA_BOUNDSCHECK": "1"}, {"HINGED_PLAIN": "1"}])
def test_other_settings_of_the_compiler_have_a_folder_of_their_own(package, folder, variable):
    assert ask(package, **variable)[3] != folder


def test_damaged_files_are_compiled_anew(package, folder):
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert ask(package)[:3] == (0.375, 0, 1)
    for path in folder.iterdir():
        path.write_bytes(b"")
    assert ask(package)[:3] == (0.375, 0, 1)
    assert ask(package)[:3] == (0.375, 1, 0)


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_code_that_others_could_have_written_is_not_run(package, folder):
    folder.chmod(0o770)
    assert ask(package)[:3] == (0.375, 0, 1)
    folder.chmod(0o700)
    if os.getuid() == 0:
        os.chown(folder, 65534, -1)
        assert ask(package)[:3] == (0.375, 0, 1)


def test_code_stays_in_memory_where_nothing_may_be_written(package):
    folders = [Path(folder) for folder, _, _ in os.walk(package.parent)]
    before = []
    if os.getuid() == 0:  # root ignores permissions unless this capability is dropped
        before = [str(needed("setpriv", "util-linux")), "--bounding-set", "-dac_override"]
    for folder in folders:
        folder.chmod(0o555)
    try:
        answer = ask(package, *before, HOME=str(package))
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert answer[:3] == (0.375, 0, 1)
    assert not answer[3].exists()


def test_code_is_loaded_from_a_folder_whose_date_cannot_be_changed(package):
    source = package / "compiling" / "cache.py"
    text = source.read_text(encoding="utf-8")
    refuses = "    raise OSError(30, 'Read-only file system')"
    source.write_text(text.replace("    os.utime(path)", refuses), encoding="utf-8")
    assert ask(package)[:3] == (0.375, 0, 1)
    assert ask(package)[:3] == (0.375, 1, 0)


def test_the_code_of_other_arguments_is_not_run(package, folder):
    """A file may have the name of another version: types can differ that are called the same."""
    other = ASK.replace("np.zeros(2), np.ones(2)", "np.zeros(2, np.int64), np.ones(2)")
    assert ask(package, program=other)[:3] == (0.375, 0, 1)
    first, second = sorted(folder.glob("combine.shares*"))
    swapped = first.read_bytes(), second.read_bytes()
    second.write_bytes(swapped[0])
    first.write_bytes(swapped[1])
    assert ask(package, program=other)[:3] == (0.375, 0, 1)


def test_a_package_in_an_archive_is_compiled_in_memory(package, tmp_path):
    archive = shutil.make_archive(str(tmp_path / "packed"), "zip", package.parent)
    for _ in range(2):
        answer = ask(package, PYTHONPATH=archive)
        assert answer[:3] == (0.375, 0, 1)
    assert not answer[3].exists()


def test_folders_that_nobody_used_for_long_are_removed(package, folder):
    prefix = folder.name.removesuffix(folder.name[-16:])
    old, young = folder.with_name(prefix + "0" * 16), folder.with_name(prefix + "1" * 16)
    others = [folder.with_name("compiled-0"), folder.with_name(f"{prefix}mine")]
    for made in (old, young, *others):
        made.mkdir()
    for aged in (old, *others):
        os.utime(aged, (0, 0))
    assert ask(package, NUMBA_OPT="1")[3].exists()
    assert [path.exists() for path in (folder, old, young, *others)] == [True, False, True, True, True]


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_file_that_others_could_have_written_is_not_run(package, folder):
    (path,) = folder.iterdir()
    path.chmod(0o666)
    assert ask(package)[:3] == (0.375, 0, 1)
    assert path.stat().st_mode & 0o077 == 0, "the new file has taken its place"


def test_a_changed_byte_is_seen_anywhere_in_a_file(package, folder):
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    for place in (0, 20, 60, len(whole) // 2, len(whole) - 1):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        assert ask(package)[:3] == (0.375, 0, 1)
        assert path.read_bytes() != bytes(damaged), "compiled anew and stored"


def test_a_full_disk_leaves_code_in_memory(package):
    source = package / "compiling" / "code_file.py"
    text = source.read_text(encoding="utf-8")
    assert "            file.write(" in text
    full = "            file.write(b'begun')\n            raise OSError(28, 'no space')\n            file.write("
    source.write_text(text.replace("            file.write(", full), encoding="utf-8")
    answer = ask(package)
    assert answer[:3] == (0.375, 0, 1)
    assert not list(answer[3].iterdir()), "no half of a file stays behind"


def test_processes_that_compile_at_once_store_code_that_all_can_load(package):
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(package.parent),
        "HOME": str(package.parents[1] / "home"),
    }
    command = [sys.executable, "-c", ASK]
    together = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, cwd="/") for _ in range(3)]
    assert [each.communicate(timeout=600)[0].split()[0] for each in together] == [b"0.375"] * 3
    assert ask(package)[:3] == (0.375, 1, 0)


def test_no_home_at_all_is_no_error(package):
    assert ask(package, HOME="")[0] == 0.375


@pytest.mark.parametrize("missing", ["platformdirs", "zstandard"])
def test_code_stays_in_memory_where_a_package_for_storing_it_is_missing(package, missing):
    without = f"import sys\nsys.modules[{missing!r}] = None\n"
    total, stored, new, folder = ask(package, program=without + ASK)
    assert (total, stored, new) == (0.375, 0, 1)
    assert folder.parent == Path(os.devnull)
    assert not (package.parents[1] / "home").exists()


def test_kernel_learners_need_neither_platformdirs_nor_zstandard(package):
    program = (
        "import sys\n"
        "for name in ('platformdirs', 'zstandard'): sys.modules[name] = None\n"
        "import numpy as np\n"
        "from hinged.mercer import Gaussian, learn\n"
        "learnt = learn(np.eye(2), np.array([0, 1]), Gaussian(0.5), 'pa1', 1.0)\n"
        "print(learnt.updates, len(learnt.flags), 0, 'none')"
    )  # the first row brings a label that has no rival yet
    assert ask(package, program=program, NUMBA_DISABLE_JIT="1")[:2] == (1.0, 2)


# ------------------------------------------------------------------ code that comes with the package
@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A copy of the package with machine code for each level, as a wheel has it."""
    package = copy_of_package(tmp_path_factory.mktemp("wheel"))
    for level in levels_here():
        place = package / "machine_code" / level
        ask(package, NUMBA_CPU_NAME=level, NUMBA_CPU_FEATURES="", NUMBA_CACHE_DIR=str(place))
        for path in (place, *place.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    return package


@pytest.fixture
def wheel(installed, tmp_path):
    """That copy, for one test to change."""
    copy = tmp_path / "packages" / "hinged"
    shutil.copytree(installed, copy)
    return copy


def test_code_of_the_package_is_loaded_and_nothing_is_stored(wheel):
    answer = ask(wheel)
    assert answer[:3] == (0.375, 1, 0)
    assert not answer[3].exists()


def test_the_processor_decides_which_code_is_loaded(wheel):
    best, *_ = levels_here()
    shutil.rmtree(wheel / "machine_code" / best)
    assert ask(wheel)[2] == 1, "without the best level's code it is compiled for this processor"
    if best != "generic":
        assert ask(wheel, NUMBA_ENABLE_AVX="0", HOME="/dev/null")[1:3] == (1, 0)
        assert ask(wheel, NUMBA_CPU_NAME="generic", HOME="/dev/null")[1:3] == (1, 0)


def test_code_for_exactly_this_processor_is_compiled_on_request(wheel):
    assert ask(wheel, HINGED_NATIVE="1")[:3] == (0.375, 0, 1)
    assert ask(wheel, HINGED_NATIVE="1")[:3] == (0.375, 1, 0)


def test_edited_sources_do_not_run_the_code_they_came_with(wheel):
    source = wheel / "rules" / "choose.py"
    source.write_text(source.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert ask(wheel)[:3] == (0.375, 0, 1)


def test_damaged_code_of_the_package_is_compiled_instead(wheel):
    for path in wheel.glob("machine_code/*/*/*"):
        path.write_bytes(path.read_bytes()[:-1])
    assert ask(wheel)[:3] == (0.375, 0, 1)
    assert ask(wheel)[:3] == (0.375, 1, 0)


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_code_of_the_package_that_others_could_have_written_is_not_run(wheel):
    (folder,) = wheel.glob(f"machine_code/{levels_here()[0]}/*")
    for path in (next(folder.iterdir()), folder, folder.parent):
        mode = path.stat().st_mode
        path.chmod(0o777)
        assert ask(wheel, HOME="/dev/null")[:3] == (0.375, 0, 1)
        path.chmod(mode)
    assert ask(wheel, HOME="/dev/null")[:3] == (0.375, 1, 0)


@pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="groups are changed by root")
def test_a_group_that_shares_the_sources_may_share_their_code(wheel):
    code = [wheel / "machine_code", *wheel.glob("machine_code/**/*")]
    wheel.chmod(0o775)
    for path in code:
        path.chmod(path.stat().st_mode | 0o020)
    assert ask(wheel, HOME="/dev/null")[:3] == (0.375, 1, 0)
    for path in code:
        os.chown(path, -1, 65534)
    assert ask(wheel, HOME="/dev/null")[:3] == (0.375, 0, 1)


# ------------------------------------------------------------------ the decorator
@compiled(helper=True)
def doubled(x):
    return 2 * x


@compiled
def all_doubled(values):
    total = doubled(1) + doubled(3)
    for j in range(values.shape[0]):
        values[j] = doubled(values[j])
    return total


def test_python_runs_a_helper_as_it_is_written():
    assert doubled("ab") == "abab"


def test_a_helper_is_compiled_once_for_each_type_of_its_arguments():
    values = np.array([0.5, 1.5])
    assert (all_doubled(values), values.tolist()) == (8, [1.0, 3.0])
    assert [str(kind) for (kind,) in doubled.signatures] == ["int64", "float64"]


@intrinsic
def has_owner(context, array):
    """Whether compiled code counts the references to an array."""

    def generate(context, builder, signature, args):
        owner = make_array(array)(context, builder, args[0]).meminfo
        return builder.icmp_unsigned("!=", owner, owner.type(None))

    return types.boolean(array), generate


@compiled(helper=True)
def is_owned(array, several):
    return has_owner(array), has_owner(several[0][1:])


@compiled(helper=True)
def handed_back(array):
    return array[1:], has_owner(array)


@compiled
def owners(array):
    return is_owned(array, (array,)), handed_back(array), has_owner(array)


def test_a_helper_borrows_its_arguments_unless_it_returns_an_array():
    borrows, (part, keeps), owned = owners(np.array([0.5, 1.5]))
    assert (borrows, keeps, owned) == ((False, False), True, True)
    assert part.tolist() == [1.5]


@compiled(helper=True)
def total_but_one(array):
    """Replaces its argument by a part of it, and by an array of its own, as many times as it is long."""
    total = 0.0
    for j in range(array.shape[0]):
        array = array[1:] if j % 2 else array + 1.0
        total += array.sum()
    return total


@compiled
def of_what_nobody_keeps(n):
    return total_but_one(np.arange(n) * 1.0)


def test_a_helper_may_put_arrays_of_its_own_in_place_of_what_it_borrowed():
    expected = total_but_one(np.arange(40.0))
    assert [of_what_nobody_keeps(40) for _ in range(200)] == [expected] * 200


def test_options_of_numba_are_passed_on():
    @compiled(error_model="numpy")
    def divided(x, y):
        return x / y

    assert divided(1.0, 0.0) == np.inf


def test_options_are_not_handed_on_to_what_a_function_calls():
    """Numba would compile its own functions once more for callers that are inlined, or that keep Python's lock."""

    @compiled(helper=True, forceinline=True)
    def inlined(n):
        return np.empty((n, n, n, n, 7)).size

    @compiled(helper=True)
    def linked(n):
        return np.empty((n, n, n, n, 7)).size

    @compiled(nogil=False)
    def both(n):
        return inlined(n) + linked(n)

    seen = []

    class Seen(Listener):
        def on_start(self, event):
            seen.append(event.data["dispatcher"].py_func.__qualname__)

        def on_end(self, event):
            pass

    with install_listener("numba:compile", Seen()):
        assert both(2) == 224
    assert sum("np_empty" in name for name in seen) == 1
