"""The report in a real browser: Debian's Chromium, without a screen. One browser serves all tests."""

import base64
import json
import re
import shutil
import tempfile

import numpy as np
import pytest

from tests.reporting.conftest import TRICKS, hostile, survey

SIZES = [390, 1400]
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    chromium = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("no chromium and chromedriver here: the report is not looked at in a browser")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for flag in [*FLAGS, f"--user-data-dir={folder}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        opened = webdriver.Chrome(service=Service(driver), options=options)
        yield opened
        opened.quit()


def show(browser, path, width=1400, theme="light"):
    """Open a page; return the seconds until it was complete and painted."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(path.as_uri())
    painted = "const done = arguments[0]; requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0));"
    return browser.execute_async_script(painted) / 1000.0


def unfold(browser):
    """Open all sections, as a person would."""
    browser.find_element("id", "unfold").click()


def complaints(browser):
    """Return what the console says, and every request that left the file."""
    said = [entry["message"] for entry in browser.get_log("browser")]
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [message["params"] for message in messages if message["method"] == "Network.requestWillBeSent"]
    # The browser's own first page asks for things too; they are no matter of ours.
    urls = [one["request"]["url"] for one in sent if one["documentURL"].startswith("file:///")]
    assert urls, "the log of requests is empty: the page itself should be in it"
    return said, [url for url in urls if not url.startswith(("file:///", "data:"))]


def point(browser, number):
    """Move the mouse to a dot of the map, as a person would."""
    from selenium.webdriver import ActionChains

    dot = browser.find_elements("css selector", "#chart .p")[number]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", dot)
    ActionChains(browser, duration=0).move_to_element(dot).perform()
    return browser.find_element("id", "readout").text


@pytest.mark.slow
def test_the_watch_sees_errors_and_requests(browser, tmp_path):
    """Or the silence of the other tests would say nothing."""
    page = tmp_path / "loud.html"
    page.write_text("<!doctype html><img src='http://127.0.0.1:9/x.png'><script>throw new Error('loud')</script>")
    show(browser, page)
    said, asked = complaints(browser)
    assert asked == ["http://127.0.0.1:9/x.png"]
    assert any("loud" in one for one in said)


@pytest.mark.slow
def test_the_policy_runs_no_script_and_asks_for_nothing_that_was_slipped_in(browser, plain_report):
    show(browser, plain_report)
    slip = """
        const script = document.createElement("script"), image = document.createElement("img");
        script.textContent = "document.title = 'slipped in'";
        image.src = "http://127.0.0.1:9/x.png";
        document.body.append(script, image);"""
    browser.execute_script(slip)
    assert browser.title == "A small survey: a report by hiddenbits"
    said, _ = complaints(browser)  # the log of requests has the image, as one that was blocked
    assert len(said) == 2
    assert all("violates the following Content Security Policy" in one and "blocked" in one for one in said), said


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", SIZES)
def test_opens_in_silence_and_fits_the_screen(browser, plain_report, width, theme):
    show(browser, plain_report, width, theme)
    assert complaints(browser) == ([], [])
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    unfold(browser)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}[theme]


@pytest.mark.slow
@pytest.mark.parametrize("width", SIZES)
def test_hovering_over_a_dot_shows_its_row(browser, plain_report, width):
    X, beside = survey()
    show(browser, plain_report, width)
    unfold(browser)
    data = json.loads(browser.execute_script("return document.getElementById('map-data').textContent"))
    away = np.hypot(*(np.subtract.outer(data[axis], data[axis]) for axis in "xy")) + np.eye(100) * 1e9
    for place in np.argsort(-away.min(axis=1))[:3]:  # dots that stand alone
        text, row = point(browser, int(place)), data["row"][place]
        assert text.startswith(f"Row {row}\n")
        assert beside["person"][row - 1] in text
        ones = text.split("1s: ")[1].split("\n")[0]
        assert {name for name in ones.split(", ") if name != "none"} == {
            f"question {j}" for j in np.flatnonzero(X[row - 1] == 1.0)
        }
    assert complaints(browser) == ([], [])


def test_colors_follow_the_choice(browser, plain_report):
    from selenium.webdriver.support.ui import Select

    X, _ = survey()
    show(browser, plain_report)
    unfold(browser)
    legend = browser.find_element("id", "legend")
    assert legend.text.split() == ["Blaue", "(50)", "Gruene", "(50)"]
    Select(browser.find_element("id", "color")).select_by_visible_text("question 3")
    ones, zeros, blanks = ((X[:, 3] == 1).sum(), (X[:, 3] == 0).sum(), np.isnan(X[:, 3]).sum())
    assert legend.text.split() == ["1", f"({ones})", "0", f"({zeros})", "missing", f"({blanks})"]
    filled = browser.find_elements("css selector", "#chart .p.k0")
    assert len(filled) == ones
    assert complaints(browser) == ([], [])


@pytest.mark.slow
def test_sections_open_by_keyboard_mouse_and_links(browser, plain_report, small_report):
    from selenium.webdriver.common.keys import Keys

    show(browser, plain_report)
    section = browser.find_element("id", "which")
    summary = section.find_element("css selector", "summary")
    opening = section.find_element("css selector", ".opening")
    assert not opening.is_displayed()
    summary.send_keys(Keys.ENTER)
    assert opening.is_displayed()
    summary.send_keys(Keys.SPACE)
    assert not opening.is_displayed()
    for _ in range(2):  # a link to a folded section opens it, also when it is followed again
        browser.find_element("link text", "How certain is this?").click()
        assert opening.is_displayed()
        browser.find_element("id", "fold").click()
        assert not opening.is_displayed()
    for number, finding in enumerate(small_report.found.findings):
        browser.find_elements("css selector", ".findings a")[number].click()
        assert browser.find_element("css selector", f"#{finding.evidence} .opening").is_displayed()
    browser.find_element("link text", "How to reproduce this").click()  # in the list at the side
    assert browser.find_element("css selector", "#how .opening").is_displayed()
    browser.find_element("id", "unfold").click()
    assert all(one.get_attribute("open") for one in browser.find_elements("css selector", "details.section"))
    assert complaints(browser) == ([], [])


@pytest.mark.parametrize("width", SIZES)
def test_tab_reaches_everything_that_can_be_used(browser, plain_report, width):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    show(browser, plain_report, width)
    browser.find_element("id", "unfold").click()
    usable = """return [...document.querySelectorAll("a[href], button, select, summary, [tabindex='0']")]
        .filter((one) => one.checkVisibility({contentVisibilityAuto: true}) && one.getClientRects().length).length"""
    wanted = browser.execute_script(usable)
    browser.execute_script("document.activeElement.blur(); window.seen = new Set()")
    mark = "if (document.activeElement !== document.body) window.seen.add(document.activeElement)"
    browser.execute_script(f"document.addEventListener('focusin', () => {{ {mark} }})")
    ActionChains(browser, duration=0).send_keys(Keys.TAB * (wanted + 5)).perform()
    assert wanted > 20
    assert browser.execute_script("return window.seen.size") >= wanted


def test_the_findings_fill_one_screen_and_all_of_it_four_at_most(browser, plain_report):
    show(browser, plain_report)
    bottom = browser.execute_script("return document.querySelector('header').getBoundingClientRect().bottom")
    assert bottom <= 900
    assert browser.execute_script("return document.documentElement.scrollHeight") <= 4 * 900


def test_no_text_is_cut_off_at_the_edge_of_a_drawing(browser, plain_report):
    show(browser, plain_report)
    browser.find_element("id", "unfold").click()
    cut = """return [...document.querySelectorAll("main svg text")].filter((text) => {
        const box = text.getBBox(), view = text.ownerSVGElement.viewBox.baseVal;
        return box.x < -1 || box.y < -1 || box.x + box.width > view.width + 1 || box.y + box.height > view.height + 1;
    }).map((text) => text.textContent)"""
    assert browser.execute_script(cut) == []
    assert browser.execute_script("return document.querySelectorAll('main svg text').length") > 50


def test_on_paper_the_sections_of_the_findings_are_open_on_six_pages_at_most(browser, plain_report):
    show(browser, plain_report)
    printed = base64.b64decode(
        browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})["data"]
    )
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert 2 <= pages <= 6
    assert not browser.find_elements("css selector", "details.section[open]")  # folded again afterwards


def test_a_notebook_shows_the_page_in_a_frame(browser, small_report, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>notebook</title>{small_report._repr_html_()}", encoding="utf-8")
    show(browser, path)
    browser.switch_to.frame(0)
    browser.find_element("link text", "How certain is this?").click()
    assert browser.find_element("css selector", "#which .opening").is_displayed()
    browser.switch_to.default_content()
    assert complaints(browser) == ([], [])


@pytest.mark.slow
def test_arrow_keys_go_from_dot_to_dot(browser, plain_report):
    from selenium.webdriver.common.keys import Keys

    show(browser, plain_report)
    unfold(browser)
    data = json.loads(browser.execute_script("return document.getElementById('map-data').textContent"))
    chart = browser.find_element("id", "chart")
    seen = []
    for _ in range(3):
        chart.send_keys(Keys.ARROW_RIGHT)
        head = browser.find_element("css selector", "#readout .head").text
        seen.append(int(head.split()[-1]))
    order = sorted(range(100), key=lambda i: (data["x"][i], i))
    assert seen == [data["row"][i] for i in order[:3]]
    assert complaints(browser) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize("width", SIZES)
def test_hostile_names_and_cells_stay_text(browser, written, width):
    tags = "return [...document.querySelectorAll('*')].map((one) => one.tagName).join(' ')"
    show(browser, hostile(written, tricks=False), width)
    tame = browser.execute_script(tags)
    show(browser, hostile(written), width)
    assert browser.execute_script(tags) == tame
    assert browser.title == f"{TRICKS[0]}: a report by hiddenbits"
    unfold(browser)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    point(browser, 0)
    browser.find_element("id", "chart").send_keys("\ue014")  # arrow right
    assert TRICKS[0] in browser.find_element("id", "readout").text
    options = [option.get_attribute("textContent") for option in browser.find_elements("css selector", "option")]
    assert {TRICKS[1], TRICKS[2], TRICKS[6]} <= set(options)
    assert complaints(browser) == ([], [])
