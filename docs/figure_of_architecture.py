"""The picture of the architecture: where examples come from, what reads them, and the six steps of a round."""

from __future__ import annotations

from pathlib import Path

WIDTH, HEIGHT = 960, 430
STYLE = (
    "text{font:15px system-ui,sans-serif;text-anchor:middle;fill:#1d2733}"
    ".small{font-size:11.5px;fill:#566577}"
    "rect{fill:#fff;stroke:#8a99aa}"
    ".source rect{fill:#eef3f8;stroke:#b8c6d4}"
    ".round rect{fill:#f6f8fa;stroke:#b8c6d4}.round text{font-weight:600}.round .small{font-weight:400}"
    ".rule rect{fill:#fdf0dc;stroke:#d79a3c}"
    ".arrow{fill:none;stroke:#566577;stroke-width:1.4}"
)
HEAD = (
    '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z" fill="#566577"/></marker>'
)
SOURCES = (
    ("mail", "mail/"),
    ("HTTP", "service/"),
    ("file", "cli/, io/"),
    ("text", "text/"),
    ("rows, dicts", "estimators/"),
)
STEPS = (
    ("read", "columns and values"),
    ("score", "of every label"),
    ("count", "mistake, rank, lead"),
    ("step", "rules/: choose, length, combine"),
    ("move", "the weights"),
    ("note", "counts for later rounds"),
)


def box(x: int, y: int, width: int, height: int, name: str, where: str, kind: str = "part") -> str:
    """A part with its name and its folder."""
    middle, line = x + width / 2, y + height / 2
    return (
        f'<g class="{kind}"><rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        f'<text x="{middle}" y="{line - 3}">{name}</text>'
        f'<text class="small" x="{middle}" y="{line + 15}">{where}</text></g>'
    )


def arrow(*places: int) -> str:
    """From one place to another."""
    x, y, to_x, to_y = places
    return f'<path class="arrow" d="M{x} {y}L{to_x} {to_y}" marker-end="url(#head)"/>'


def draw(path: Path) -> None:
    """Write the picture."""
    shapes = [box(20, 30 + 76 * i, 150, 52, name, where, "source") for i, (name, where) in enumerate(SOURCES)]
    shapes += [box(240, 30, 150, 128, "journal", "journal/"), arrow(170, 56, 236, 70), arrow(170, 132, 236, 118)]
    shapes += [box(240, 182, 150, 52, "documents → rows", "text/"), arrow(315, 158, 315, 179)]
    shapes += [arrow(170, 208, 236, 208), arrow(170, 284, 236, 222)]
    shapes += [box(240, 334, 150, 52, "names → columns", "estimators/reading.py"), arrow(170, 360, 236, 360)]
    shapes += [box(450, 106, 160, 254, "learner", "estimators/"), arrow(390, 208, 446, 208), arrow(390, 345, 446, 300)]
    shapes.append(
        '<g class="round"><rect x="700" y="30" width="240" height="376" rx="10"/><text x="820" y="56">a round</text>'
        '<text class="small" x="820" y="74">loops/</text></g>'
    )
    for i, (name, what) in enumerate(STEPS):
        y = 86 + 53 * i
        shapes.append(box(720, y, 200, 44, name, what, "rule" if name == "step" else "part"))
        if i:
            shapes.append(arrow(820, y - 9, 820, y - 1))
    shapes += [arrow(610, 200, 696, 200), '<text class="small" x="654" y="190">rows, labels</text>']
    shapes += [arrow(700, 330, 614, 330), '<text class="small" x="656" y="348">flags, ranks</text>']
    title = "From an example to the weights and back"
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n<defs>{HEAD}</defs>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" style="fill:#fff;stroke:none"/>\n' + "\n".join(shapes) + "\n</svg>\n",
        encoding="utf-8",
    )
