"""Equations as MathML, which browsers draw themselves: no script, no network, no LaTeX."""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def mathml(node: nodes.Node, *, as_block: bool = False) -> str:
    """Return an equation as MathML, or as it was written, with a warning."""
    try:
        return str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        logger.warning("%s", error, location=node)
        return f"<code>{escape(node.astext())}</code>"


def draw_inline(writer: Any, node: nodes.math) -> None:
    """Write an equation within a line."""
    writer.body.append(mathml(node))
    raise nodes.SkipNode


def draw_block(writer: Any, node: nodes.math_block) -> None:
    """Write an equation on lines of its own."""
    writer.body.append(writer.starttag(node, "div", CLASS="equation"))
    writer.body.append(mathml(node, as_block=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (draw_inline, None), (draw_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
