"""Print a hash of what every golden stream leaves in its model, a line each: equal lines are equal to the last bit.

Run by `make test-wheel` for each instruction set that a wheel carries code for.
"""

import hashlib
import importlib.util
import inspect
import os
import tempfile
import warnings
from pathlib import Path

import hinged


class Recording:
    """The package, with a note of the last estimator that was made."""

    def __init__(self):
        self.model = None

    def __getattr__(self, name):
        found = getattr(hinged, name)
        if not inspect.isclass(found):
            return found

        def make(*args, **kwargs):
            self.model = found(*args, **kwargs)
            return self.model

        make.__signature__ = inspect.signature(found)
        return make


def bits(model):
    """Return a hash of the model's file; a callable's name is stored, so every estimator has one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()


def main():
    checks = Path(os.environ["HINGED_CHECKS"])
    specification = importlib.util.spec_from_file_location("vectors", checks / "vectors.py")
    vectors = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(vectors)
    warnings.simplefilter("ignore")
    for case in vectors.read(checks.parent / "vectors"):
        recording = Recording()
        vectors.check(recording, case)
        print(f"{case['group']}/{case['name']}", bits(recording.model), flush=True)


if __name__ == "__main__":
    main()
