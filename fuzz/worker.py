"""A process of its own that runs cases: a crash or a hang ends it, not the fuzzer.

Cases come in as lines of JSON, outcomes go out as lines of JSON.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
from pathlib import Path

__all__ = ["main"]

PATIENCE = 8  # machines are shared
MEMORY = 8 * 2**30  # bytes of address space that are free to grow; a claim beyond is a MemoryError, not a dead machine


def main() -> None:
    """Run cases until there are no more."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not an answer
    faulthandler.enable()
    from fuzz.run import run_case

    if os.environ.get("FUZZ_MEMORY") != "unlimited":
        _limit_memory()
    for line in sys.stdin:
        request = json.loads(line)
        _limit_time(request["seconds"])
        outcome = run_case(request["case"])
        _limit_time(0)
        print(json.dumps(outcome), file=answers, flush=True)


def _limit_time(seconds: float) -> None:
    """End the process after so many seconds of the processor, or some times as many by the clock; 0 for never."""
    if seconds:
        faulthandler.dump_traceback_later(PATIENCE * seconds, exit=True)
    else:
        faulthandler.cancel_dump_traceback_later()
    if hasattr(signal, "setitimer"):
        faulthandler.register(signal.SIGPROF, all_threads=True, chain=True)
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit_memory() -> None:
    """Let the process grow by some gigabytes only, where the system can tell."""
    try:
        import resource

        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    except (ImportError, OSError, ValueError):
        pass


if __name__ == "__main__":
    main()
