"""Take pictures of reports, narrow and wide, light and dark, to look at them. Needs chromium and selenium.

    python tools/report_pictures.py FOLDER REPORT.html [REPORT.html ...]

Writes FOLDER/NAME_390_light.png and so on, the page as it opens, and NAME_390_light_unfolded.png, all sections open;
and NAME.pdf, the page on paper. Pictures in docs/pictures are cut from such.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

WIDTHS = (390, 1400)
TALLEST = 16_000  # pixels; Chromium draws no more


def main() -> int:
    """Open every report at every width and theme."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    folder, reports = Path(sys.argv[1]), [Path(name).resolve() for name in sys.argv[2:]]
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"):
            options.add_argument(flag)
        browser = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        for report in reports:
            for width in WIDTHS:
                for theme in ("light", "dark"):
                    _take(browser, report, width, theme, folder / f"{report.stem}_{width}_{theme}.png")
            printed = browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
            (folder / f"{report.stem}.pdf").write_bytes(base64.b64decode(printed["data"]))
        browser.quit()
    return 0


def _take(browser: Any, report: Path, width: int, theme: str, path: Path) -> None:
    """Take a picture of the whole page, folded and unfolded."""
    ask = browser.execute_cdp_cmd
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    ask("Emulation.setDeviceMetricsOverride", metrics)
    ask("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
    browser.get(report.as_uri())
    for end in ("", "_unfolded"):
        height = browser.execute_script("return document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, TALLEST), "scale": 1}
        shot = ask("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        path.with_name(f"{path.stem}{end}.png").write_bytes(base64.b64decode(shot["data"]))
        browser.find_element("id", "unfold").click()


if __name__ == "__main__":
    sys.exit(main())
