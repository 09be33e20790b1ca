"""Modules of optional packages that are not here have no examples to run."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["src/hinged/mercer/tensors.py"]
if not find_spec("torch") or not find_spec("triton"):
    collect_ignore.append("src/hinged/mercer/persistent.py")
