"""Damages model files and files of Glasswood's own, and tells what becomes of them: `python -m fuzz.files --help`.

Every mutant is read in a process of its own, forked from one that has everything loaded. What is accepted is also used
(scores, a curve), and compared with what the library of the file makes of it. Only public names of Glasswood are used,
so that any commit can be tried; packed partial sums, which have none, are left out where they are not found.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from fuzz.file_libraries import PACKAGES, SCORES, TIMES, TRUSTED, catboost_contradicts_itself
from fuzz.file_seeds import Seed, load_seeds
from fuzz.mutations import MUTATIONS

__all__ = ["BAD", "COLUMNS", "Finding", "main", "table", "try_format"]

# What may become of a mutant. "same": accepted, with the scores of the undamaged file, and the library says so, too;
# "agrees": other scores, and the library has the same ones, or a digest made anew for what the file says; "lenient":
# the library refuses it; "library": the library crashes on it, or does not end.
GOOD = ("refused", "same", "agrees", "lenient", "library")
BAD = ("WRONG", "foreign", "slow", "memory", "crash")
COLUMNS = (*GOOD, *BAD)

SECONDS = 1.0  # of the processor, for reading
PATIENCE = 40  # seconds after which a process is ended; machines are shared
MEGABYTE = 2**20
ROOM = 3 * 2**29  # of addresses, for everything
MAX_SECONDS = 3  # of the processor, for everything


class Finding(NamedTuple):
    """A mutant and what became of it."""

    format: str
    number: int
    seed: str
    how: str
    outcome: str
    detail: str
    content: bytes


class Reader(NamedTuple):
    """How a format is read, and what is done with the result.

    `read` takes a path and returns what it holds; `use` takes that and the rows of the seed, and returns something that
    is compared with the library's, or, if there is none, with what it is for the undamaged file. If users load a file
    with its library, and not Glasswood, `load` does, and `read` takes the model. Where Glasswood calls the library,
    `load` does that first, and returns the path.
    """

    read: Callable[[Any, Seed], Any]
    use: Callable[[Any, Any], Any]
    compared: bool = True
    load: Callable[[Path], Any] = Path


# ------------------------------------------------------------------------------------------------------ readers


def _read_model(model: Any, seed: Seed) -> Any:  # noqa: ARG001 (as all readers)
    import glasswood as gw

    return gw.read_model(model)


def _read_skops(path: Path, seed: Seed) -> Any:  # noqa: ARG001
    import glasswood as gw
    from glasswood.terminal._files import load_model

    return gw.read_model(load_model(path, trusted=TRUSTED))


def _load_treelite(path: Path) -> Any:
    import treelite

    return treelite.Model.deserialize(path)


def _try_catboost(path: Path) -> Path:
    """Do what Glasswood asks CatBoost for, so that a crash of CatBoost is known to be one."""
    from catboost import CatBoost

    with suppress(Exception):
        CatBoost().load_model(str(path), format="cbm").save_model(str(path.with_suffix(".try")), format="json")
    return path


def _try_skops(path: Path) -> Path:
    import skops.io

    with suppress(Exception):
        skops.io.load(path, trusted=TRUSTED)
    return path


def _scores(ensemble: Any, rows: Any) -> Any:
    """Return the scores of rows, and ask for a curve, with rows and by the covers of training."""
    import glasswood as gw

    rows = fitting(rows, ensemble.n_features)
    scores = ensemble.predict(rows)
    for explainer in (lambda: gw.Explainer(ensemble, rows), lambda: gw.Explainer(ensemble)):
        with suppress(gw.errors.GlasswoodError):
            explainer().partial_dependence(0)
    return scores


def fitting(rows: Any, n_columns: int) -> Any:
    """Return rows with another number of columns, if they are an array."""
    if not isinstance(rows, np.ndarray) or rows.shape[1] == n_columns or not 0 < n_columns < 10_000:
        return rows
    return np.resize(rows, (len(rows), n_columns))


def _read_background(path: Path, seed: Seed) -> Any:  # noqa: ARG001
    import glasswood as gw

    return gw.Background.load(path)


def _use_background(background: Any, rows: Any) -> Any:  # noqa: ARG001
    """Return the background, after a question to an explainer of the model that it is of, or of another one."""
    import glasswood as gw

    with suppress(gw.errors.GlasswoodError):
        gw.Explainer(_folder / "xgboost-reg.json", background).partial_dependence(0)
    return background


def _read_checkpoint(path: Path, seed: Seed) -> Any:
    """Go on with a pass of which the damaged file is the checkpoint."""
    import glasswood as gw

    folder = path.with_suffix("") / "kept"
    folder.mkdir(parents=True)
    Path(folder, Path(seed.name).name).write_bytes(path.read_bytes())
    ensemble = gw.read_model(_folder / "xgboost-reg.json")
    result = gw.summarize(ensemble, str(_folder / f"rows-{seed.rows}.parquet"), by=seed.rows, checkpoint=folder)
    if len(list(folder.iterdir())) != 1:
        message = "the pass has a checkpoint of another name, and did not look at this one: make the seeds anew"
        raise RuntimeError(message)
    return result


def _read_partial(path: Path, seed: Seed) -> Any:  # noqa: ARG001
    from glasswood.counting._partial import Partial, add_packed

    packed = path.read_bytes()
    partial, _ = Partial.unpack(packed)
    add_packed(packed, packed)
    tallies = {
        key: {name: part.tolist() for name, part in tally.vectors.items()} for key, tally in partial.tallies.items()
    }
    return tallies, partial.rows, partial.n_fragments, partial.ledger


def _itself(result: Any, rows: Any) -> Any:  # noqa: ARG001
    return result


MODEL = Reader(_read_model, _scores)
READERS = {
    **dict.fromkeys(("xgboost-json", "xgboost-ubj", "lightgbm", "catboost-json"), MODEL),
    "catboost-cbm": Reader(_read_model, _scores, load=_try_catboost),
    "skops": Reader(_read_skops, _scores, load=_try_skops),
    "treelite": Reader(_read_model, _scores, load=_load_treelite),
    "background": Reader(_read_background, _use_background, compared=False),
    "checkpoint": Reader(_read_checkpoint, _itself, compared=False),
    "partial": Reader(_read_partial, _itself, compared=False),
}

_folder = Path()  # of the seeds
_alive: list[Any] = []


# ------------------------------------------------------------------------------------------------------ one mutant


def _child(path: Path, seed: Seed, how: str, expected: Any, say: Callable[..., None]) -> None:
    """Read a mutant, use it and compare it, and say after each step what came of it."""
    from glasswood.errors import GlasswoodError

    reader = READERS[seed.format]
    say(outcome="loading", detail="")
    try:
        loaded = reader.load(path)
    except Exception as error:  # noqa: BLE001 (whatever a library raises)
        say(outcome="refused", detail=f"by the library: {error}"[:200])
        return
    _alive.append(loaded)  # libraries may crash when they free what is damaged
    say(outcome="", detail="")
    before, start = _memory(), time.process_time()
    try:
        result = reader.read(loaded, seed)
        accepted, said = True, ""
    except GlasswoodError as error:
        accepted, said = False, str(error)
        str(error).encode()  # a message that cannot be written is no message
    seconds = time.process_time() - start
    grown = [after - old for after, old in zip(_memory(), before, strict=True)]
    size = path.stat().st_size
    problem = _resources(seconds, grown, size)
    say(outcome=problem[0] or ("read" if accepted else "refused"), detail=problem[1] or said[:200])
    if not accepted or problem[0]:
        return
    try:
        used = reader.use(result, seed.rows)
    except GlasswoodError as error:
        say(outcome="refused", detail=f"when used: {error}"[:200])
        return
    say(outcome="used", detail="")
    same = _equal(used, expected)
    if not reader.compared:
        forged = how.startswith("forged")
        say(outcome="same" if same else "agrees" if forged else "WRONG", detail="" if same else repr(used)[:200])
        return
    say(**_compared(path, seed, used, result.n_features, same=same))


def _compared(path: Path, seed: Seed, used: Any, n_features: int, *, same: bool) -> dict[str, str]:
    """Return the outcome of an accepted model: what the library makes of the same file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = np.asarray(SCORES[seed.format](path, fitting(seed.rows, n_features)))
    except Exception as error:  # noqa: BLE001 (whatever a library raises)
        return {"outcome": "lenient", "detail": f"{type(error).__name__}: {error}"[:200]}
    if "isolation" in seed.name:  # its library tells powers of 2, which may be too small for a number
        used, theirs = np.exp2(-used), np.exp2(-theirs)
    if _equal(used, theirs):
        return {"outcome": "same" if same else "agrees", "detail": ""}
    if seed.format == "catboost-cbm" and catboost_contradicts_itself(path, seed.rows):
        return {"outcome": "library", "detail": "it contradicts itself"}
    return {"outcome": "WRONG", "detail": f"shapes {np.shape(used)} and {theirs.shape}, " + _difference(used, theirs)}


