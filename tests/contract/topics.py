"""What is frozen beside the kinds of models: names, metrics, errors, commands, scikit-learn's function, pages."""

from __future__ import annotations

import contextlib
import csv
import inspect
import io
import json
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import sklearn.inspection
from tests.contract.crossings import crossings
from tests.contract.describe import NOT_FROZEN, describe, public_attributes
from tests.contract.kinds import FILES, KINDS, fit_of, model_of
from tests.contract.tables import column, frame
from tests.contract.vectors import stored, vectors

import glasswood as gw
import glasswood.sklearn

# ------------------------------------------------------------------------------------------------------------- names


def names(folder):
    """Return all public names: of modules, of classes, of parameters with their defaults."""
    modules = {"glasswood": gw, "errors": gw.errors, "metrics": gw.metrics, "sklearn": glasswood.sklearn}
    return {
        module: {name: _shape_of(getattr(found, name)) for name in found.__all__ if name not in modules}
        for module, found in modules.items()
    }


def _shape_of(thing):
    if not inspect.isclass(thing):
        return _parameters(thing)
    if issubclass(thing, Exception):
        return {"bases": [base.__name__ for base in thing.__mro__[1:-1]]}
    methods = {
        name: _parameters(getattr(thing, name))
        for name in dir(thing)
        if not name.startswith("_") and name not in NOT_FROZEN and callable(getattr(thing, name))
    }
    own = {} if thing in _UNNAMED else {"parameters": _parameters(thing)}
    return own | {"attributes": public_attributes(thing), "methods": methods}


def _parameters(function):
    signature = inspect.signature(function)
    listed = [
        f"{'*' * (parameter.kind == parameter.VAR_POSITIONAL)}{name}"
        + ("" if parameter.default is parameter.empty else f"={parameter.default!r}")
        + (" (by name)" if parameter.kind == parameter.KEYWORD_ONLY else "")
        for name, parameter in signature.parameters.items()
    ]
    return sorted(listed, key=lambda text: text if text.endswith("(by name)") else "")  # whose order does not matter


# Users do not make these themselves.
_UNNAMED = {getattr(gw, name) for name in gw.__all__ if inspect.isclass(getattr(gw, name))} - {gw.Explainer}

# ----------------------------------------------------------------------------------------------------------- metrics


def metrics(folder):
    """Return what metrics say of small cubes."""
    made = {
        "ShapleyValues": gw.metrics.ShapleyValues(),
        "ShapleyInteractions": gw.metrics.ShapleyInteractions(3, 2),
        "BanzhafValues": gw.metrics.BanzhafValues(),
        "BanzhafInteractions": gw.metrics.BanzhafInteractions(),
        "ShapleyTaylor": gw.metrics.ShapleyTaylor(3),
        "CenteredPartialDependence": gw.metrics.CenteredPartialDependence(),
        "PartialDependenceInteractions": gw.metrics.PartialDependenceInteractions(2),
        "ExternalInteractions": gw.metrics.ExternalInteractions(2),
        "ChainingInteractions": gw.metrics.ChainingInteractions(3),
        "KShapleyInteractions": gw.metrics.KShapleyInteractions(3),
        "FaithfulShapley": gw.metrics.FaithfulShapley(3),
        "FaithfulBanzhaf": gw.metrics.FaithfulBanzhaf(3),
        "KAdditiveShapley": gw.metrics.KAdditiveShapley(3),
    }
    return {name: describe(_metric(metric), exact=False) for name, metric in made.items()}


def _metric(metric):
    cubes = {"a": ({"a"}, set()), "b without a": ({"b"}, {"a"}), "a, b without c": ({"a", "b"}, {"c"})}
    found = {cube: _sorted(metric.calc_metric(*sides)) for cube, sides in cubes.items()}
    moments = [metric.moment(order, 1, 2) for order in (1, 2, 3)]
    return found | {"moments": moments, "orders": list(metric.orders(4)), "nodes": metric.nodes(3)}


def _sorted(values):
    return {
        " ".join(sorted(key)): float(value) for key, value in sorted(values.items(), key=lambda item: sorted(item[0]))
    }


# ------------------------------------------------------------------------------------------------------------ errors


def _ex(kind="hist_categories", **options):
    return gw.Explainer(model_of(kind), frame(KINDS[kind].columns), **options)


def _table(kind="hist_categories"):
    return frame(KINDS[kind].columns)


