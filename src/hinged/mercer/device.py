"""Where the products are computed: on the CPU by NumPy, or on a GPU by PyTorch."""

from __future__ import annotations

from typing import Any

__all__ = ["resolve_device"]


def resolve_device(device: object) -> Any:
    """None for NumPy on the CPU, else the PyTorch device that rows and coefficients live on.

    Parameters
    ----------
    device : "cpu", "cuda" (or "cuda:1" and so on), "auto", or a `torch.device`
        "auto" is a GPU where there is one. A `torch.device` is taken as it is, also one of type "cpu".

    Examples
    --------
    >>> resolve_device("cpu") is None
    True
    """
    if isinstance(device, str) and device == "cpu":
        return None
    if isinstance(device, str) and (device == "auto" or device.partition(":")[0] == "cuda"):
        why = _missing()
        if why and device != "auto":
            raise ValueError(f"device={device!r} cannot be used: {why}. Use device='cpu', or 'auto'.")
        if why:
            return None
        import torch

        return torch.device("cuda" if device == "auto" else device)
    if type(device).__module__ == "torch" and type(device).__name__ == "device":
        return device
    raise ValueError(f"device must be 'cpu', 'cuda', 'auto' or a torch.device; got device={device!r}.")


def _missing() -> str:
    """What a GPU lacks here, "" for nothing."""
    try:
        import torch
    except ImportError:
        return "PyTorch is not installed (pip install 'hinged[gpu]')"
    return "" if torch.cuda.is_available() else f"PyTorch {torch.__version__} finds no CUDA device"
