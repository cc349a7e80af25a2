"""List what an sdist or a wheel holds, and refuse what does not belong there: `python tools/contents.py dist/*`."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path, PurePosixPath

JUNK = {"__pycache__", "build", "dist", ".git", ".github", ".venv", ".hypothesis", ".mypy_cache", "catboost_info"}
SDIST = {"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "CMakeLists.txt", "PKG-INFO", "pyproject.toml"}
SDIST_FOLDERS = {"src", "tests", "fuzz", "faults", "benchmarks", "docs", "tools"}
WHEEL = {"glasswood/__init__.py", "glasswood/py.typed", "glasswood/report/page/report.js"}


def names_in(path: Path) -> list[PurePosixPath]:
    """Return the files of an archive, without the folder in which an sdist has everything."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return [PurePosixPath(name) for name in wheel.namelist()]
    with tarfile.open(path) as sdist:
        return [PurePosixPath(*PurePosixPath(file.name).parts[1:]) for file in sdist.getmembers() if file.isfile()]


def complaints(path: Path, names: list[PurePosixPath]) -> list[str]:
    """Return what is missing from an archive, and what should not be in it."""
    compiled = [name for name in names if name.suffix in (".so", ".pyd", ".dylib")]
    found = [f"{name} does not belong here" for name in names if JUNK & set(name.parts)]
    if path.suffix == ".whl":
        texts = {str(name) for name in names}
        found += [f"{name} is missing" for name in sorted(WHEEL - texts)]
        strangers = {name.parts[0] for name in names if name.parts[0] != "glasswood"}
        found += [f"{name} is beside the package" for name in sorted(strangers) if not name.endswith(".dist-info")]
        found += [] if any(name.name.startswith("_core_") for name in compiled) else ["the compiled core is missing"]
    else:
        top = {name.parts[0] for name in names}
        found += [f"{name} is missing" for name in sorted((SDIST | SDIST_FOLDERS) - top)]
        found += [f"{name} is compiled" for name in compiled]
    return found


if __name__ == "__main__":
    failed = False
    for path in map(Path, sys.argv[1:]):
        names = names_in(path)
        folders = Counter(str(PurePosixPath(*name.parts[:2]).parent) for name in names)
        sys.stdout.write(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, {len(names)} files\n")
        for folder, files in sorted(folders.items()):
            sys.stdout.write(f"  {folder:<40} {files:>5} files\n")
        for name in names:
            if name.suffix in (".so", ".pyd", ".dylib"):
                sys.stdout.write(f"  {name}\n")
        for sentence in complaints(path, names):
            failed = True
            sys.stdout.write(f"  WRONG: {sentence}\n")
    sys.exit(1 if failed else 0)
