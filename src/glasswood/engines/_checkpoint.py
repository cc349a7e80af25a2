"""Checkpoint: the progress of a long pass, saved in a folder, so that an interrupted pass resumes where it stopped."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from glasswood.counting._job import Job
from glasswood.counting._partial import WHOLE, Partial, ledger_of
from glasswood.errors import BackgroundError, FileError
from glasswood.tables._files import write_whole
from glasswood.tables._parquet import Fragment
from glasswood.text._printable import how_many

__all__ = ["INTERVAL", "Checkpoint"]

SIZE = 16  # bytes of a digest
INTERVAL = 30.0  # seconds after which a thread hands over its counts


class Checkpoint:
    """The sum and the list of all counted fragments, in one file that is replaced atomically.

    A fragment is in the file with all its rows or not at all: whenever the process is killed, no fragment is counted
    twice. The file's name is a hash of the job, so a folder can be used for several models.

    Parameters
    ----------
    folder : path
        Created if necessary.
    job : Job
    """

    def __init__(self, folder: str | PathLike[str], job: Job) -> None:
        self.path = self.path_of(folder, job)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:  # such as a file of that name
            message = f"checkpoint= is the path of a folder, and {str(folder)!r} cannot be one: {error.strerror}"
            raise FileError(message) from error
        self._lock = threading.Lock()
        self.partial, self.digests = self._load(job)

    @staticmethod
    def path_of(folder: str | PathLike[str], job: Job) -> Path:
        """Return the file of a job in a folder."""
        return Path(folder) / f"{job.key}.partial"

    def _load(self, job: Job) -> tuple[Partial, list[bytes]]:
        if not self.path.exists():
            return Partial(), []
        try:
            partial, notes = Partial.unpack(self.path.read_bytes())
            counted = notes["fragments"]
        except (BackgroundError, KeyError) as error:
            message = f"the checkpoint {str(self.path)!r} is damaged; remove it and count again ({error})"
            raise BackgroundError(message) from error
        digests = [counted[at : at + SIZE] for at in range(0, len(counted), SIZE)]
        fits = all(job.counter.fits(tally) for tally in partial.tallies.values())
        keyed = all((key == WHOLE) == (not job.grouped) for key in partial.rows)
        if not (fits and keyed) or (len(digests), ledger_of(digests)) != (partial.n_fragments, partial.ledger):
            message = f"the checkpoint {str(self.path)!r} is inconsistent; remove it and count again"
            raise BackgroundError(message)
        return partial, digests

    def remaining(self, fragments: Iterable[Fragment]) -> list[Fragment]:
        """Return the fragments that are still to be counted."""
        fragments = list(fragments)
        counted = set(self.digests)
        gone = len(counted - {fragment.digest for fragment in fragments})
        if gone:
            message = (
                f"the checkpoint {str(self.path)!r} contains {how_many(gone, 'fragment')} that the source does not "
                "have (any more): files were changed, moved or removed. Use a different folder, or remove this one, "
                "and count again"
            )
            raise BackgroundError(message)
        return [fragment for fragment in fragments if fragment.digest not in counted]

    def add(self, partial: Partial, digests: Iterable[bytes]) -> None:
        """Add new counts and save the sum."""
        with self._lock:
            self.partial = Partial.sum([self.partial, partial])
            self.digests = [*self.digests, *digests]
            packed = self.partial.pack(fragments=b"".join(self.digests))
            write_whole(self.path, packed)
