"""SourceValues: values of each row of files, of a stream, or of a frame of a cluster, computed where the rows are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glasswood._types import Frame
from glasswood.counting._exact import exact_means
from glasswood.counting._row_job import N_SUMS
from glasswood.engines._rows import ExplainedRows
from glasswood.errors import TableError
from glasswood.kernels._read_only import ReadOnly, read_only
from glasswood.parallel._lazy import cached_property
from glasswood.questions.rows._arithmetic_any_rows import LargestSets, SetsOfRows
from glasswood.results._frames import to_frame
from glasswood.tables._places import place_of
from glasswood.text._arguments import whole_number
from glasswood.text._html import facts_html
from glasswood.text._printable import how_many

if TYPE_CHECKING:
    from glasswood._types import DaskFrame, RayDataset, SparkFrame


__all__ = ["SourceValues"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SourceValues(ReadOnly):
    """The values of each row of a source that need not fit in memory: files, a stream, or a frame of a cluster.

    `Explainer.shap_values` and its relatives return it if `rows` is not a table in memory. Nothing is computed until
    one of its methods is called. The values of a row are bit-identical to those of a table in memory.

    Examples
    --------
    >>> import tempfile, pandas as pd, glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X)
    >>> folder = tempfile.TemporaryDirectory()
    >>> X.assign(id=range(len(X))).to_parquet(folder.name + "/rows.parquet")
    >>> values = ex.shap_values(folder.name + "/rows.parquet", keep=["id"])
    >>> values
    SourceValues(Shapley values: 442 rows x 11 columns, value)
    >>> values.top(2).columns.tolist()
    ['features', 'mean_abs', 'mean_square', 'signed_mean']
    >>> values.mean_abs().shape, values.mean_square().shape, values.signed_mean().shape
    ((10,), (10,), (10,))
    >>> next(values.blocks()).num_rows
    442
    >>> values.to_parquet(folder.name + "/shap")
    442
    >>> pd.read_parquet(folder.name + "/shap").columns.tolist()[:3]
    ['id', 'age', 'sex']
    >>> values.top_per_row(3).to_parquet(folder.name + "/reasons")
    442
    >>> pd.read_parquet(folder.name + "/reasons").columns.tolist()
    ['id', 'features', 'values']
    >>> folder.cleanup()
    """

    name: str
    rows: ExplainedRows
    subsets: tuple[tuple[str, ...], ...]
    shape: tuple[int, ...]
    outputs: tuple[Any, ...]
    units: str
    base_values: Any = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns of the result: those that are kept, and those of values."""
        return (*self.rows.job.keep.values(), *self.rows.job.question.kinds)

    def __repr__(self) -> str:
        known = self.rows.n_rows
        size = f"a frame of {self.rows.engine}" if self.rows.engine else "a stream"
        size = size if known is None else how_many(known, "row")
        return f"SourceValues({self.name}: {size} x {how_many(len(self.columns), 'column')}, {self.units})"

    def _repr_html_(self) -> str:
        facts = {
            "rows": "not known" if self.rows.n_rows is None else self.rows.n_rows,
            "columns": len(self.columns),
            "units": self.units,
            "outputs": ", ".join(map(str, self.outputs)),
        }
        return facts_html(f"Values of each row of a source: {self.name}", facts)

    @cached_property
    def _means(self) -> NDArray[np.float64]:
        """The means of absolute values, of squares and of values, each in the shape of one row's values."""
        if not isinstance(self.rows.job.question, SetsOfRows):
            message = f"there are no means of {self.name}; ask for them before top_per_row"
            raise TableError(message)
        done = self.rows.sums()
        n_columns = int(np.prod(self.shape))
        means = exact_means(done.sums, sum(done.rows.values()), N_SUMS * n_columns).reshape(N_SUMS, *self.shape)
        return read_only(means[..., 0] if len(self.outputs) == 1 else means)

    def mean_abs(self) -> NDArray[np.float64]:
        """Return the mean absolute value of each feature, pair or set over all rows, as the results in memory have it.

        It is summed where the rows are, without rounding, so it does not depend on how the rows are divided.
        """
        result: NDArray[np.float64] = self._means[0]
        return result

    def mean_square(self) -> NDArray[np.float64]:
        """Return the mean square of each feature, pair or set over all rows, as `mean_abs` does."""
        result: NDArray[np.float64] = self._means[1]
        return result

    def signed_mean(self) -> NDArray[np.float64]:
        """Return the mean value of each feature, pair or set over all rows, with its sign, as `mean_abs` does."""
        result: NDArray[np.float64] = self._means[2]
        return result

    def top(self, k: int = 10) -> Frame:
        """Return the k features, pairs or sets with the largest mean absolute value, as a data frame."""
        k = whole_number(k, "k is the number of features or sets")
        means = self._means.reshape(N_SUMS, -1, len(self.outputs))
        some = [number for number, names in enumerate(self.subsets) if names]  # the empty set explains nothing
        places = [(number, output) for number in some for output in range(len(self.outputs))]
        order = sorted(places, key=lambda place: -means[0][place])[:k]
        columns: dict[str, Any] = {"features": [" x ".join(self.subsets[number]) for number, _ in order]}
        if len(self.outputs) > 1:
            columns["output"] = [self.outputs[output] for _, output in order]
        names = ("mean_abs", "mean_square", "signed_mean")
        result = {name: [float(mean[place]) for place in order] for name, mean in zip(names, means, strict=True)}
        return to_frame(columns | result)

    def top_per_row(self, k: int = 3) -> SourceValues:
        """Return, for each row, the k features or sets with the largest absolute values, as two lists.

        They are the columns ``features`` and ``values`` of the result, next to those that are kept: what a table of
        reason codes needs.
        """
        k = whole_number(k, "k is the number of features or sets of each row")
        question = self.rows.job.question
        if not isinstance(question, SetsOfRows):
            message = f"top_per_row is for values of features or sets, not for {self.name}"
            raise TableError(message)
        if len(self.outputs) > 1:
            message = f"top_per_row needs a single output; pass output=, one of {list(self.outputs)!r}"
            raise TableError(message)
        skipped = int(bool(self.subsets) and not self.subsets[0])
        k = min(k, len(question.labels) - skipped)
        name = f"largest {self.name}"
        return replace(self, name=name, rows=self.rows.asking(LargestSets(question, k, skipped)))

    def blocks(self) -> Iterator[Any]:
        """Yield the result as Arrow tables, in the order of the rows. Memory does not depend on their number.

        Files and streams are read by this process; a frame of a cluster stays there and raises an error.
        """
        return self.rows.blocks()

    def to_parquet(
        self,
        folder: str | PathLike[str],
        *,
        filesystem: object = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> int:
        """Write the result to a folder of Parquet files: one per file that is read, or per partition of a frame.

        On a cluster, workers write the files, so the folder must be one that all of them see. A file is written as a
        whole or not at all. If a call is interrupted, calling it again writes what is missing, and nothing twice;
        partitions of frames are read again to find out whether they are the same. A folder that has anything else is
        refused.

        Parameters
        ----------
        folder : path
            Of a new folder, or of an interrupted call; or an address such as ``"s3://bucket/folder"``. Files with many
            rows are divided.
        filesystem, storage_options : optional
            The storage that the folder is in, as in `summarize`.

        Returns
        -------
        int
            The number of rows.
        """
        return self.rows.write(place_of(folder, filesystem, storage_options))

    def to_spark(self) -> SparkFrame:
        """Return the result as a Spark DataFrame, computed lazily, if the rows are one.

        Examples
        --------
        >>> explainer.shap_values(frame, keep=["id"]).to_spark().write.saveAsTable("shap")  # doctest: +SKIP
        """
        return self.rows.frame("spark")

    def to_dask(self) -> DaskFrame:
        """Return the result as a Dask DataFrame, computed lazily, if the rows are one.

        Examples
        --------
        >>> explainer.shap_values(frame, keep=["id"]).to_dask().to_parquet("shap")  # doctest: +SKIP
        """
        return self.rows.frame("dask")

    def to_ray(self) -> RayDataset:
        """Return the result as a Ray Dataset, computed lazily, if the rows are one.

        Examples
        --------
        >>> explainer.shap_values(frame, keep=["id"]).to_ray().write_parquet("shap")  # doctest: +SKIP
        """
        return self.rows.frame("ray")