# One line per mistake: what is done, and a word that the message must have. The type is in the golden file.
MISTAKES = {
    "unknown feature": (lambda folder: _ex().partial_dependence("agee"), "agee"),
    "feature number too large": (lambda folder: _ex().partial_dependence(17), "17"),
    "the same feature twice": (lambda folder: _ex().partial_dependence("age", "age"), "age"),
    "points without features": (lambda folder: _ex().partial_dependence(at=_table()), "at="),
    "points without a column": (lambda folder: _ex().partial_dependence("age", "city", at=_table()[["age"]]), "city"),
    "unknown output": (lambda folder: _ex("hist_multiclass").partial_dependence("age", output="fir"), "fir"),
    "output number too large": (lambda folder: _ex("hist_multiclass").importance(output=3), "3"),
    "grids that are a list": (lambda folder: _ex().joint_partial_dependence(grid=[1.0]).grid_values, "grid="),
    "largest order of zero": (lambda folder: _ex().interaction_values(_table()[:2], max_order=0), "max_order"),
    "metric that is none": (lambda folder: _ex().evaluate("shapley", _table()[:2]), "shapley"),
    "ice without a feature": (lambda folder: _ex().ice(), "feature"),
    "spikes between one point": (lambda folder: _ex().spikes(points=1), "points"),
    "rows without a column": (lambda folder: _ex().shap_values(_table()[["age", "income"]]), "debt"),
    "rows of text": (lambda folder: _ex().shap_values(_table().assign(age="old")), "age"),
    "background without a column": (
        lambda folder: gw.Explainer(model_of("hist_regressor"), frame(("age", "income"))),
        "rooms",
    ),
    "background without rows": (
        lambda folder: gw.Explainer(model_of("hist_regressor"), _table("hist_regressor")[:0]).importance(),
        "rows",
    ),
    "background that is a number": (lambda folder: gw.Explainer(model_of("hist_regressor"), 3), "int"),
    "infinite weight": (lambda folder: _ex(sample_weight=np.full(48, np.inf)).importance(), "weight"),
    "negative weight": (lambda folder: _ex(sample_weight=-np.ones(48)).importance(), "weight"),
    "too few weights": (lambda folder: _ex(sample_weight=np.ones(3)).importance(), "weight"),
    "weights in no column": (lambda folder: _ex(sample_weight="heavy").importance(), "heavy"),
    "unknown response": (lambda folder: _ex(response="logit"), "logit"),
    "probability of a regressor": (lambda folder: _ex(response="probability"), "probabilit"),
    "probability from counts": (
        lambda folder: gw.Explainer(
            model_of("hist_binary"),
            gw.summarize(model_of("hist_binary"), _table("hist_binary")),
            response="probability",
        ).partial_dependence("age", "income"),
        "response",
    ),
    "group of an unknown column": (lambda folder: _ex(groups={"place": ["town"]}), "town"),
    "column in two groups": (lambda folder: _ex(groups={"one": ["age"], "two": ["age", "city"]}), "age"),
    "background of another model": (
        lambda folder: gw.Explainer(
            model_of("hist_regressor"), gw.summarize(model_of("forest_regressor"), _table("forest_regressor"))
        ),
        "background",
    ),
    "background of a lower order": (
        lambda folder: gw.Explainer(
            model_of("hist_regressor"), gw.summarize(model_of("hist_regressor"), _table("hist_regressor"))
        ).partial_dependence("age", "income"),
        "order",
    ),
    "sum of orders": (
        lambda folder: (
            gw.summarize(model_of("hist_regressor"), _table("hist_regressor"))
            + gw.summarize(model_of("hist_regressor"), _table("hist_regressor"), order=2)
        ),
        "order",
    ),
    "background file that is none": (
        lambda folder: gw.Background.load(_written(folder / "text.gw", "text")),
        "text.gw",
    ),
    "model that is none": (lambda folder: gw.read_model(object()), "object"),
    "model that is not fitted": (lambda folder: gw.read_model(type(model_of("hist_regressor"))()), "fit"),
    "model file that is none": (lambda folder: gw.read_model(_written(folder / "text.json", "text")), "text.json"),
    "model file that is not there": (lambda folder: gw.read_model(folder / "nowhere.json"), "nowhere.json"),
    "data that are not there": (
        lambda folder: gw.summarize(model_of("hist_regressor"), folder / "nowhere.parquet"),
        "nowhere.parquet",
    ),
    "groups of rows in no column": (
        lambda folder: gw.summarize(model_of("hist_regressor"), _table("hist_regressor"), by="planet"),
        "planet",
    ),
    "unknown engine": (
        lambda folder: gw.summarize(model_of("hist_regressor"), _written_rows(folder), engine="abacus"),
        "abacus",
    ),
    "order of zero": (
        lambda folder: gw.summarize(model_of("hist_regressor"), _table("hist_regressor"), order=0),
        "order",
    ),
    "comparison of one": (lambda folder: gw.compare({"one": _ex()}), "two"),
    "comparison of different outputs": (
        lambda folder: gw.compare({"one": _ex("hist_multiclass"), "other": _ex("hist_poisson")}),
        "other",
    ),
    "comparison of tables": (lambda folder: gw.compare({"one": _ex(), "other": _table()}), "other"),
    "limit of no measure": (lambda folder: gw.compare({"one": _ex(), "other": _ex()}, limits={"shift": 1}), "shift"),
    "limit of no feature": (lambda folder: gw.compare({"one": _ex(), "other": _ex()}, limits={"agee: psi": 1}), "agee"),
    "limit of no rows": (
        lambda folder: gw.compare({"one": _ex(), "other": gw.Explainer(model_of("hist_regressor"))}, limits={"psi": 1}),
        "other",
    ),
    "violations of nothing": (lambda folder: gw.compare({"one": _ex(), "other": _ex()}).violations, "reference"),
    "importance without rows": (lambda folder: gw.Explainer(model_of("hist_regressor")).importance(), "background"),
    "importance of an unknown feature": (lambda folder: _ex().importance()["agee"], "agee"),
    "values of an unknown feature": (lambda folder: _ex().interaction_values(_table()[:2])["agee"], "agee"),
    "report in no folder": (lambda folder: _ex().report(folder / "nowhere" / "page.html"), "nowhere"),
}


