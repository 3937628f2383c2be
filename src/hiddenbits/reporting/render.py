"""Make one HTML file of the sections: templates escape all values, and a policy allows no script but ours."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from markupsafe import Markup, escape

from hiddenbits.quoting import json_escaped, printable
from hiddenbits.reporting.context import Context
from hiddenbits.reporting.findings import Findings
from hiddenbits.reporting.text import Section


def page(title: str, date: str, findings: Findings, sections: Sequence[Section], context: Context) -> str:
    """Return the page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("hiddenbits.reporting", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["data"] = _data
    environment.filters["ticked"] = _with_code
    style, script = _read("report.css"), _read("report.js")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    page = environment.get_template("page.html").render(
        title=title,
        date=date,
        findings=findings,
        drawings=[Markup(finding.drawing) for finding in findings.findings],  # noqa: S704 (drawn by `Drawing`, which escapes)
        sections=sections,
        titles={section.key: section.title for section in sections},
        printed={"map", "which", "items"} | {finding.evidence for finding in findings.findings},
        used=_used(context, every=False),
        every=_used(context, every=True),
        rows=context.rows,
        policy=policy,
        style=Markup(style),  # noqa: S704 (files of ours)
        script=Markup(script),  # noqa: S704
    )
    return printable(page, keep="\n")


def _used(context: Context, *, every: bool) -> str:
    """Return the number of rows on which values are based; `every`: all rows, otherwise the sampled rows."""
    n, used = context.sample.summary.n_rows, len(context.sample.rows)
    return f"all {n:,} rows" if every or used == n else f"{used:,} of {n:,} rows"


def _with_code(text: str) -> Markup:
    """Return a sentence as HTML; text between backticks becomes code."""
    parts = text.split("`")
    code = Markup("<code>{}</code>")
    marked = (code.format(_unbroken_code(part)) if number % 2 else escape(part) for number, part in enumerate(parts))
    return Markup("").join(marked)


def _unbroken_code(code: str) -> Markup:
    """Return a command as HTML; lines do not break after the hyphens of an option."""
    words = [Markup('<span class="option">{}</span>').format(w) if w[:1] == "-" else escape(w) for w in code.split(" ")]
    return Markup(" ").join(words)


def _read(name: str) -> str:
    return files("hiddenbits.reporting").joinpath("templates", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash by which the policy recognizes our script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data(value: Any) -> Markup:
    """Return JSON that is safe inside a script element: none of its characters can end the element or begin another."""
    text = json_escaped(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 (escaped above)
