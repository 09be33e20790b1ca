"""Notebooks: run them as Jupyter would, store or compare what they print, and write them as pages of the site.

python docs/site/notebooks.py            run all and store their outputs
python docs/site/notebooks.py --check    run all; name those whose stored text is not what they print now
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["as_markdown", "outputs_of", "run"]

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"


def run(notebook: dict[str, Any]) -> None:
    """Run the cells of a notebook in order, in one namespace, and store their outputs in it."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = list(outputs_of("".join(cell["source"]), namespace, count))


def outputs_of(code: str, namespace: dict[str, Any], count: int) -> Iterator[dict[str, Any]]:
    """Run one cell; yield what it printed, the value of its last line and the pictures it drew."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    body = ast.parse(code).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(body, []), "<cell>", "exec"), namespace)
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace) if last else None
    if printed.getvalue():
        yield {"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(keepends=True)}
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        yield {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data}
    for number in pyplot.get_fignums():
        png = io.BytesIO()
        pyplot.figure(number).savefig(png, format="png", dpi=110, metadata={"Software": None})
        data = {"image/png": base64.b64encode(png.getvalue()).decode("ascii")}
        yield {"output_type": "display_data", "metadata": {}, "data": data}
    pyplot.close("all")


def printed(notebook: dict[str, Any]) -> list[list[Any]]:
    """Return the texts among the outputs of every code cell; pictures differ between versions of matplotlib."""
    return [
        [output.get("text") or output["data"].get("text/plain") for output in cell["outputs"]]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def as_markdown(path: Path, page: Path) -> str:
    """Return a notebook as Markdown for `page`, beside which its pictures are stored."""
    parts = []
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                picture = page.with_name(f"{page.stem}-{number}.png")
                page.parent.mkdir(parents=True, exist_ok=True)
                picture.write_bytes(base64.b64decode(data["image/png"]))
                parts.append(f"![{cell['metadata']['alt']}]({picture.name})")
            else:
                parts.append("```text\n" + "".join(output.get("text") or data["text/plain"]).rstrip() + "\n```")
    return "\n\n".join(parts) + "\n"


def main(check: bool) -> int:
    """Run every notebook; store its outputs, or return 1 if one prints something else than is stored."""
    changed = []
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        before = printed(notebook)
        run(notebook)
        if printed(notebook) != before:
            changed.append(path.name)
        if not check:
            path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if check and changed:
        print(f"{', '.join(changed)} no longer prints what is stored: run python docs/site/notebooks.py and look at it")
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
