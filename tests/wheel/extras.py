"""Install a wheel alone and with each of its extras, and use what each brings; `make test-wheel` runs this.

    python tests/wheel/extras.py WHEEL [EXTRA ...]

In place of a wheel there may be a source distribution, as in `make dist`.

Every environment is new, and uv fills it. Without its extra, each use must end with an error that says what to install.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

#: What a user of an extra does first.
USES = {
    "gpu": """
import hinged
import numpy as np
model = hinged.Classifier(kernel=hinged.mercer.Gaussian(0.5), device="cuda")
model.partial_fit(np.eye(3), ["a", "b", "c"])
assert model.predict(np.eye(3)).tolist() == ["a", "b", "c"]
""",
    "keyring": """
from hinged.mail.keyring import read_secret
assert read_secret("hinged", "jane@example.org") is None
""",
    "mail": """
from hinged.mail.sources.imap import open_imap
from hinged.mail.sources.source import SourceError
try:
    open_imap("imaps://jane@127.0.0.1:1/")
except SourceError as error:
    assert "127.0.0.1" in str(error), error
import dns.resolver
""",
    "parquet": """
from pathlib import Path
from hinged.io.examples import read, write
Path("in.csv").write_text("label,text\\nhome,a cake\\nwork,the tax form\\n")
write(read("in.csv"), "out.parquet")
assert [label for chunk in read("out.parquet") for label in chunk.answers] == ["home", "work"]
""",
    "plot": """
from hinged.__main__ import main
import sys
from pathlib import Path
sys.argv = ["hinged", "demo", "--messages", "200", "--folders", "5", "--out", "demo"]
try:
    main()
except SystemExit as end:
    if end.code:
        raise
assert Path("demo/mistakes.png").stat().st_size > 1000
""",
    "river": """
import hinged
learner = hinged.to_river(hinged.Classifier())
learner.learn_one({"cake": 1}, "home")
assert learner.predict_one({"cake": 1}) == "home"
""",
    "scale": """
import hinged
spark = hinged.scale.local_session("local[1]")
mail = spark.createDataFrame([("a cake", "home"), ("the tax form", "work")] * 5, ["text", "label"])
model = hinged.TextClassifier()
hinged.scale.fit(mail.coalesce(1), model, features=["text"], label="label")
assert model.predict_one("the tax") == "work"
spark.stop()
""",
    "server": """
import tempfile
from pathlib import Path
from hinged.client import Client
try:
    from hinged.service import Settings, serving
    with serving(Settings(Path(tempfile.mkdtemp()))) as (url, token), Client(url, token, timeout=300) as client:
        mail = client.create("mail", "TextClassifier")
        mail.learn("tax form due", "work")
        assert mail.predict("the tax") == "work"
except ModuleNotFoundError:
    from hinged.__main__ import main
    import sys
    sys.argv = ["hinged", "serve", "models"]
    main()
""",
}
#: Extras for developers, and one made of others.
LEFT_OUT = {"all", "bench", "lint", "release", "security", "site", "test"}
#: What has to be on the machine besides; without a card the gigabytes of PyTorch are not fetched.
PROGRAMS = {"gpu": "nvidia-smi", "scale": "java"}
ALONE = """
from hinged.__main__ import main
import sys
from pathlib import Path
Path("in.csv").write_text("label,text\\nhome,a cake\\nwork,the tax form\\n" * 5)
sys.argv = ["hinged", "learn", "in.csv", "--model", "m.hinged"]
main()
"""


class Environment:
    """A new environment with the wheel and one extra, or none."""

    def __init__(self, folder: Path, wheel: Path, extra: str = ""):
        self.place = folder / (extra or "alone")
        self.python = self.place / ("Scripts" if os.name == "nt" else "bin") / "python"
        uv = (sys.executable, "-m", "uv", "--quiet")
        subprocess.run([*uv, "venv", "--python", sys.executable, str(self.place)], check=True)
        wanted = f"hinged[{extra}] @ {wheel.resolve().as_uri()}" if extra else str(wheel)
        subprocess.run([*uv, "pip", "install", "--python", str(self.python), wanted], check=True)

    def run(self, code: str) -> tuple[int, str]:
        """Run some lines; return the exit code and the last lines of what was said on stderr."""
        hidden = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "PYTHON"))}
        chosen = {"HINGED_MAIL_PASSWORD": "none", "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
        with tempfile.TemporaryDirectory() as here:
            done = subprocess.run(
                [self.python, "-c", code], env=hidden | chosen, cwd=here, capture_output=True, text=True, check=False
            )
        return done.returncode, done.stderr[-2000:]


def main() -> None:
    wheel, *chosen = sys.argv[1:]
    failed = 0

    def check(sentence: str, holds: bool, said: str) -> None:
        nonlocal failed
        print(f"{'ok' if holds else 'FAILED'}  {sentence}", *([] if holds else [said]), flush=True)
        failed += not holds

    with tempfile.TemporaryDirectory() as folder:
        alone = Environment(Path(folder), Path(wheel))
        code, said = alone.run(ALONE)
        check("the wheel alone learns from a file", code == 0, said)
        for extra in chosen or USES:
            code, said = alone.run(USES[extra])
            check(f"without {extra} an error names hinged[{extra}]", code != 0 and f"hinged[{extra}]" in said, said)
            if extra in PROGRAMS and shutil.which(PROGRAMS[extra]) is None:
                print(f"    {extra} is not tried: there is no {PROGRAMS[extra]} here")
                continue
            code, said = Environment(Path(folder), Path(wheel), extra).run(USES[extra])
            check(f"with {extra} it works", code == 0, said)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
