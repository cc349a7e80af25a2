"""What objects show of themselves in text and in HTML; names and categories are texts there, whatever they hold."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeRegressor

import glasswood as gw
from glasswood.text._html import facts_html, table_html

NAMES = {
    "script": "<script>alert(1)</script>",
    "attribute": '"><img src=x onerror=alert(1)>',
    "link": "javascript:alert(1)",
    "long": "x" * 500,
    "emoji": "🌳 <b>",
    "right to left": "\u202eevil",
    "looks alike": "аge",  # noqa: RUF001 (a Cyrillic a)
    "entity": "&lt;i&gt;",
}
CATEGORY = "</td><script>alert(2)</script>"
CLASS = "<svg onload=alert(3)>"


class Tags(HTMLParser):
    """Collects the tags and attributes of a page, and its text."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = set(), set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parsed(html):
    page = Tags()
    page.feed(html)
    page.close()
    assert page.open == []
    assert page.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert page.attributes <= {"class", "scope", "style", "colspan"}
    return "\n".join(page.text)


@pytest.fixture(scope="module")
def things():
    """One of each class that has a repr in HTML, made of names that try to be more than text."""
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(300, len(NAMES))).round(2), columns=list(NAMES.values()))
    X["kind"] = pd.Categorical(generator.choice([CATEGORY, "plain"], 300))
    y = np.array(["<a>", CLASS, "c"])[np.digitize(X.iloc[:, 0] * X.iloc[:, 1] + (X["kind"] == "plain"), [0, 1])]
    model = HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype").fit(X, y)
    first, second = list(X)[:2]
    ex = gw.Explainer(model, X)
    return {
        "Explainer": ex,
        "Explainer of counts": gw.Explainer(model, gw.summarize(model, X)),
        "Explainer without rows": gw.Explainer(model),
        "TreeEnsemble": ex.ensemble,
        "Background": gw.summarize(model, X, groups={"<b>group": [first, second]}),
        "Curve": ex.partial_dependence(first),
        "Curve of categories": ex.partial_dependence("kind"),
        "Surface": ex.partial_dependence(first, second),
        "Points": ex.partial_dependence(first, second, at=X[:3]),
        "Ice": ex.ice(first),
        "Interactions": ex.interaction_values(X, max_order=2),
        "Attributions": ex.shap_values(X),
        "Attributions of pairs": ex.shap_interaction_values(X),
        "Importance": ex.importance(),
        "Strengths": ex.interaction_strengths(),
        "Comparison": gw.compare({"<u>one": ex, "two": gw.Explainer(model, X[:100])}),
        "Measures": judged({"<u>one": ex, "two": gw.Explainer(model, X[:100])}),
        "Violations": judged({"<u>one": ex, "two": gw.Explainer(model, X[:100])}).violations,
    }


def judged(explainers):
    """Return measures of which some are beyond their limits."""
    with pytest.warns(UserWarning, match="below 500 rows"):
        return gw.compare(explainers, limits={"psi": 0.0, "level": 0.0}).measures


KINDS = [
    "Explainer",
    "Explainer of counts",
    "Explainer without rows",
    "TreeEnsemble",
    "Background",
    "Curve",
    "Curve of categories",
    "Surface",
    "Points",
    "Ice",
    "Interactions",
    "Attributions",
    "Attributions of pairs",
    "Importance",
    "Strengths",
    "Comparison",
    "Measures",
    "Violations",
]


@pytest.mark.parametrize("kind", KINDS)
def test_reprs_in_html_hold_tables_and_text_only(things, kind):
    html = things[kind]._repr_html_()
    text = parsed(html)
    assert kind.split()[0].removesuffix("s") in text or kind == "Strengths"
    assert html.count("<tr>") <= 25
    assert len(repr(things[kind]).splitlines()) == 1


def test_names_come_out_as_they_are(things):
    assert NAMES["script"] in parsed(things["Curve"]._repr_html_())
    assert CATEGORY in parsed(things["Curve of categories"]._repr_html_())
    assert CLASS in parsed(things["Explainer"]._repr_html_())
    assert NAMES["attribute"] in parsed(things["Surface"]._repr_html_())
    assert "<b>group" in parsed(things["Background"]._repr_html_())
    assert "&lt;i&gt;" in parsed(things["Attributions"]._repr_html_())


def test_explainers_say_what_they_average_over(things):
    assert "300 rows" in parsed(things["Explainer"]._repr_html_())
    assert "counts of 300 rows, order 1" in parsed(things["Explainer of counts"]._repr_html_())
    assert "path-dependent" in parsed(things["Explainer without rows"]._repr_html_())