def _difference(ours: Any, theirs: Any) -> str:
    if np.size(ours) != np.size(theirs):
        return "another number of scores"
    ours, theirs = np.ravel(ours), np.ravel(theirs)
    unequal = np.flatnonzero(~np.isclose(ours, theirs, rtol=1e-5, equal_nan=True))
    at = int(unequal[0]) if unequal.size else 0
    return f"{unequal.size} of {ours.size} scores differ: {ours[at]!r} where the library has {theirs[at]!r}"


def _equal(ours: Any, theirs: Any) -> bool:
    if not isinstance(ours, np.ndarray):
        return bool(ours == theirs)
    if ours.size != np.size(theirs):
        return False
    margin = 1e-5 if ours.dtype == np.float32 else 1e-10
    theirs = np.asarray(theirs, dtype=np.float64).reshape(ours.shape)
    scale = max(1.0, float(np.abs(theirs[np.isfinite(theirs)]).max(initial=0.0)))
    return bool(np.all(np.isclose(ours, theirs, rtol=margin, atol=margin * scale, equal_nan=True)))


def _memory() -> tuple[int, int]:
    """Return the largest number of bytes that this process has held so far, and of addresses."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return tuple(1024 * int(lines[name].split()[0]) for name in ("VmHWM", "VmPeak"))  # type: ignore[return-value]


def _resources(seconds: float, grown: Sequence[int], size: int) -> tuple[str, str]:
    """Return "slow" or "memory", and why, if a file took more than it may."""
    if seconds > SECONDS:
        return "slow", f"{seconds:.1f} s"
    held, addresses = grown
    if held > 64 * MEGABYTE + 100 * size or addresses > 512 * MEGABYTE + 100 * size:
        return (
            "memory",
            f"{held / MEGABYTE:.0f} MB held, {addresses / MEGABYTE:.0f} MB of addresses, for {size:,} bytes",
        )
    return "", ""


def _in_a_fork(work: Callable[[Callable[..., None]], None]) -> tuple[str, str]:
    """Do some work in a fork of this process, and return the last outcome it reported, or how it ended without one."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiver)
        _run(work, sender)
    os.close(sender)
    reported, ended = _listen(receiver, time.monotonic() + PATIENCE)
    os.close(receiver)
    if not ended:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    outcome, detail = reported[-1] if reported else ("", "")
    if ended and status == 0:
        return outcome, detail
    cause = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
    if outcome in ("loading", "used"):  # the library was asked last
        return "library", cause
    if outcome == "foreign":
        return outcome, detail
    out_of_time = not ended or os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
    return "slow" if out_of_time else "crash", f"after {outcome!r}: {cause}"


