"""Names that have broken web pages, spreadsheets and eyes, as columns of a table."""

HOSTILE_NAMES = [
    "</script><script>document.title='broken'</script>",
    "<img src=x onerror=\"document.title='broken'\">",
    "<!--<script>",
    "javascript:document.title='broken'",
    "{{style}} ${1+1} {{data}}",
    '=HYPERLINK("http://127.0.0.1/","x")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1+1",
    "a \"quoted\", name; with\nlines\r\nof 'text'",
    "long " * 400,
    "\U0001f333\U0001f469\u200d\U0001f52c trees",
    "\u05d2\u05d9\u05dc \u05d4\u05dc\u05e7\u05d5\u05d7",
    "\u202egnp.exe",
    "age",
    "age ",
    "\u0430ge",
    "a\u200bge",
    "line\u2028separator\u2029end & <b>bold</b>",
]
