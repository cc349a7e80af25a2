"""The public names, their signatures and that each has an example."""

from __future__ import annotations

import inspect
import re

import pytest

import glasswood as gw

PUBLIC = {
    "Ale": None,
    "AleSurface": None,
    "Ales": None,
    "Attributions": None,
    "Background": None,
    "Certificate": None,
    "Comparison": None,
    "Curve": None,
    "Curves": None,
    "Explainer": (
        "(model: 'object', background: 'object' = None, *, groups: 'Mapping[str, Sequence[str]] | None' = None, "
        "sample_weight: 'object' = None, response: 'str | None' = None, "
        "target: 'object' = None, exposure: 'object' = None, offset: 'object' = None, prediction: 'object' = None, "
        "folds: 'int | None' = None, fold_by: 'object' = None, filesystem: 'object' = None, "
        "storage_options: 'Mapping[str, Any] | None' = None, n_jobs: 'int | None' = None) -> 'None'"
    ),
    "Grouped": None,
    "HStatistics": None,
    "Ice": None,
    "Importance": None,
    "Interactions": None,
    "Measures": None,
    "Monotonicity": None,
    "Observations": None,
    "PermutationImportance": None,
    "Points": None,
    "PurifiedEffects": None,
    "RatingTable": None,
    "Report": None,
    "RowMonotonicity": None,
    "SourceValues": None,
    "Spikes": None,
    "Strengths": None,
    "Surface": None,
    "TreeEnsemble": None,
    "Violations": None,
    "compare": "(explainers: 'Mapping[str, Explainer]', *, output: 'object' = None, "
    "reference: 'str | None' = None, limits: 'Mapping[str, float] | Sequence[str] | PathLike[str] | None' = None, "
    "error: 'float | None' = None) -> 'Comparison'",
    "errors": None,
    "metrics": None,
    "read_model": "(model: 'object', rows: 'object' = None) -> 'TreeEnsemble'",
    "read_trees": (
        "(trees: 'Iterable[Mapping[str, Any]]', feature_names: 'Sequence[str]', *, base: 'ArrayLike' = 0.0, "
        "link: \"Literal['identity', 'logistic', 'softmax', 'exp']\" = 'identity', "
        "labels: 'Sequence[Hashable]' = ('prediction',), divisor: 'float' = 1.0, "
        "comparison: \"Literal['<=', '<', 'float32 <=', 'float32 <']\" = '<=') -> 'TreeEnsemble'"
    ),
    "summarize": (
        "(model: 'object', source: 'object', *, order: 'int | None' = 1, "
        "groups: 'Mapping[str, Sequence[str]] | None' = None, sample_weight: 'object' = None, by: 'object' = None, "
        "response: 'str | None' = None, answers: 'object' = (), "
        "target: 'object' = None, exposure: 'object' = None, offset: 'object' = None, prediction: 'object' = None, "
        "folds: 'int | None' = None, fold_by: 'object' = None, engine: 'object' = 'auto', "
        "checkpoint: 'str | PathLike[str] | None' = None, filesystem: 'object' = None, "
        "storage_options: 'Mapping[str, Any] | None' = None, n_jobs: 'int | None' = None) -> "
        "'Background | dict[Hashable, Background]'"
    ),
}


def test_names():
    assert gw.__all__ == sorted(PUBLIC)
    assert dir(gw) == gw.__all__


@pytest.mark.parametrize("name", [name for name, signature in PUBLIC.items() if signature])
def test_signatures(name):
    assert str(inspect.signature(getattr(gw, name))) == PUBLIC[name]


@pytest.mark.parametrize("thing", [gw.Curve, gw.Curves, gw.Comparison, gw.Explainer], ids=lambda thing: thing.__name__)
def test_every_figure_of_curves_has_std(thing):
    parameter = inspect.signature(thing.plot).parameters["std"]
    assert (parameter.kind, parameter.default) == (inspect.Parameter.KEYWORD_ONLY, False)


MODULES = [f"{name}.{thing}" for name in ("errors", "metrics") for thing in getattr(gw, name).__all__]


@pytest.mark.parametrize("name", [*sorted(set(PUBLIC) - {"errors", "metrics"}), *MODULES])
def test_every_public_name_has_an_example(name):
    thing = gw
    for part in name.split("."):
        thing = getattr(thing, part)
    assert ">>>" in thing.__doc__


def examples_in(thing):
    """Return the code of the examples in a docstring, and in those of methods."""
    texts = [thing.__doc__ or "", *(what.__doc__ or "" for what in vars(thing).values() if inspect.isfunction(what))]
    return "\n".join(line for text in texts for line in text.splitlines() if line.strip().startswith((">>>", "...")))


def test_every_public_method_is_shown_by_an_example():
    things = [getattr(gw, name) for name in PUBLIC if not inspect.ismodule(getattr(gw, name))]
    examples = "\n".join(map(examples_in, things))
    missing = [
        f"{thing.__name__}.{name}"
        for thing in filter(inspect.isclass, things)
        for name, what in vars(thing).items()
        if inspect.isfunction(what) and not name.startswith("_") and name != "panel"
        if not re.search(rf"\.{name}\(", examples)
    ]
    assert missing == []


def test_version_is_the_installed_one():
    from importlib.metadata import version

    assert gw.__version__ == version("glasswood")
