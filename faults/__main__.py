"""Try the deliberate faults: python -m faults [--only NAME] [--commit COMMIT] [--jobs N].

Each fault of `faults.toml` is applied in a copy of the checkout, and the tests that should notice are run there. Prints
a line for each; exits with 1 if one survives without a stated reason, no longer applies, or has tests that fail
without it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from faults._list import LIST, Fault, read_faults
from faults._run import PASSED, Outcome, copy_commit, copy_tree, run_tests, try_fault

CHECKOUT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Try them, and say what became of each."""
    parser = argparse.ArgumentParser(prog="python -m faults", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="a part of the names, files or tests of the faults to try")
    parser.add_argument("--list", type=Path, default=LIST, help="another list of faults")
    parser.add_argument("--commit", help="try them on a commit, not on the files as they are")
    parser.add_argument("--build", help="a command that builds what is compiled, run in each copy")
    parser.add_argument("--jobs", type=int, default=1, help="how many are tried at once")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for the tests of a fault")
    options = parser.parse_args()
    faults = [fault for fault in read_faults(options.list) if options.only in _about(fault)]
    if not faults:
        parser.error(f"no fault has {options.only!r} in its name, file or tests")
    with _clean_copy(options.commit) as clean:
        tests = tuple(sorted({test for fault in faults for test in fault.tests}))
        code, output = run_tests(clean, tests, options.build, 10 * options.timeout)
        if code != PASSED:
            _say(f"The tests do not pass without any fault:\n{output}")
            return 2
        _say(f"Without any fault, all tests pass ({len(tests)}).")

        def attempt(numbered: tuple[int, Fault]) -> Outcome:
            number, fault = numbered
            return try_fault(fault, clean, clean.parent / f"fault{number}", options.build, options.timeout)

        with ThreadPoolExecutor(options.jobs) as pool:
            outcomes = []
            for outcome in pool.map(attempt, enumerate(faults)):
                outcomes.append(outcome)
                _say(f"{outcome.verdict:<9} {outcome.seconds:5.0f} s  {outcome.fault.name}: {outcome.note}")
    found = Counter(outcome.verdict for outcome in outcomes)
    kinds = ", ".join(f"{found[kind]} {kind}" for kind in ("caught", "survived", "broken"))
    _say(f"Faults tried: {len(outcomes)}; {kinds}")
    return 0 if all(outcome.expected for outcome in outcomes) else 1


@contextmanager
def _clean_copy(commit: str | None) -> Iterator[Path]:
    """Give a folder with the files as they are, or those of a commit, beside which there is room for more."""
    place = Path(tempfile.mkdtemp(prefix="faults-"))
    try:
        clean = place / "clean" / "checkout"
        clean.mkdir(parents=True)
        if commit is None:
            copy_tree(CHECKOUT, clean)
        else:
            copy_commit(CHECKOUT, commit, clean)
        yield clean
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _about(fault: Fault) -> str:
    return "\n".join((fault.name, fault.file, *fault.tests))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
