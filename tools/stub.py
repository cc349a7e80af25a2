"""Write the types of the core, as the module tells them: `python tools/stub.py`, after a change of the bindings."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from nanobind.stubgen import StubGen

from glasswood.kernels._core import LEVEL

PATH = Path(__file__).parent.parent / "src" / "glasswood" / "kernels" / "_core.pyi"
UNKNOWN = {": list": ": list[Any]", "-> tuple": "-> tuple[Any, ...]", "-> dict": "-> dict[str, Any]"}


def stub() -> str:
    """Return the text of the stub."""
    made = StubGen(import_module(f"glasswood.kernels._core_{LEVEL}"))
    made.put(made.module)
    text = made.get()
    for before, after in UNKNOWN.items():
        for end in (",", ")", ":"):
            text = text.replace(before + end, after + end)
    text = text.replace("from typing import Annotated", "from typing import Annotated, Any")
    return f"# Written by tools/stub.py.\n{text.strip()}\n\nLEVEL: str\n\ndef levels() -> list[str]: ...\n"


if __name__ == "__main__":
    PATH.write_text(stub())
