"""Open every page of the built site in a browser: wide and on a phone, light and dark.

    .venv/bin/python docs/look.py [pages]

It leaves pictures in out/looks, and names pages that are wider than the screen, load anything from elsewhere
or report errors. Names of pages, such as "guides" or "api/", choose some.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

SITE = Path(__file__).parents[1] / "out" / "site"
LOOKS = SITE.parent / "looks"
SCREENS = {"wide": (1440, 900), "phone": (390, 844)}
TALLEST = 6000  # pixels of a picture
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def main(chosen: list[str]) -> int:
    """Look at all pages, and print what is wrong with them."""
    pages = sorted(
        path
        for path in SITE.rglob("*.html")
        if path.parent.name != "_static" and "_modules" not in path.parts
    )
    wrong = []
    LOOKS.mkdir(exist_ok=True)
    with sync_playwright() as engine:
        found = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
        browser = engine.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            for screen, (width, height) in SCREENS.items():
                context = browser.new_context(
                    viewport={"width": width, "height": height}, color_scheme=scheme, offline=True
                )
                for path in pages:
                    name = str(path.relative_to(SITE).with_suffix(""))
                    if chosen and not name.startswith(tuple(chosen)):
                        continue
                    tab, said = context.new_page(), []
                    tab.on(
                        "console",
                        lambda it, said=said: (
                            said.append(it.text) if it.type == "error" and "theme" not in it.text else None
                        ),
                    )
                    tab.on("requestfailed", lambda it, said=said: said.append(f"no {it.url}"))
                    tab.goto(path.as_uri())
                    if (wider := tab.evaluate(WIDER)) > 0:
                        said.append(f"{wider} pixels wider than the screen")
                    tall = tab.evaluate("document.documentElement.scrollHeight")
                    tab.set_viewport_size({"width": width, "height": min(TALLEST, tall)})
                    tab.wait_for_timeout(100)
                    tab.screenshot(path=LOOKS / f"{name.replace('/', '-')}-{screen}-{scheme}.png")
                    wrong += [f"{name} ({screen}, {scheme}): {text}" for text in said]
                    tab.close()
                context.close()
        browser.close()
    print(*sorted(set(wrong)), sep="\n")
    print(f"Looked at {len(pages)} pages: {LOOKS}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
