"""Links of pages that are files of the repository, such as the changelog, which the site includes.

A link to another such file leads to its page; a link to a file that is no page of the site is shown as its text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.transforms.post_transforms import SphinxPostTransform

PAGES = {
    "ARCHITECTURE.md": "contributing/architecture",
    "CHANGELOG.md": "contributing/changelog",
    "CONTRIBUTING.md": "contributing/guide",
    "SECURITY.md": "explanation/security",
    "benchmarks/README.md": "explanation/performance",
}


class RepositoryLinks(SphinxPostTransform):
    """Resolves links to files of the repository, before MyST complains about them."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        """Replace each of these links on a page."""
        root = Path(self.app.srcdir).parent
        for node in list(self.document.findall(pending_xref)):
            target = node["reftarget"] if node.get("reftype") == "myst" else ""
            if target in PAGES:
                uri = self.app.builder.get_relative_uri(node["refdoc"], PAGES[target])
                node.replace_self(nodes.reference("", "", *node.children, internal=True, refuri=uri))
            elif target and (root / target).exists():
                node.replace_self(nodes.inline("", "", *node.children))


def setup(app: Any) -> dict[str, bool]:
    """Register the transform."""
    app.add_post_transform(RepositoryLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
