"""The site: `bash .ci/docs` builds it into build/site."""

from __future__ import annotations

import sys
import warnings
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS / "_ext"))

# PySpark 4 says so at each call; pages would show it, with paths of the machine that builds them.
warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)

project = "Glasswood"
author = "The Glasswood developers"
copyright = "the Glasswood developers"
release = version = version_of("glasswood")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "figures_by_code",
    "mathml",
    "repository_links",
    "results",
    "supported_versions",
]
exclude_patterns = ["_ext", "_templates", "figures", "gallery/**/*.md5"]
templates_path = ["_templates"]
nitpicky = True
nitpick_ignore_regex = [("py:obj", ".*")]  # names of parameters in docstrings are no links

# Markdown
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 3

# The API reference
default_role = "py:obj"
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False

# Code blocks are copied without their prompts and output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

# The gallery: scripts of examples/, which are run when the site is built
if (ROOT / "examples").is_dir():
    extensions.append("sphinx_gallery.gen_gallery")
sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "examples")],
    "gallery_dirs": ["gallery"],
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "only_warn_on_example_error": False,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "write_computation_times": False,
}

# HTML
html_theme = "pydata_sphinx_theme"
html_title = "Glasswood"
html_favicon = "_static/icon.svg"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {page: [] for page in ("index", "getting-started", "questions", "coming-from")}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


# Pages that are generated, by the gallery and by a benchmark, and may not be there
OPTIONAL = {"gallery/index": ROOT / "examples", "paper-results": DOCS / "explanation" / "paper-results.md"}


def without_missing_pages(_app: object, _name: str, text: list[str]) -> None:
    """Take generated pages that do not exist out of the tables of contents."""
    for page, source in OPTIONAL.items():
        if not source.exists():
            text[0] = text[0].replace(f"\n{page}\n", "\n")


def accessible_citations(_app: Any, _name: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Remove a role that docutils gives to lists of citations, whose members are no items of a list."""
    if "body" in context:
        context["body"] = context["body"].replace(
            '<div role="list" class="citation-list">', '<div class="citation-list">'
        )


def setup(app: Any) -> None:
    """Connect what pages depend on."""
    app.connect("html-page-context", accessible_citations)
    app.connect("source-read", without_missing_pages)
