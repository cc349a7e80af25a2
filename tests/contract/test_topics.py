"""Names, metrics, errors, commands, scikit-learn's function, reports, figures: as in the golden files."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tests.contract import golden, whole
from tests.contract.describe import differences
from tests.contract.kinds import KINDS, model_of
from tests.contract.topics import TOPICS, run
from tests.contract.versions import skip_if_too_old

ALLOWED = {"glasswood", "glasswood.errors", "glasswood.metrics", "glasswood.sklearn"}


@pytest.mark.parametrize("topic", TOPICS)
def test_topic(topic, tmp_path):
    skip_if_too_old(topic)
    selected, found = golden.read(topic), TOPICS[topic](tmp_path)
    if selected.get("fits") != found.get("fits"):
        pytest.skip("models were fitted differently here (another version or machine): golden values do not apply")
    listed = list(differences(selected, found))
    assert not listed, "\n".join([f"{len(listed)} differences from the golden values:", *listed[:20]])


def test_the_command_is_the_module():
    model = str(KINDS["xgboost_regressor"].make())
    found = subprocess.run([sys.executable, "-m", "glasswood", "info", model, "--json"], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == run(["info", model, "--json"])[:2]


def test_a_file_and_the_object_read_from_it_are_the_same_model():
    skip_if_too_old("xgboost_regressor")
    import xgboost

    import glasswood as gw

    loaded = xgboost.XGBRegressor()
    loaded.load_model(model_of("xgboost_regressor"))
    table = KINDS["xgboost_regressor"].frame()
    one, other = (gw.read_model(model, table) for model in (model_of("xgboost_regressor"), loaded))
    assert (one.predict(table) == other.predict(table)).all()
    assert gw.summarize(one, table) == gw.summarize(other, table)


def test_every_golden_file_is_of_something():
    assert sorted(path.stem for path in golden.FOLDER.iterdir()) == sorted(whole.NAMES)


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("*.py")), ids=lambda path: path.name)
def test_public_names_only(path):
    assert not list(private(path.read_text(encoding="utf-8")))


def test_private_names_are_found():
    for text in (
        "import glasswood._explainer",
        "from glasswood import _study",
        "from glasswood.results import Curve",
        "import glasswood as gw\nex._study",
        "import glasswood as gw\ngw.results.Curve",
        "import glasswood as gw\ngetattr(ex, '_study')",
        "importlib.import_module('glasswood.results')",
    ):
        assert list(private(text)), text


def private(text):
    """Yield every name in a file that is not public."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (
                name.name for name in node.names if name.name.split(".")[0] == "glasswood" and name.name not in ALLOWED
            )
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "glasswood":
            names = [name.name for name in node.names if name.name.startswith("_")]
            yield from names if node.module in ALLOWED else [node.module]
        elif isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if node.attr[:1] == "_" and node.attr[:2] != "__" and not own:
                yield node.attr
            if isinstance(node.value, ast.Name) and node.value.id in ("gw", "glasswood") and node.attr not in PUBLIC:
                yield f"gw.{node.attr}"
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in DYNAMIC:
            texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            yield from (one for one in texts if one.startswith("glasswood.") or (one[:1] == "_" and one[:2] != "__"))


DYNAMIC = ("getattr", "hasattr", "import_module", "__import__")
PUBLIC = {"sklearn", "errors", "metrics", "__all__", *golden.read("names")["glasswood"]}