def _written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def _written_rows(folder):
    _table("hist_regressor").to_parquet(folder / "rows.parquet")
    return folder / "rows.parquet"


def errors(folder):
    """Return the type of the error of every mistake, and whether its message names what is wrong."""
    return {name: _mistake(lambda do=do: do(folder), word) for name, (do, word) in MISTAKES.items()}


def _mistake(do, word):
    try:
        do()
    except gw.errors.GlasswoodError as error:
        return {"error": type(error).__name__, "names it": word.lower() in str(error).lower()}
    except Exception as error:  # noqa: BLE001 (an error of another kind is frozen, too)
        return {"error": f"{type(error).__module__}.{type(error).__name__}", "names it": word in str(error)}
    return {"error": None}


# --------------------------------------------------------------------------------------------------- the command line

# One line per command; the files are those of `_files`. Outputs are numbers where they can be, texts elsewhere.
COMMANDS = {
    "info of a model": "info MODEL --json",
    "info of a background": "info rows.gw --json",
    "check": "check MODEL rows.parquet --json",
    "check of nothing": "check MODEL --json",
    "summarize": "summarize MODEL rows.parquet --order 2 -o pairs.gw --json",
    "summarize by region": "summarize MODEL rows.parquet --by region --weight weight -o by.gw --json",
    "merge": "merge rows.gw rows.gw -o twice.gw --json",
    "merge --subtract": "merge twice.gw rows.gw -o once.gw --subtract --json",
    "curve as CSV": "curve MODEL rows.gw age",
    "curve as JSON": "curve MODEL rows.parquet age debt --json",
    "curves of all": "curve MODEL rows.gw --format csv",
    "curve of a category": "curve CATEGORIES mixed.parquet city",
    "probability": "curve BINARY rows.parquet age --response probability --label no",
    "joint": "curve MODEL pairs.gw age income --joint --json",
    "interactions": "interactions MODEL rows.parquet --json",
    "interactions of counts": "interactions MODEL pairs.gw --top 2 --json",
    "interactions of three": "interactions MODEL rows.parquet --max-order 3 --top 5 --json",
    "compare groups": "compare MODEL --background n=by-north.gw --background s=by-south.gw --json",
    "compare with limits": "compare MODEL --background n=by-north.gw --background s=by-south.gw --fail-if psi>9 --json",
    "compare beyond limits": "compare MODEL --background n=by-north.gw --background s=by-south.gw --fail-if psi>0",
    "compare by no measure": "compare MODEL --background n=by-north.gw --background s=by-south.gw --fail-if shift>0",
    "compare models": "compare MODEL CATEGORIES --data rows.parquet --json",
    "report": "report MODEL rows.parquet -o page.html --interactions 1",
    "completion": "completion bash",
    "version": "--version",
    "help": "--help",
    "no command": "frobnicate",
    "no file": "curve nowhere.json rows.gw",
    "no feature": "curve MODEL rows.gw agee",
    "wrong option": "curve MODEL rows.gw --joint age",
    "pairs from single counts": "interactions MODEL rows.gw",
    "pickle": "info text.pkl",
}
NAMED = {"MODEL": "xgboost_regressor.json", "BINARY": "catboost_binary.json", "CATEGORIES": "lightgbm_categories.txt"}
PROSE = {"completion", "version", "help"}


