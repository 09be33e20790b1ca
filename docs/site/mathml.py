"""Formulas of docstrings as MathML, which browsers draw themselves: no script, no fonts from elsewhere."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from docutils.utils.math.unichar2tex import uni2tex_table
from sphinx.application import Sphinx

__all__ = ["setup"]

AS_TEX = {**uni2tex_table, ord("½"): r"\tfrac12 "}


def drawn(node: nodes.Element, as_block: bool = False) -> str:
    return tex2mathml(node.astext().translate(AS_TEX), as_block=as_block)


def inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(drawn(node))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math" tabindex="0">{drawn(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
