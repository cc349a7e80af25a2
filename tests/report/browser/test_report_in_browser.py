"""The report in a real browser: what clicks, keys and the pointer do, what names may not do, and who can use it."""

from __future__ import annotations

import csv
import re
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingClassifier, HistGradientBoostingRegressor

import glasswood as gw
from helpers.hostile_names import HOSTILE_NAMES

pytestmark = pytest.mark.xdist_group("browser")  # one browser at a time is enough for two cores


def census(n_rows=3000):
    rng = np.random.default_rng(0)
    age, hours = rng.integers(17, 91, n_rows).astype(float), rng.integers(1, 100, n_rows).astype(float)
    job = pd.Categorical(np.where(rng.random(n_rows) < 0.1, None, rng.choice(["clerk", "smith", "poet"], n_rows)))
    X = pd.DataFrame({"age": age, "hours": np.where(rng.random(n_rows) < 0.2, np.nan, hours), "job": job, "idle": 1.0})
    return X, (age > 40) * 2.0 + (job == "poet") * (age > 60) + np.nan_to_num(hours) / 50


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    X, y = census()
    model = HistGradientBoostingRegressor(max_iter=30, categorical_features="from_dtype").fit(X, y)
    groups = np.where(X["age"] > 50, "old", "young")
    return (
        gw.Explainer(model, X).report(tmp_path_factory.mktemp("report") / "model.html", by=groups, title="Census").path
    )


@pytest.fixture(scope="module")
def wide_report(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1000, 300)), columns=[f"feature {k}" for k in range(300)])
    y = X.to_numpy() @ rng.normal(size=300) + X["feature 7"] ** 2 * 5
    model = ExtraTreesRegressor(15, max_features=1, max_leaf_nodes=64, random_state=0).fit(X, y)
    return gw.Explainer(model, X).report(tmp_path_factory.mktemp("report") / "wide.html").path


def features(page):
    return page.locator("#features")


def names_of(page):
    return page.locator("#features tbody th").all_inner_texts()


def titles_of(page):
    return page.locator("#features .card h3").all_inner_texts()


def middle_of(page, selector, across=0.5):
    figure = page.locator(selector).first
    figure.scroll_into_view_if_needed()
    figure.locator("svg").wait_for()
    box = figure.bounding_box()
    return box["x"] + box["width"] * across, box["y"] + 80


def read_csv(path):
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize(
    ("width", "scheme"), [pytest.param(1280, "light", marks=pytest.mark.slow), (1280, "dark"), (390, "light")]
)
def test_the_page_is_quiet_fits_and_is_accessible(visit, report, width, scheme):
    there = visit(width, scheme)
    page = there.open(report)
    for section in ("features", "interactions", "groups"):
        page.locator(f"#{section} .figure").first.scroll_into_view_if_needed()
        page.locator(f"#{section} .figure svg").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ids = page.eval_on_selector_all("[id]", "found => found.map((node) => node.id)")
    assert len(set(ids)) == len(ids)
    assert there.accessibility() == []
    assert there.complaints == []
    assert there.requests == [report.as_uri()]


def test_a_notebook_shows_the_page_in_a_frame_that_sees_nothing_else(visit, tmp_path):
    X, y = census(500)
    report = gw.Explainer(HistGradientBoostingRegressor(max_iter=5).fit(X[["age"]], y), X[["age"]]).report(
        title='"><script>parent.document.title = "gone"</script>'
    )
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<title>Notebook</title><h1>Notebook</h1>{report._repr_html_()}", encoding="utf-8")
    there = visit()
    page = there.open(notebook)
    frame = page.frame_locator("iframe")
    frame.locator("#features .figure").first.scroll_into_view_if_needed()
    frame.locator("#features .figure svg").first.wait_for()
    frame.get_by_role("link", name="Features").first.click()
    end = time.monotonic() + 30  # it scrolls smoothly
    while page.frames[1].evaluate("document.querySelector('#features').getBoundingClientRect().top") > 100:
        assert time.monotonic() < end
        page.wait_for_timeout(50)
    assert page.title() == "Notebook"
    assert not page.frames[1].evaluate("(() => { try { return !!parent.document } catch { return false } })()")
    assert there.complaints == []
    assert there.requests == [notebook.as_uri()]