def command_line(folder):
    """Return the exit code of every command, and what it prints: numbers, not words."""
    with contextlib.chdir(folder):
        frame((*KINDS["xgboost_regressor"].columns, "city", "region", "weight")).to_parquet("rows.parquet")
        frame(KINDS["lightgbm_categories"].columns).to_parquet("mixed.parquet")
        Path("text.pkl").write_bytes(b"\x80\x04.")
        gw.summarize(str(FILES / NAMED["MODEL"]), "rows.parquet").save("rows.gw")
        found = {name: _run(command, prose=name in PROSE) for name, command in COMMANDS.items()}
        files = sorted(path.name for path in Path().iterdir())
    return found | {"files": files}


def _run(command, *, prose):
    arguments = [str(FILES / NAMED[word]) if word in NAMED else word for word in command.split()]
    code, output, errors = run(arguments)
    selected = {"exit code": code, "errors": len(errors.splitlines()) > 0}
    if code == 0 and not prose:
        selected |= {"compare": "close", "output": _numbers(output)}
    return selected


def run(arguments):
    """Return the exit code, output and errors of `python -m glasswood` in this process."""
    output, errors, before = io.StringIO(), io.StringIO(), sys.argv
    code = 0
    try:
        sys.argv = ["glasswood", *arguments]
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            runpy.run_module("glasswood", run_name="__main__")
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = before
    return code, output.getvalue(), errors.getvalue()


def _numbers(text):
    """Return JSON or CSV as columns."""
    if text.startswith(("{", "[")):
        return _columns(json.loads(text))
    lines = list(csv.reader(io.StringIO(text)))
    return {name: _short([line[k] for line in lines[1:]]) for k, name in enumerate(lines[0])} if lines else {}


def _columns(data):
    if isinstance(data, list) and data and isinstance(data[0], dict):
        return {name: _short([line.get(name) for line in data]) for name in data[0]}
    return (
        {key: value for key, value in data.items() if key not in ("fingerprint", "model")}
        if isinstance(data, dict)
        else data
    )


def _short(values):
    """Return a column: numbers as an array, so that long ones are summed up."""
    try:
        return describe(np.array([np.nan if value in ("", None) else float(value) for value in values]), exact=False)[
            "value"
        ]
    except (TypeError, ValueError):
        return values if len(values) <= 10 else sorted(set(map(str, values)))


# ------------------------------------------------------------------------------------------------------- scikit-learn

GRIDS = {
    "one": {"features": ["age"], "grid_resolution": 5},
    "two": {"features": ["age", "income"], "grid_resolution": 3},
    "both": {"features": ["income"], "grid_resolution": 4, "kind": "both"},
    "weighted": {"features": ["age"], "grid_resolution": 4, "sample_weight": column("weight")},
    "own values": {"features": ["age"], "custom_values": {"age": np.array([30.0, 50.0])}},
}
FUNCTION_KINDS = ("hist_poisson", "hist_multiclass", "forest_binary", "gradient_binary", "pipeline_regressor")
FUNCTION_KINDS += ("voting_binary", "forest_two_targets")


def sklearn_function(folder):
    """Return what glasswood.sklearn.partial_dependence gives, and whether it is what scikit-learn gives."""
    found = {"fits": {kind: fit_of(kind) for kind in FUNCTION_KINDS}}
    for kind in FUNCTION_KINDS:
        for name, options in GRIDS.items():
            model, table = model_of(kind), frame(KINDS[kind].columns)
            ours = glasswood.sklearn.partial_dependence(model, table, **options)
            theirs = sklearn.inspection.partial_dependence(
                model, table, **options, method="brute", **_probabilities(model)
            )
            same = {
                "keys": sorted(ours) == sorted(theirs),
                "grids": all(map(np.array_equal, ours["grid_values"], theirs["grid_values"])),
                "shapes": all(ours[key].shape == theirs[key].shape for key in _arrays(theirs)),
                "values": all(np.allclose(ours[key], theirs[key], rtol=1e-8, atol=1e-8) for key in _arrays(theirs)),
            }
            values = {key: ours[key] for key in _arrays(ours)}
            shapes = {key: list(ours[key].shape) for key in _arrays(ours)}
            found[f"{kind}, {name}"] = describe(values, exact=False) | {"shapes": shapes, "as scikit-learn": same}
    return found