def test_nothing_is_counted_to_show_an_explainer(tmp_path):
    X = pd.DataFrame({"a": np.arange(50.0), "b": np.arange(50.0) % 7})
    X.to_parquet(tmp_path / "rows.parquet")
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, X["b"] > 3)
    ex = gw.Explainer(model, str(tmp_path / "rows.parquet"))
    assert "read when needed" in parsed(ex._repr_html_())
    assert not ex._study._counted


def test_tables_are_cut_off_and_say_so():
    text = parsed(table_html("<caption>", {"<i>": list(range(30)), "b": ["<td>"] * 30}))
    assert "10 more" in text
    assert "<caption>" in text
    assert parsed(facts_html("<caption>", {"<i>": "<td>", "n": 1234.0})).split() == [
        "<caption>",
        "<i>",
        "<td>",
        "n",
        "1,234",
    ]


TERMINAL = "\x1b[2J\x1b]0;owned\x07"
TURNED = "\u202eevil\x9b31m\u2028"


def test_no_name_tells_a_terminal_what_to_do():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=[TERMINAL, TURNED])
    X["kind"] = pd.Categorical(rng.choice([TERMINAL, "plain"], 200))
    y = np.array([TERMINAL, TURNED, "c"])[np.digitize(X[TERMINAL] * X[TURNED] + (X["kind"] == "plain"), [0, 1])]
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype").fit(X, y)
    ex = gw.Explainer(model, X)
    shown = [
        ex,
        ex.ensemble,
        gw.summarize(model, X, groups={TERMINAL + TURNED: [TERMINAL, TURNED]}),
        ex.partial_dependence(TERMINAL),
        ex.partial_dependence("kind"),
        ex.partial_dependence(TERMINAL, TURNED),
        ex.partial_dependence(TERMINAL, TURNED, at=X[:3]),
        ex.ice(TURNED),
        ex.interaction_values(X, max_order=2),
        ex.shap_values(X),
        ex.importance(),
        ex.interaction_strengths(),
        ex.monotonicity(),
        ex.spikes(points=2),
        gw.compare({TERMINAL: ex, TURNED: gw.Explainer(model, X[:100])}),
        judged({TERMINAL: ex, TURNED: gw.Explainer(model, X[:100])}),
        judged({TERMINAL: ex, TURNED: gw.Explainer(model, X[:100])}).violations,
    ]
    for thing in shown:
        assert repr(thing).isprintable(), repr(thing)
        html = thing._repr_html_()
        assert html.replace("\n", "").isprintable(), html
    assert "\\x1b[2J" in repr(ex.importance())
    with pytest.raises(gw.errors.GlasswoodError) as caught:
        ex.partial_dependence(TURNED + TERMINAL)
    assert str(caught.value).isprintable()


ONE_AS_MANY = re.compile(
    r"(?<![\d.,+-])1 (?:(?:used|more|different|input) )?(?:[a-z]{2,}[^s\W]s|leaves|categories|classes)\b"
)


@pytest.mark.parametrize("text", ["1 rows", "(1 trees,", "1 more groups", "1 leaves", "1 categories of 2"])
def test_a_plural_after_one_is_recognized(text):
    assert ONE_AS_MANY.search(text)


def test_one_is_followed_by_a_singular(tmp_path):
    X = pd.DataFrame({"a": [0.0, 1.0]})
    model = DecisionTreeRegressor(max_depth=1).fit(X, [0.0, 1.0])
    row = X[:1]
    ex = gw.Explainer(model, row)
    things = [
        ex,
        gw.Explainer(model, gw.summarize(model, row)),
        ex.ensemble,
        gw.summarize(model, row),
        ex.partial_dependence("a"),
        ex.partial_dependence(),
        ex.partial_dependence("a", at=[[0.5]]),
        ex.ice("a"),
        ex.interaction_values(row),
        ex.shap_values(row),
        ex.importance(),
        ex.interaction_strengths(),
        ex.monotonicity(),
        ex.spikes(),
        gw.compare({"one": ex, "two": ex}),
        gw.compare({"one": ex, "two": ex}, limits={"missing": 0.0}).measures,
        gw.compare({"one": ex, "two": ex}, limits={"missing": 0.0}).violations,
    ]
    for thing in things:
        html = thing._repr_html_() if hasattr(thing, "_repr_html_") else ""
        assert not ONE_AS_MANY.search(f"{thing!r} {html}")
    ex.report(tmp_path / "model.html", by=["only"])
    page = (tmp_path / "model.html").read_text()
    data = json.loads(re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)[0])
    assert not ONE_AS_MANY.search(json.dumps(data))
    assert "1 tree, 2 leaves, 1 feature used" in json.dumps(data)