def test_search_and_sort(visit, report):
    there = visit()
    page = there.open(report)
    assert names_of(page)[-1] == "idle"
    features(page).get_by_label("Search").fill("AG")
    assert names_of(page) == ["age"]
    assert titles_of(page) == ["age"]
    features(page).get_by_label("Search").fill("nowhere")
    assert page.locator("#features .empty").is_visible()
    features(page).get_by_label("Search").fill("")
    page.locator("#features thead button").first.click()
    assert names_of(page) == ["age", "hours", "idle", "job"]
    assert titles_of(page) == ["age", "hours", "job"]
    page.locator("#features thead button").first.click()
    assert names_of(page) == ["job", "idle", "hours", "age"]
    assert page.locator("#features thead th").first.get_attribute("aria-sort") == "descending"
    features(page).get_by_label("Sort by").select_option("Missing")
    assert names_of(page)[0] == "hours"
    page.locator("#features tbody .name").first.click()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("Figure of hours")
    assert there.complaints == []


def test_hover_keys_and_zoom(visit, report):
    there = visit()
    page = there.open(report)
    features(page).get_by_label("Search").fill("hours")
    x, y = middle_of(page, "#features .figure")
    page.mouse.move(x, y)
    tip = page.locator("#tip")
    assert re.match(r"\d+( to \d+)?\n", tip.inner_text())  # whole numbers
    assert "rows (" in tip.inner_text()

    def ticks():
        return page.locator("#features .figure svg text").all_text_contents()

    whole = ticks()
    assert "missing" in whole
    page.mouse.down()
    page.mouse.move(x + 60, y, steps=4)
    page.mouse.up()
    assert ticks() != whole
    page.mouse.dblclick(x, y)
    assert ticks() == whole
    figure = page.locator("#features .figure").first
    figure.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#spoken").inner_text().startswith("up to ")
    page.keyboard.press("+")
    assert ticks() != whole
    page.keyboard.press("0")
    assert ticks() == whole
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert page.locator("#spoken").inner_text().startswith("missing")
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    page.locator("#features button:text('Equal widths')").first.click()
    assert any("equally wide" in text for text in ticks())
    assert there.complaints == []


def test_surfaces_categories_and_groups(visit, report):
    there = visit()
    page = there.open(report)
    x, y = middle_of(page, "#interactions .figure")
    page.mouse.move(x, y)
    assert len(page.locator("#tip div").all()) == 4
    page.locator("#interactions button:text('Together')").first.click()
    assert "average" in page.locator("#interactions .card .sub").first.inner_text()
    features(page).get_by_label("Search").fill("job")
    page.locator("#features .figure svg").first.wait_for()

    def labels():
        return page.locator("#features .figure svg text.label").all_text_contents()

    assert [label.strip("\u2068\u2069") for label in labels()] == ["clerk", "poet", "smith", "(missing)"]
    page.get_by_label("Order of categories").first.select_option("height")
    assert labels()[0].strip("\u2068\u2069") == "poet"
    middle_of(page, "#groups .figure")
    page.locator("#groups .legend button").first.click()
    assert page.locator("#groups .legend button").first.get_attribute("aria-pressed") == "false"
    assert there.complaints == []


def test_themes_and_print(visit, report):
    there = visit()
    page = there.open(report)

    def background():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = background()
    page.locator("#theme").click()
    assert background() == light
    page.locator("#theme").click()
    assert background() != light
    page.emulate_media(media="print")
    assert background() == "rgb(255, 255, 255)"
    assert page.locator(".bar").is_hidden()
    assert there.complaints == []


def test_figures_are_saved_as_csv(visit, report, tmp_path):
    there = visit()
    page = there.open(report)
    features(page).get_by_label("Search").fill("hours")
    with page.expect_download() as waiting:
        page.locator("#features .card .csv").first.click()
    assert waiting.value.suggested_filename == "hours.csv"
    rows = read_csv(waiting.value.path())
    assert rows[0] == ["hours from", "hours to", "average prediction", "rows"]
    assert [int(row[0]) for row in rows[2:-1]] == [int(row[1]) + 1 for row in rows[1:-2]]
    assert rows[-1][0] == "(missing)"
    assert sum(float(row[3]) for row in rows[1:]) == 3000
    assert there.complaints == []


SHAPES = {"svg", "g", "rect", "line", "path", "text", "circle", "clipPath", "pattern", "linearGradient", "stop"}


def test_figures_are_saved_as_svg_that_stands_alone(visit, report):
    there = visit()
    page = there.open(report)
    for section in ("features", "interactions", "groups"):
        middle_of(page, f"#{section} .figure")
        card = page.locator(f"#{section} .card").first
        with page.expect_download() as waiting:
            card.get_by_role("button", name=re.compile("as SVG")).click()
        assert waiting.value.suggested_filename.endswith(".svg")
        text = Path(waiting.value.path()).read_text(encoding="utf-8")
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert {node.tag.rpartition("}")[2] for node in root.iter()} <= SHAPES
        assert "var(" not in text
        assert not any(node.get("class") or node.get("style") for node in root.iter())
    assert "old" in text
    assert "young" in text
    assert there.complaints == []


