"""Puts machine code into wheels: `make wheel` compiles it and names its folder in HINGED_MACHINE_CODE.

Without that variable the wheel is pure Python, as is the source distribution; functions are compiled when used.
"""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class MachineCode(BuildHookInterface):
    """Adds the folder to wheels, and says which Python and platform it is for."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by Hatchling before it builds."""
        folder = os.environ.get("HINGED_MACHINE_CODE")
        if not folder or version == "editable" or self.target_name != "wheel":
            return
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        build_data["force_include"][folder] = "hinged/machine_code"
        build_data["pure_python"] = False
        build_data["tag"] = f"{python}-{python}-{_platform()}"


def _platform() -> str:
    """Return the platform's tag; the code links nothing but what Numba looks up as it loads, so any glibc will do."""
    if sys.platform == "linux" and platform.libc_ver()[0] == "glibc":
        return f"manylinux_2_17_{platform.machine()}"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
