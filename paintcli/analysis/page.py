"""The report as one HTML file that needs nothing else: no script, no network, light and dark, pictures inside."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from paintcli.analysis import charts, terminal

if TYPE_CHECKING:
    from PIL.Image import Image
    from rich.console import RenderableType

CSS = """
:root{color-scheme:light dark;--paper:#fbfaf7;--ink:#22211f;--soft:#5c5a55;--line:#dcd8cf;--accent:#b4491f;
--second:#23699e;--up:#3c7d3f;--down:#b3362b;--card:#fff}
@media (prefers-color-scheme:dark){:root{--paper:#191816;--ink:#eceae4;--soft:#b3afa6;--line:#3b3933;--accent:#f0976b;
--second:#7fbbea;--up:#7cc380;--down:#f08a80;--card:#22211e}}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:980px;margin:0 auto;padding:32px 20px 80px}
h1{font-size:1.7rem;margin:0 0 4px}h2{font-size:1.12rem;margin:36px 0 10px}h3{font-size:1rem;margin:26px 0 8px}
.soft{color:var(--soft)}.lead{font-size:1.15rem;font-weight:600;margin:14px 0 6px}
ul{margin:6px 0 0;padding-left:20px}li{margin:3px 0}
figure{margin:18px 0;background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 14px 8px}
figcaption{color:var(--soft);font-size:.88rem;margin-top:6px}figure svg,figure img{width:100%;height:auto;display:block}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.94rem}
th,td{padding:5px 16px 5px 0;text-align:right;white-space:nowrap}th:first-child,td:first-child{text-align:left}
th{color:var(--soft);font-weight:500;border-bottom:1px solid var(--line)}td{border-bottom:1px solid var(--line)}
p.line{margin:4px 0}section{border-top:2px solid var(--line);margin-top:48px;padding-top:20px}
section:first-of-type{border:0;margin-top:0}
@media print{figure{break-inside:avoid}}
"""


def page(reports: list[dict[str, Any]], pictures: list[dict[str, Image | bytes | None]]) -> str:
    """The whole document. `pictures`: for each report, caption → picture (or a finished GIF), None left out."""
    names = ", ".join(report["run"] for report in reports)
    parts = []
    if len(reports) > 1:
        parts.append(f"<h1>{len(reports)} runs</h1>")
        parts += _html([terminal.comparison(reports)])
        parts.append(_figure(charts.curves(reports), "Running mean reward by step, each run in its own colour."))
    for report, own in zip(reports, pictures, strict=True):
        parts.append("<section>" + "".join(_one(report, own, "h2" if len(reports) > 1 else "h1")) + "</section>")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        "style-src 'unsafe-inline'\">"
        f"<title>{escape(names)}: what it learned</title><style>{CSS}{charts.STYLE}</style></head>"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _one(report: dict[str, Any], pictures: dict[str, Image | bytes | None], level: str) -> Iterable[str]:
    kind = "a curve of" if report["rollouts"] is None else f"{report['rollouts']} rollouts in"
    lengths = "/".join(str(row["steps"]) for row in report["thirds"])
    yield f"<{level}>{escape(report['run'])}</{level}>"
    yield f'<div class="soft">{kind} {report["steps"]} steps, thirds of {lengths} (split “{report["split"]}”)</div>'
    first, *others = report["verdict"]
    yield f'<p class="lead">{escape(first)}</p><ul>' + "".join(f"<li>{escape(x)}</li>" for x in others) + "</ul>"
    adjusted = " Dashed: with the draw taken out." if report["draw"].get("adjusted") else ""
    yield _figure(
        charts.curve(report),
        "Mean reward by step (dots), running mean and its 95 % interval over the window." + adjusted,
    )
    yield _figure(
        charts.exams(report),
        "The exam: mean win share against reserved references, the same samples' seeds each time; 95 % for other "
        "samples and other references.",
    )
    yield from _html([terminal.thirds_table(report)])
    formula = ""
    if parts := report["decomposition"]:
        formula = f"{parts['formula']}; bad is under {parts['threshold']:g}. Whiskers: 95 %, whole steps resampled."
    yield _figure(charts.waterfall(report), formula)
    yield _figure(charts.distribution(report), "Share of the rollouts by reward; red is under the threshold.")
    for caption, picture in pictures.items():
        if picture is not None:
            yield _figure(_img(picture, caption), caption)
    yield from _html(terminal.details(report))


def _figure(inside: str, caption: str) -> str:
    return f"<figure>{inside}<figcaption>{escape(caption)}</figcaption></figure>" if inside else ""


def _img(picture: Image | bytes, caption: str) -> str:
    if isinstance(picture, bytes):
        kind, data = "gif", picture
    else:
        buffer = io.BytesIO()
        picture.save(buffer, "WEBP", quality=86)
        kind, data = "webp", buffer.getvalue()
    encoded = base64.b64encode(data).decode()
    return f'<img alt="{escape(caption, quote=True)}" src="data:image/{kind};base64,{encoded}">'


def _html(parts: Iterable[RenderableType]) -> Iterable[str]:
    """What the terminal shows, as HTML: a heading, a table or a line each."""
    from rich.table import Table
    from rich.text import Text

    for part in parts:
        if isinstance(part, Table):
            head = "".join(f'<th scope="col">{escape(str(column.header))}</th>' for column in part.columns)
            cells = zip(*(list(column.cells) for column in part.columns), strict=True)
            body = "".join("<tr>" + "".join(f"<td>{escape(str(c))}</td>" for c in row) + "</tr>" for row in cells)
            table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            yield f'<div class="scroll" tabindex="0">{table}</div>'
        elif isinstance(part, Text) and part.plain.strip():
            text = escape(part.plain.strip())
            kind = "line soft" if "dim" in str(part.style) else "line"
            yield f"<h3>{text}</h3>" if "underline" in str(part.style) else f'<p class="{kind}">{text}</p>'
