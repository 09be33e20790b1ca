"""Spark is imported when it is used, and missed in one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hinged
from hinged.scale import engine


@pytest.mark.parametrize(("package", "name"), [("pyspark", "pyspark"), ("google.protobuf", "protobuf")])
def test_a_missing_package_is_named_with_what_to_run(monkeypatch, package, name):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf'hinged.scale needs {name}.*pip install "hinged\[scale\]"'):
        hinged.scale.fit(None, hinged.Classifier())


@pytest.mark.parametrize("home", [None, "/nowhere"])
def test_a_missing_java_is_named_with_what_to_run(monkeypatch, home):
    pytest.importorskip("pyspark")
    monkeypatch.setattr(engine, "is_running", lambda: False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if home is not None:
        monkeypatch.setenv("JAVA_HOME", home)
    with pytest.raises(OSError, match=r"Spark needs Java 17, .* apt install openjdk-17-jre-headless"):
        engine.local_session("local[1]")


def test_a_master_is_checked_before_java_starts_and_a_cluster_keeps_its_own_network():
    for master in ("local", "local[*]", "local[4]", "local[2, 3]", "local-cluster[2,1,512]", "spark://a:7077", "yarn"):
        assert engine.MASTER.fullmatch(master)
    for master in ("", "local[zwei]", "local[2", "yarm", "spark:"):
        with pytest.raises(ValueError, match="master must be"):
            engine.local_session(master)
    assert "spark.driver.host" in engine.settings_for("local[2]", {})
    assert engine.settings_for("spark://a:7077", {"spark__executor__memory": "2g"}) == engine.QUIET | {
        "spark.executor.memory": "2g"
    }


def test_importing_the_package_does_not_import_spark():
    ask = "import sys, hinged.scale; print(*{m.partition('.')[0] for m in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout.split()
    assert "hinged" in loaded
    assert not {"pyspark", "pandas", "pyarrow"} & set(loaded)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="sockets are listed by Linux")
def test_a_local_session_listens_on_the_loopback_alone(spark):
    java = Path("/proc") / str(spark.sparkContext._gateway.proc.pid) / "fd"
    own = {os.readlink(each) for each in java.iterdir() if each.exists() or each.is_symlink()}
    heard = []
    for table, loopback in (("tcp", {"0100007F"}), ("tcp6", {"0" * 24 + "01000000", "0" * 16 + "FFFF00000100007F"})):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == "0A" and f"socket:[{inode}]" in own:
                heard.append(local.partition(":")[0] in loopback)
    assert heard
    assert all(heard)
