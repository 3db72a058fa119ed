"""A comment as GitHub shows it: its own Markdown renderer and stylesheet, in Chromium."""

from __future__ import annotations

import hashlib
import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Final

import cmarkgfm
from cmarkgfm.cmark import Options

_DIFF: Final = re.compile(r'(<pre lang="diff"><code>)(.*?)(</code>)', re.DOTALL)
_COLORS: Final = {"+": "added", "-": "removed", "!": "changed", "@": "hunk"}
_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_HEADER_END: Final = len(_SIGNATURE) + 25
"""A PNG begins with its signature and one chunk of 25 bytes, IHDR."""

_PAGE: Final = """\
<!doctype html><meta charset="utf-8"><style>{css}
body {{ margin: 0; padding: 16px; width: 888px; background: #fff; }}
.comment {{ border: 1px solid #d1d9e0; border-radius: 6px; }}
.author {{ padding: 8px 16px; background: #f6f8fa; border-bottom: 1px solid #d1d9e0;
  border-radius: 6px 6px 0 0; font: 14px/1.5 "Noto Sans", sans-serif; color: #59636e; }}
.author b {{ color: #1f2328; }}
.markdown-body {{ padding: 16px; font-size: 14px; font-family: "Noto Sans", sans-serif; }}
.markdown-body li:has(> input) {{ list-style: none; }}
.markdown-body li > input {{ margin: 0 .2em .25em -1.4em; vertical-align: middle; }}
.added {{ color: #116329; background: #dafbe1; }}
.removed {{ color: #82071e; background: #ffebe9; }}
.changed {{ color: #953800; background: #ffd8b5; }}
.hunk {{ color: #8250df; font-weight: 600; }}
</style><div class="comment"><div class="author"><b>github-actions</b> bot commented</div>
<div class="markdown-body">{body}</div></div>
"""


def comment_page(markdown: str, css: str) -> str:
    """The comment as a page of HTML, with GitHub's stylesheet."""
    body = cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)
    return _PAGE.format(css=css, body=_DIFF.sub(_colored_diff, body))


def _colored_diff(block: re.Match[str]) -> str:
    """A block of ```diff with the colours that GitHub gives its lines."""
    lines = [
        f'<span class="{_COLORS[line[0]]}">{line}</span>' if line[:1] in _COLORS else line
        for line in block[2].split("\n")
    ]
    return block[1] + "\n".join(lines) + block[3]


def comment_png(markdown: str, css: str, folder: Path) -> bytes:
    """A picture of the comment, with the digest of its Markdown in it; needs Chromium."""
    page, png = folder / "comment.html", folder / "comment.png"
    page.write_text(comment_page(markdown, css), "utf-8")
    _screenshot(page, png, height=_height(page))
    return _with_source(png.read_bytes(), digest(markdown))


def digest(markdown: str) -> str:
    """What the picture of a comment records of its source."""
    return hashlib.sha256(markdown.encode()).hexdigest()


def source_digest(png: bytes) -> str:
    """The digest that a picture was made from; "" for any other PNG."""
    chunk = png[_HEADER_END:]
    (length,) = struct.unpack(">I", chunk[:4])
    kind, _, value = chunk[4 : 8 + length].partition(b"Source\0")
    return value.decode() if kind == b"tEXt" else ""


def _with_source(png: bytes, source: str) -> bytes:
    body = b"tEXtSource\0" + source.encode()
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return png[:_HEADER_END] + chunk + png[_HEADER_END:]


def _height(page: Path) -> int:
    """How tall the page is, in pixels of CSS."""
    probe = page.with_name("probe.html")
    script = "<script>document.title = document.documentElement.scrollHeight</script>"
    probe.write_text(page.read_text("utf-8") + script, "utf-8")
    shown = _chromium("--window-size=920,10", "--dump-dom", probe.as_uri())
    return int(shown.split("<title>")[1].split("</title>")[0])


def _screenshot(page: Path, png: Path, *, height: int) -> None:
    size = f"--window-size=920,{height}"
    _chromium(size, "--force-device-scale-factor=1.5", f"--screenshot={png}", page.as_uri())


def _chromium(*words: str) -> str:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    assert program, "pictures of comments need Chromium"
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
    ended = subprocess.run([program, *flags, *words], check=True, capture_output=True, timeout=60)
    return ended.stdout.decode()
