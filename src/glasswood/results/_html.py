"""Small tables in HTML for notebooks, for results; the file is `glasswood._html`, below all that have one."""

from glasswood._html import facts_html, table_html, text_of

__all__ = ["facts_html", "table_html", "text_of"]