def _arrays(bunch):
    return [key for key in ("average", "individual") if key in bunch]


def _probabilities(model):
    return {"response_method": "predict_proba"} if hasattr(model, "predict_proba") else {}


# ------------------------------------------------------------------------------------------------------------- pages


def report(folder):
    """Return the sections of reports, and whether the numbers and names in them are those of the answers."""
    found = {}
    for kind, options in {
        "hist_categories": {},
        "forest_multiclass": {},
        "xgboost_binary": {"response": "probability"},
    }.items():
        ex = _ex(kind, **options)
        page = ex.report(
            folder / f"{kind}.html", title="Title <of> it", by=column("region"), n_interactions=2, notes="A note."
        )
        found[kind] = _page(page.path.read_text(encoding="utf-8"), ex)
    return found


def _page(html, ex):
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1])
    parts = {part["id"]: part for part in data["sections"]}
    curves = ex.partial_dependence()
    numbers, texts = {name: set(_found(part, float)) for name, part in parts.items()}, set(_found(data, str))
    shown = {_rounded(number) for number in numbers["features"]}
    return {
        "sections": list(parts),
        "title is escaped": "<title>Title &lt;of&gt; it</title>" in html,
        "note": any("A note." in text for text in texts),
        "names": all(any(name in text for text in texts) for name in curves),
        "number of rows": any(re.search(r"\b48\b", text) for text in texts),
        "groups": all(
            any(name in text for text in _found(parts["groups"], str)) for name in ("north", "south", "west")
        ),
        "heights of curves": all(
            _rounded(height) in shown for curve in curves.values() for height in np.ravel(curve.values)
        ),
    }


def _found(data, kind):
    """Yield all numbers, or all texts, of nested data."""
    selected = isinstance(data, str) if kind is str else isinstance(data, int | float) and not isinstance(data, bool)
    if selected:
        yield data
    elif isinstance(data, list | dict):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            if isinstance(key, str) and kind is str:
                yield key
            yield from _found(value, kind)


def _rounded(number):
    return float(f"{number:.4g}")


FIGURES = {
    "curve": lambda ex, X: ex.partial_dependence("age"),
    "surface": lambda ex, X: ex.partial_dependence("age", "income"),
    "points": lambda ex, X: ex.partial_dependence("age", "income", "debt", at=X[["age", "income", "debt"]][2:5]),
    "ice": lambda ex, X: ex.ice("age"),
    "shapley": lambda ex, X: ex.shap_values(X),
    "interactions": lambda ex, X: ex.interaction_values(X[:3]),
    "importance": lambda ex, X: ex.importance(),
    "permutation importance": lambda ex, X: _ex(target=np.arange(48.0)).permutation_importance(),
    "strengths": lambda ex, X: ex.interaction_strengths(),
    "comparison": lambda ex, X: gw.compare({"one": ex, "other": ex}),
    "measures": lambda ex, X: gw.compare({"one": ex, "other": ex}, limits={"level": 1, "ndcg": 0.5}).measures,
    "explainer": lambda ex, X: ex,
}


def figures(folder):
    """Return the kind of figure that every result draws with either library; what is in it is not frozen."""
    import matplotlib as mpl
    from matplotlib import pyplot

    mpl.use("agg")
    ex, X = _ex(), _table()
    found = {}
    for name, ask in FIGURES.items():
        for backend in ("matplotlib", "plotly"):
            figure = ask(ex, X).plot(backend=backend)
            kind = type(figure)
            found[f"{name}, {backend}"] = [base.__name__ for base in kind.__mro__ if base.__name__ == "Figure"][:1]
    display = glasswood.sklearn.PartialDependenceDisplay.from_estimator(
        model_of("hist_regressor"), _table("hist_regressor"), ["age", ("age", "income")], grid_resolution=3
    )
    found["display"] = [type(display).__name__, list(display.axes_.shape), list(display.lines_.shape)]
    pyplot.close("all")
    return found


TOPICS = {
    "names": names,
    "metrics": metrics,
    "errors": errors,
    "command_line": command_line,
    "sklearn_function": sklearn_function,
    "report": report,
    "figures": figures,
    "crossings": crossings,
    "vectors": vectors,
    "stored": stored,
}
