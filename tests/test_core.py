"""The compiled core refuses what does not fit, and never writes elsewhere."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from core_calls import NAMES, ask_everything, copied, recorded, wrong
from glasswood.kernels import _core


@pytest.fixture(scope="module")
def calls():
    with pytest.MonkeyPatch.context() as patch:
        return recorded(patch, ask_everything)


def test_every_kernel_is_called(calls):
    assert [name for name in NAMES if not calls[name]] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_does_not_fit_is_refused(name, calls):
    """Arrays of another type or order are always refused; another size or entries out of range, if they matter.

    With a core that was built with sanitizers, this shows that nothing else is read or written; see CONTRIBUTING.md.
    """
    rng = np.random.default_rng(0)
    for args, named in calls[name]:
        for place, given in [*enumerate(args), *named.items()]:
            for what, changed in wrong(given, rng):
                here, there = [copied(a) for a in args], {key: copied(a) for key, a in named.items()}
                (here if isinstance(place, int) else there)[place] = changed
                if what in ("type", "order"):
                    with pytest.raises((TypeError, ValueError)):
                        getattr(_core, name)(*here, **there)
                else:
                    with suppress(TypeError, ValueError, MemoryError):
                        getattr(_core, name)(*here, **there)


def test_the_stub_is_what_the_module_tells():
    pytest.importorskip("nanobind")
    path = Path(__file__).parent.parent / "tools" / "stub.py"
    spec = spec_from_file_location("stub", path)
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    assert made.PATH.read_text() == made.stub()
