"""An executor that is killed in the middle of a round: the round completes, and is what it would have been."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.scale.test_mixing import MAIL, begun, bits, mail, on_partitions

import hinged
from hinged.scale import ModelState


@pytest.mark.skipif(sys.platform == "win32", reason="Spark starts executors on one machine under POSIX alone")
def test_a_round_completes_where_an_executor_is_killed_in_it(spark, tmp_path):
    import pyspark

    parts = [mail(60, seed) for seed in range(2)]
    (tmp_path / "parts.json").write_text(json.dumps(parts))
    home = tmp_path / "spark"  # executors keep their files here, and not where Spark is installed
    home.mkdir()
    for name in ("bin", "jars"):
        (home / name).symlink_to(Path(pyspark.__file__).parent / name)
    command = [sys.executable, str(Path(__file__).with_name("mixing_child.py")), str(tmp_path)]
    places = os.pathsep.join([str(Path(hinged.__file__).parents[1]), str(Path(__file__).parents[2])])
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": places}
    environment |= {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]

    lost, (learnt, batches) = (tmp_path / "lost").read_text(), (tmp_path / "learnt").read_text().split()
    assert lost != learnt
    assert batches == "6"
    with pytest.raises(ProcessLookupError):
        os.kill(int(lost), 0)

    model = begun(parts[0][0])
    done = hinged.scale.fit(on_partitions(spark, parts, MAIL), model, mix="mistakes")
    state = ModelState.from_bytes((tmp_path / "state").read_bytes())
    assert bits(hinged.TextClassifier().set_state(state)) == bits(model)
    assert json.loads((tmp_path / "round").read_text()) == list(done.rounds[0][:4])
    assert model.n_rounds_ == 120
