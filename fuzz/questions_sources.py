"""Questions about where rows come from: backgrounds that add up, files, streams, groups, checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import glasswood as gw
from fuzz.session import Session
from fuzz.tables import KINDS

__all__ = ["QUESTIONS", "can_count", "named", "write"]


def can_count(s: Session) -> bool:
    """Whether the model's counts are of the user's own columns, and so come from anywhere."""
    return s.setting.fitted.raw is not None and s.case["model"]["maker"] != "wrapper"


def _summarize(s: Session, source: Any, **changes: Any) -> Any:
    settings = {"groups": s.setting.groups, "order": s.order}
    return gw.summarize(s.setting.fitted.model, source, **(settings | changes))


def _whole(s: Session) -> Any:
    """Return the background of all rows."""
    s.order = int(s.rng.integers(1, 4))
    return _summarize(s, s.setting.table, sample_weight=s.setting.weight)


def backgrounds(s: Session) -> None:
    """Backgrounds of parts add up to that of the whole, also by subtraction; and are kept by files."""
    if not can_count(s):
        return
    whole, rows, weight = _whole(s), s.setting.background, s.setting.weight
    half = int(s.rng.integers(0, len(rows) + 1))
    make = KINDS[s.case.get("table", "pandas")].make
    spans = [span for span in (slice(0, half), slice(half, None)) if len(rows.iloc[span])]
    tables = [make(rows.iloc[span].reset_index(drop=True)) for span in spans]
    weights = [None if weight is None else weight[span] for span in spans]
    parts = [_summarize(s, table, sample_weight=w) for table, w in zip(tables, weights, strict=True)]
    total = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    if weight is None or s.case["weights"] in ("whole", "one_row"):
        s.true("parts add up", total == whole, f"{total} and {whole}")
        s.true("parts are taken away", len(parts) == 1 or whole - parts[0] == parts[1])
    path = Path(s.case["folder"]) / "background.gw"
    whole.save(path)
    loaded = gw.Background.load(path)
    s.true("saved and loaded", loaded == whole)
    if s.setting.groups is None:
        _curves_of(s, "curve of a loaded background", loaded)
        _curves_of(s, "curve of added backgrounds", total)


def _curves_of(s: Session, what: str, background: Any) -> None:
    """Compare the curves of a background with brute force, on the raw scale and on that by default."""
    from fuzz.oracle import Oracle

    fitted = s.setting.fitted
    explainer = gw.Explainer(fitted.model, background)
    scores = {"raw": fitted.raw} | {name: own for name, own in fitted.responses.items() if name == explainer.response}
    for player in s.few(s.singles, 2):
        points = s.points(player.columns, 6)
        values = s.values(points[player.columns[0]])
        for response, score in scores.items():
            asked = {"response": "raw"} if response == "raw" else {}
            found = explainer.partial_dependence(player.name, **asked)(values)
            oracle = Oracle(score, s.setting.background, s.setting.weight)
            s.same(what, found, oracle.mean(points), scale=s.setting.raw_scale if response == "raw" else None)


# -------------------------------------------------------------------------------------------------- files and streams


def named(s: Session) -> pd.DataFrame:
    """Return the background with the names that the model knows.

    A column of nothing but None becomes one of NaN: files have one kind of missing value, transformers may know two.
    """
    frame = s.setting.background.set_axis(s.setting.names, axis=1)
    empty = [name for name in frame if frame[name].dtype == object and frame[name].isna().all()]
    return frame.assign(**{name: frame[name].where(frame[name].notna(), np.nan) for name in empty}) if empty else frame


def write(s: Session, frame: pd.DataFrame, name: str = "rows.parquet") -> Path:
    """Write rows to a Parquet file of small row groups; categories as such, or as plain values."""
    import pyarrow.parquet as pq

    path = Path(s.case["folder"]) / name
    path.parent.mkdir(exist_ok=True)
    table = KINDS["arrow_plain" if s.rng.random() < 0.5 else "arrow"].make(frame)
    pq.write_table(table, path, row_group_size=max(len(frame) // 20, int(s.rng.integers(1, 9))))
    return path


def _file(s: Session, frame: pd.DataFrame) -> Any:
    return str(write(s, frame))


def _folder(s: Session, frame: pd.DataFrame) -> Any:
    half = len(frame) // 2
    for number, part in enumerate((frame[:half], frame[half:])):
        if len(part):
            write(s, part.reset_index(drop=True), f"parts/{number}.parquet")
    return str(Path(s.case["folder"]) / "parts")


def _dataset(s: Session, frame: pd.DataFrame) -> Any:
    from pyarrow import dataset

    return dataset.dataset(_file(s, frame))


def _reader(_: Session, frame: pd.DataFrame) -> Any:
    import pyarrow as pa

    table = KINDS["arrow"].make(frame)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=3))


def _chunks(s: Session, frame: pd.DataFrame) -> Any:
    size = max(len(frame) // 20, int(s.rng.integers(1, 9)))
    return (frame[k : k + size] for k in range(0, len(frame), size))


def _frames(s: Session, frame: pd.DataFrame) -> Any:
    return list(_chunks(s, frame))


def _lazy(s: Session, frame: pd.DataFrame) -> Any:
    import polars as pl

    return pl.scan_parquet(_file(s, frame))


def _duckdb(s: Session, frame: pd.DataFrame) -> Any:
    import duckdb

    connection = duckdb.connect()
    s.kept.append(connection)  # before DuckDB 1.4, a relation does not keep it open
    return connection.sql(f"select * from '{_file(s, frame)}'")


SOURCES: dict[str, Callable[[Session, pd.DataFrame], Any]] = {
    "a file": _file,
    "a folder": _folder,
    "a dataset": _dataset,
    "a stream of batches": _reader,
    "an iterator of frames": _chunks,
    "a list of frames": _frames,
    "a lazy frame": _lazy,
    "a DuckDB relation": _duckdb,
}


def sources(s: Session) -> None:
    """Files and streams of the same rows give the same counts."""
    if not can_count(s) or not len(s.setting.background):
        return
    s.order = int(s.rng.integers(1, 4))
    frame = named(s)
    whole = _summarize(s, frame)
    for what in s.rng.permutation(list(SOURCES))[:3].tolist():
        found = _summarize(s, SOURCES[what](s, frame))
        s.true(f"counts from {what}", found == whole, f"{found} and {whole}")
    if s.setting.groups is None and s.setting.weight is None:
        _curves_of(s, "curve of a file", _file(s, frame))


ONCE = {"a stream of batches", "an iterator of frames"}


def rows_again(s: Session) -> None:
    """Strengths and spikes of sources that can be read again have the same bits as those of a table."""
    if not can_count(s) or not len(s.setting.background) or s.setting.weight is not None:
        return
    frame, model, groups = named(s), s.setting.fitted.model, s.setting.groups
    what = str(s.rng.choice([name for name in SOURCES if name not in ONCE]))
    table, source = (gw.Explainer(model, rows, groups=groups) for rows in (frame, SOURCES[what](s, frame)))
    one, other = table.interaction_strengths(), source.interaction_strengths()
    same = one.pairs == other.pairs and np.array_equal(one.heights, other.heights)
    s.true(f"strengths from {what}", same and np.array_equal(one.h, other.h, equal_nan=True), f"{one} and {other}")
    found = [explainer.spikes(points=7).entries for explainer in (table, source)]
    s.true(f"spikes from {what}", repr(found[0]) == repr(found[1]), f"{found[0]} and {found[1]}")


def checkpoints(s: Session) -> None:
    """A pass with a checkpoint, and one that goes on from it, give the counts of a pass without."""
    if not can_count(s) or not len(s.setting.background):
        return
    s.order = int(s.rng.integers(1, 3))
    source = _folder(s, named(s))
    whole, folder = _summarize(s, source), str(Path(s.case["folder"]) / "progress")
    for what in ("with a checkpoint", "going on from a checkpoint"):
        s.true(what, _summarize(s, source, checkpoint=folder) == whole)


def by_groups(s: Session) -> None:
    """Groups of rows, by an array or by a column, add up to the whole and are what they say."""
    if not can_count(s) or not len(s.setting.background):
        return
    s.order = 1
    frame = named(s)
    keys = s.rng.choice(["a", "b", "c"], size=len(frame))
    found = {"an array": _summarize(s, frame, by=keys)}
    if "the key" not in frame:
        keyed = frame.assign(**{"the key": keys})
        found["a column"] = _summarize(s, keyed, by="the key")
        found["a column of a file"] = _summarize(s, _file(s, keyed), by="the key")
    for what, groups in found.items():
        s.true(f"groups by {what}", set(groups) == set(keys.tolist()), f"{list(groups)} and {set(keys.tolist())}")
        for key, part in groups.items():
            alone = _summarize(s, frame[keys == key].reset_index(drop=True))
            s.true(f"a group by {what}", part == alone, f"{key}: {part} and {alone}")


def weight_column(s: Session) -> None:
    """Weights by the name of a column are the same weights."""
    if not can_count(s) or s.setting.weight is None or s.setting.groups is not None:
        return
    s.order = 1
    frame = named(s)
    weighted = frame.assign(**{"the weight": np.asarray(s.setting.weight, dtype=float)})
    source = weighted if s.rng.random() < 0.5 else _file(s, weighted)
    _curves_of(s, "curve with a column of weights", _summarize(s, source, sample_weight="the weight"))


QUESTIONS = (backgrounds, by_groups, checkpoints, rows_again, sources, weight_column)