@pytest.mark.slow
def test_permalinks_lead_to_figures_that_are_not_shown_yet(visit, wide_report):
    there = visit()
    page = there.open(wide_report)
    data = page.evaluate("JSON.parse(document.getElementById('data').textContent).sections")
    figure = next(part for part in data if part["id"] == "features")["figures"][-1]
    anchor = figure["id"]
    assert anchor == f"feature-{figure['names'][0].replace(' ', '-')}"
    assert figure["names"][0] not in titles_of(page)
    page.goto(f"{wide_report.as_uri()}#{anchor}")
    page.reload()
    page.locator(f"#{anchor} svg").wait_for()
    assert page.locator(f"#{anchor} .permalink").get_attribute("href") == f"#{anchor}"
    box = page.locator(f"#{anchor}").bounding_box()
    assert 0 <= box["y"] <= 900
    assert page.locator("#checks h2 .permalink").get_attribute("href") == "#checks"
    assert there.complaints == []


@pytest.mark.slow
def test_all_figures_and_categories_are_printed(visit, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(800, 13)), columns=[f"x{k}" for k in range(13)])
    X["place"] = pd.Categorical(rng.choice([f"place {k}" for k in range(20)], 800))
    y = X[[f"x{k}" for k in range(13)]].sum(axis=1) + X["place"].cat.codes
    model = HistGradientBoostingRegressor(max_iter=30, categorical_features="from_dtype").fit(X, y)
    path = gw.Explainer(model, X).report(tmp_path / "print.html", notes="A note.").path
    there = visit()
    page = there.open(path)
    assert len(titles_of(page)) == 12
    assert page.locator("#features .more").inner_text() == "Show 2 more figures"
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert sorted(titles_of(page)) == sorted(X.columns)
    assert page.locator("#features .card:not(:has(svg))").count() == 0
    labels = page.locator("#feature-place svg text.label").all_text_contents()
    assert len([label for label in labels if "place" in label]) == 20
    assert page.locator("#features .more").is_hidden()
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert len(titles_of(page)) == 12
    page.locator("#feature-place").scroll_into_view_if_needed()
    labels = page.locator("#feature-place svg text").all_text_contents()
    assert len([label for label in labels if "place " in label]) == 12
    assert "the most frequent 12 of 20" in labels
    assert page.locator("#notes .said").inner_text() == "A note."
    assert page.locator("#signature .sign dt").count() == 6
    assert page.pdf()[:4] == b"%PDF"
    assert there.complaints == []


def test_one_more_figure_is_in_the_singular(visit, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 13)), columns=[f"x{k}" for k in range(13)])
    model = HistGradientBoostingRegressor(max_iter=30).fit(X, X.sum(axis=1))
    page = visit().open(gw.Explainer(model, X).report(tmp_path / "one.html", n_interactions=0).path)
    assert page.locator("#features .more").inner_text() == "Show 1 more figure"


def test_cuts_and_whole_numbers_in_words(visit, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"flag": rng.integers(0, 2, 400), "half": rng.integers(0, 9, 400) / 2})
    model = xgboost.XGBRegressor(n_estimators=4, max_depth=2).fit(X, X["flag"] + X["half"])
    there = visit()
    page = there.open(gw.Explainer(model, X).report(tmp_path / "cuts.html").path)

    def spoken(name):
        page.locator(f"#feature-{name}").scroll_into_view_if_needed()
        page.locator(f"#feature-{name} svg").wait_for()
        page.locator(f"#feature-{name} .figure").focus()
        found = []
        for _ in range(3):
            page.keyboard.press("ArrowRight")
            found.append(page.locator("#spoken").inner_text().split(", average")[0])
        return found

    assert spoken("flag")[:2] == ["up to 0", "from 1"]
    ticks = page.locator("#feature-flag svg text").all_text_contents()
    assert {"0", "1"} <= set(ticks)
    assert not {"0.5", "1.5", "2"} & set(ticks)
    first, second, _ = spoken("half")
    assert re.fullmatch(r"below [\d.]+", first)
    assert re.fullmatch(r"from [\d.]+, below [\d.]+", second)
    assert float(first.split()[1]) * 2 % 1 == 0
    assert there.complaints == []


