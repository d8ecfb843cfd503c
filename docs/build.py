"""Build the site and check it: make docs.

Warnings of Sphinx are errors. Then every link within the site must lead to a page and an anchor that exist,
and no page may load anything from another host.
"""

import os
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

DOCS = Path(__file__).parent
SITE = DOCS.parent / "out" / "site"
FETCHED = re.compile(r"url\(\s*['\"]?(?:https?:)?//|@import\s+['\"]?(?:https?:)?//", re.IGNORECASE)


class Page(HTMLParser):
    """The anchors of a page, its links, and what a browser loads with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors, self.links, self.loaded = {""}, set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors.add(found.get("id") or found.get("name") or "")
        if tag == "a" and found.get("href"):
            self.links.add(found["href"])
        elif tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload", "shortcut icon"):
            self.loaded.add(found["href"])
        elif tag != "link":
            self.loaded |= {found[name] for name in ("src", "srcset", "data") if found.get(name)}


def problems():
    """What is wrong with the built site, a sentence each."""
    pages = {path: Page(path.read_text()) for path in SITE.rglob("*.html") if "_static" not in path.parts}
    for path, page in pages.items():
        name = path.relative_to(SITE)
        for target in page.loaded | page.links:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loaded and parts.scheme != "data":
                    yield f"{name} loads {target} from another host"
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not to.is_file():
                yield f"{name}: the link {target} leads to no file"
            elif to in pages and target in page.links and unquote(parts.fragment) not in pages[to].anchors:
                yield f"{name}: the link {target} leads to no anchor"
    for path in SITE.rglob("*.css"):
        if FETCHED.search(path.read_text()):
            yield f"{path.relative_to(SITE)} loads something from another host"


def main() -> int:
    """Build, check, and say where the site is."""
    from sphinx.cmd.build import main as sphinx

    kernels = SITE.parent / "ipython" / "profile_default"  # the settings of this user shall change nothing
    kernels.mkdir(parents=True, exist_ok=True)
    (kernels / "ipython_kernel_config.py").write_text("get_config().IPKernelApp.log_level = 'ERROR'\n")
    os.environ["IPYTHONDIR"] = str(kernels.parent)
    arguments = [
        "--fail-on-warning",
        "--keep-going",
        "--quiet",
        "--fresh-env",
        "-d",
        str(SITE.parent / "site-cache"),
    ]
    shutil.rmtree(SITE, ignore_errors=True)  # pages that were renamed
    if sphinx([*arguments, str(DOCS), str(SITE)]):
        return 1
    found = sorted(problems())
    print(*found, sep="\n", end="\n" if found else "")
    if found:
        return 1
    print(f"The site is in {SITE}: open {SITE / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