def _blame(path: Path, seed: Seed, found: tuple[str, str]) -> tuple[str, str]:
    """Return whose crash it was: the library's, if it also crashes alone, which need not be the first time."""

    def work(say: Callable[..., None]) -> None:
        say(outcome="loading", detail="")
        for _ in range(TIMES):
            with suppress(Exception):
                READERS[seed.format].load(path)
        say(outcome="", detail="")

    alone = _in_a_fork(work)
    return alone if alone[0] == "library" else found


def _run(work: Callable[[Callable[..., None]], None], sender: int) -> None:
    """Do the work of a child process, which does not return."""

    def say(**reported: str) -> None:
        os.write(sender, json.dumps([reported["outcome"], reported["detail"]]).encode() + b"\n")

    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (_memory()[1] + ROOM,) * 2)
        silence = os.open(os.devnull, os.O_RDWR)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        work(say)
        status = 0
    except BaseException as error:  # noqa: BLE001 (what is looked for)
        say(outcome="foreign", detail=f"{type(error).__name__}: {error}"[:300])
    finally:
        os._exit(status)


def _listen(receiver: int, until: float) -> tuple[list[tuple[str, str]], bool]:
    """Return what a child reported until it ended, and whether it did end in time."""
    content = b""
    while True:
        ready, _, _ = select.select([receiver], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            return _facts(content), False
        block = os.read(receiver, 65536)
        if not block:
            return _facts(content), True
        content += block


def _facts(content: bytes) -> list[tuple[str, str]]:
    return [tuple(json.loads(line)) for line in content.splitlines()]


# ------------------------------------------------------------------------------------------------------ a format


class Subject(NamedTuple):
    """A seed, its content, and what is made of it undamaged."""

    seed: Seed
    content: bytes
    expected: Any


def subjects_of(format: str, folder: Path) -> list[Subject]:
    """Return the seeds of a format, read and used once, which also loads all that is needed."""
    global _folder
    _folder = folder
    for package in PACKAGES.get(format, ()):
        import_module(package)
    subjects = []
    reader = READERS[format]
    with TemporaryDirectory() as scratch:
        for index, seed in enumerate(seed for seed in load_seeds(folder) if seed.format == format):
            content = Path(folder, seed.name).read_bytes()
            path = Path(scratch, f"{index}{Path(seed.name).suffix}")
            path.write_bytes(content)
            subjects.append(Subject(seed, content, reader.use(reader.read(reader.load(path), seed), seed.rows)))
    return subjects


def mutant_of(format: str, seed: int, number: int, subjects: Sequence[Subject]) -> tuple[Subject, bytes, str]:
    """Return the mutant of a number: which file was damaged, its content, and how."""
    rng = Random(f"{format} {seed} {number}")
    subject = rng.choice(subjects)
    content, how = MUTATIONS[format](rng, subject.content)
    return subject, content, how


def try_format(format: str, numbers: Sequence[int], seed: int, folder: Path) -> tuple[Counter[str], list[Finding]]:
    """Try the mutants of some numbers, and return how often each outcome was seen, and what is to be looked at."""
    subjects = subjects_of(format, folder)
    outcomes: Counter[str] = Counter()
    findings = []
    with TemporaryDirectory() as scratch:
        gc.collect()
        gc.freeze()  # memory that children share stays shared
        for number in numbers:
            subject, content, how = mutant_of(format, seed, number, subjects)
            path = Path(scratch, f"{number}{Path(subject.seed.name).suffix}")
            path.write_bytes(content)
            outcome, detail = _in_a_fork(
                lambda say, path=path, subject=subject, how=how: _child(path, subject.seed, how, subject.expected, say)
            )
            if outcome == "crash":
                outcome, detail = _blame(path, subject.seed, (outcome, detail))
            path.unlink()
            outcomes[outcome] += 1
            kept = b"" if outcome in GOOD else content  # thousands of files would make every fork slow
            findings.append(Finding(format, number, subject.seed.name, how, outcome, detail, kept))
    return outcomes, findings


# ------------------------------------------------------------------------------------------------------ the command


def table(results: dict[str, Counter[str]]) -> str:
    """Return the outcomes of each format, one to a line."""
    lines = [f"{'format':14}" + f"{'mutants':>9}" + "".join(f"{name:>9}" for name in COLUMNS)]
    for format, outcomes in results.items():
        counts = "".join(f"{outcomes[name]:>9,}" for name in COLUMNS)
        lines.append(f"{format:14}{sum(outcomes.values()):>9,}{counts}")
    return "\n".join(lines)


def make_seeds(folder: Path) -> None:
    """Fit the models in another process."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "fuzz.file_seeds", str(folder)], check=True, env=environment)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit status: 1 if any mutant did harm."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.files", description=__doc__)
    parser.add_argument("--mutants", type=int, default=200, help="of each format (default 200)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--format", action="append", choices=sorted(MUTATIONS), help="may be repeated; default all")
    parser.add_argument("--only", type=int, action="append", help="the number of a mutant; may be repeated")
    parser.add_argument("--show", action="append", default=[], choices=COLUMNS, help="print these outcomes, too")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-files"), help="where bad mutants are saved")
    options = parser.parse_args(arguments)
    if "OMP_NUM_THREADS" not in os.environ:  # must be known before libraries are loaded
        os.environ["OMP_NUM_THREADS"] = "1"
        os.execv(sys.executable, [sys.executable, "-m", "fuzz.files", *(arguments or sys.argv[1:])])
    results: dict[str, Counter[str]] = {}
    with TemporaryDirectory() as folder:
        make_seeds(Path(folder))
        for format in options.format or list(MUTATIONS):
            try:
                numbers = options.only or range(options.mutants)
                results[format], findings = try_format(format, numbers, options.seed, Path(folder))
            except ImportError as error:
                print(f"{format}: left out ({error})")
                continue
            _report(findings, options)
    print(table(results))
    return int(any(outcomes[name] for outcomes in results.values() for name in BAD))


def _report(findings: Sequence[Finding], options: argparse.Namespace) -> None:
    for found in findings:
        if found.outcome in options.show or found.outcome not in GOOD:
            print(f"{found.outcome}: {found.seed}, {found.how}\n    {found.detail}")
            print(f"    python -m fuzz.files --seed {options.seed} --format {found.format} --only {found.number}")
        if found.outcome not in GOOD:
            options.keep.mkdir(parents=True, exist_ok=True)
            suffix = Path(found.seed).suffix
            Path(options.keep, f"{found.format}-{options.seed}-{found.number}{suffix}").write_bytes(found.content)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
