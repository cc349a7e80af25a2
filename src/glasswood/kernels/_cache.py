"""Where compiled kernels are kept between processes: one file for each signature of a kernel, written at once.

Numba numbers the files of a function's signatures in an index beside them. Two processes that compile two signatures at
the same time, as workers of a cluster do, may give both the same number, and a third then runs one as if it were the
other: garbage, or a crash (numba/numba#4807). Numba also looks at the time of the kernel's own file only, not of those
that it calls. Here the name of a file follows from the signature, the file says what it is of, and of which sources.
"""

from __future__ import annotations

import hashlib
import pickle
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

__all__ = ["keep_apart"]


def keep_apart(kernel: Any) -> None:
    """Let the signatures of a kernel that Numba keeps on disk be files of their own."""
    kept = getattr(kernel, "_cache", None)
    if isinstance(kept, FunctionCache):  # not so with NUMBA_DISABLE_JIT
        kept._cache_file = _OneFileEach(kept.cache_path, kept._impl.filename_base, _stamp_of_sources())


@cache
def _stamp_of_sources() -> str:
    """Return what changes when any file of kernels does: a kernel is made of parts of several."""
    found = [(path.name, path.stat()) for path in sorted(Path(__file__).parent.glob("*.py"))]
    return repr([(name, status.st_mtime_ns, status.st_size) for name, status in found])


class _OneFileEach(IndexDataCacheFile):  # type: ignore[misc]  # Numba has no types
    """The files of one kernel."""

    def __init__(self, folder: str, name: str, stamp: str) -> None:
        super().__init__(folder, name, stamp)
        self._place = Path(folder, name)

    def flush(self) -> None:
        """Do nothing: what is not of these sources is not loaded."""

    def save(self, key: Any, data: Any) -> None:
        """Keep what was compiled; where that cannot be written, the next process compiles again."""
        with suppress(OSError), self._open_for_write(str(self._path(key))) as file:
            pickle.dump(self._about(key), file)
            file.write(self._dump(data))

    def load(self, key: Any) -> Any:
        """Return what was compiled; None if there is nothing, or something else."""
        try:
            with self._path(key).open("rb") as file:
                return pickle.load(file) if pickle.load(file) == self._about(key) else None
        except (OSError, EOFError, pickle.UnpicklingError):
            return None

    def _path(self, key: Any) -> Path:
        signature, machine, _ = key
        digest = hashlib.sha256(repr((signature, machine)).encode()).hexdigest()
        return self._place.with_name(f"{self._place.name}.{digest[:16]}.nbc")

    def _about(self, key: Any) -> str:
        return repr((self._version, self._source_stamp, key))