def test_hostile_names_do_nothing(visit, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, len(HOSTILE_NAMES))), columns=HOSTILE_NAMES)
    values = [name[:200] for name in HOSTILE_NAMES]
    X["category"] = pd.Categorical(rng.choice(values, 400), categories=values)
    y = X[HOSTILE_NAMES].sum(axis=1) + (X["category"].cat.codes % 3) * 4
    model = HistGradientBoostingRegressor(max_iter=20, categorical_features="from_dtype").fit(X, y)
    title = HOSTILE_NAMES[0] + HOSTILE_NAMES[1]
    path = (
        gw.Explainer(model, X).report(tmp_path / "hostile.html", title=title, by="category", notes=HOSTILE_NAMES).path
    )
    there = visit(390)
    page = there.open(path)
    assert page.title() == title
    assert page.evaluate("document.querySelectorAll('main img, main script, main b, main iframe').length") == 0
    links = page.eval_on_selector_all("a", "found => found.map((link) => link.getAttribute('href'))")
    assert all(link.startswith("#") for link in links)
    middle_of(page, "#groups .figure")
    with page.expect_download() as waiting:
        page.locator("#groups .card").first.get_by_role("button", name=re.compile("as SVG")).click()
    saved = ElementTree.fromstring(Path(waiting.value.path()).read_text(encoding="utf-8"))
    assert not {"script", "img", "a", "image", "foreignObject"} & {node.tag.rpartition("}")[2] for node in saved.iter()}
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    shown = names_of(page)
    assert len(set(shown)) == len(HOSTILE_NAMES) + 1
    assert any("⟨U+202E⟩" in name for name in shown)
    page.locator("#features .more").click()
    for search in ("</script>", "=hyperlink", "\u05d2\u05d9\u05dc", "u+200b"):
        features(page).get_by_label("Search").fill(search)
        assert len(names_of(page)) == 1
        page.mouse.move(*middle_of(page, "#features .figure"))
        assert page.locator("#tip").is_visible()
    features(page).get_by_label("Search").fill("")
    with page.expect_download() as waiting:
        page.locator("#features .tools-row .csv").click()
    cells = [cell for row in read_csv(waiting.value.path()) for cell in row]
    assert {'\'=HYPERLINK("http://127.0.0.1/","x")', "'-2+3", "'@SUM(A1:A9)", "'\t=1+1"} <= set(cells)
    for cell in cells:
        assert cell[:1] not in "=+-@\t\r" or cell == "" or float(cell) is not None
    assert there.accessibility() == []
    assert there.complaints == []
    assert there.requests == [path.as_uri()]
    assert page.title() == title


@pytest.mark.slow
def test_three_hundred_features(visit, wide_report):
    assert wide_report.stat().st_size < 5_000_000
    there = visit()
    page = there.open(wide_report)
    assert len(names_of(page)) == 300
    assert len(titles_of(page)) == 12
    page.locator("#features .more").press("Enter")  # figures that are drawn meanwhile move the button under a mouse
    assert len(titles_of(page)) == 36
    features(page).get_by_label("Search").fill("feature 29")
    assert len(names_of(page)) == 11
    page.get_by_label("Same height scale").check()
    assert there.complaints == []
    assert there.requests == [wide_report.as_uri()]


@pytest.fixture(scope="module")
def adult_report(shared, tmp_path_factory):
    """The report of a classifier of all 48,842 rows, with categories, missing values and groups."""
    table = pd.read_parquet(shared / "data" / "adult_census.parquet")
    X, y = table.drop(columns=["income", "split"]), table["income"].astype(str).str.contains(">50K")
    model = HistGradientBoostingClassifier(max_iter=50, categorical_features="from_dtype", random_state=0).fit(X, y)
    start = time.process_time()
    path = gw.Explainer(model, X).report(tmp_path_factory.mktemp("report") / "adult.html", by="sex").path
    return path, time.process_time() - start


def test_the_report_is_soon_made(adult_report):
    path, seconds = adult_report
    assert seconds < 10
    assert path.stat().st_size < 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_adult_census(visit, adult_report, width, scheme):
    path, _ = adult_report
    there = visit(width, scheme)
    page = there.open(path)
    assert len(names_of(page)) == 14
    page.locator("#features thead button").first.click()
    assert names_of(page) == sorted(names_of(page))
    features(page).get_by_label("Search").fill("capital-")
    assert sorted(titles_of(page)) == ["capital-gain", "capital-loss"]
    page.mouse.move(*middle_of(page, "#features .figure"))
    assert "rows (" in page.locator("#tip").inner_text()
    features(page).get_by_label("Search").fill("")
    for section in ("interactions", "groups"):
        page.mouse.move(*middle_of(page, f"#{section} .figure"))
        assert page.locator("#tip").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert there.accessibility() == []
    assert there.complaints == []
    assert there.requests == [path.as_uri()]
