#!/usr/bin/env python3
"""The project's pages and the operator's in a real browser: Debian's Chromium, at common widths, light and dark, by
keyboard, and without scripts."""

import base64
import importlib.util
import os
import sqlite3
import tempfile
import time
import unittest
from pathlib import Path

import suite

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
for package, here in (("python3-selenium", importlib.util.find_spec("selenium")), ("chromium", Path(CHROMIUM).exists()),
                      ("chromium-driver", Path(DRIVER).exists())):
    if not here:
        suite.skip(f"{package} is not installed")

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import programs
from swarm import write_run
from swarm_case import SETTINGS, small_corpus

RUN = "poems-1"
PASSWORD = "swan lake at dusk"
DAY_MS = 86_400_000
WIDTHS = (360, 768, 1920)
HEIGHT = 900
VOLUNTEERS = 60
RIGHT, WRONG, UNCHECKED = range(3)  # of a check
FINAL_BELOW = 24  # the round from which on credit is pending
LONGEST_NAME = "Bartholomew-Maximilian.the.Elder"
PUBLIC = ("/", "/leaderboard", "/leaderboard?of=teams&sort=total", "/leaderboard?of=computers&sort=week",
          "/leaderboard?q=Swan+1&me=Swan+2", "/volunteer/2", "/team/1", "/credit", "/status", "/stats/", "/certificate",
          "/signup", "/login", "/password", "/verify?token=none", "/volunteer/999")
OPERATORS = ("/", "/people", "/people?sought=Swan+2", "/news", "/audit")
# Faults that a page must not have: text wider than the window, text that can hardly be read, fields whose edge can
# hardly be seen, two buttons with one name (WCAG 2.2, AA). A colour is compared with the nearest ground that is
# painted, and with each colour of a gradient.
LOOK = """
const seen = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== 'hidden';
const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
const light = (c) => { const f = c.slice(0, 3).map(v => { v /= 255; return v <= .03928 ? v / 12.92 :
  ((v + .055) / 1.055) ** 2.4; }); return .2126 * f[0] + .7152 * f[1] + .0722 * f[2]; };
const ground = (e) => { for (; e; e = e.parentElement) { const s = getComputedStyle(e);
  if (s.backgroundImage !== 'none') return s.backgroundImage.match(/rgba?\\([^)]*\\)/g).map(rgb);
  const c = rgb(s.backgroundColor); if (c.length < 4 || c[3] === 1) return [c]; } return [[255, 255, 255]]; };
const contrast = (grounds, colour) => Math.min(...grounds.map(g => {
  const [a, b] = [light(g), light(colour)].sort((x, y) => y - x); return (a + .05) / (b + .05); }));
const faint = [], edges = [];
for (const e of document.querySelectorAll('header *, main *, footer *')) {
  if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !seen(e) || e.closest('svg')) continue;
  if (contrast(ground(e), rgb(getComputedStyle(e).color)) < 4.5) faint.push(e.textContent.trim().slice(0, 40));
}
for (const e of document.querySelectorAll('input:not([type=hidden],[type=checkbox]),select,textarea')) {
  if (seen(e) && contrast(ground(e.parentElement), rgb(getComputedStyle(e).borderTopColor)) < 3) edges.push(e.name);
}
const called = [...document.querySelectorAll('button, summary')].filter(seen)
  .map(e => e.getAttribute('aria-label') || e.textContent.trim());
return {wide: document.documentElement.scrollWidth - document.documentElement.clientWidth, faint: faint.slice(0, 5), edges,
  alike: called.filter((name, i) => called.indexOf(name) !== i),
  title: document.title, headings: document.querySelectorAll('h1').length,
  unnamed: [...document.querySelectorAll('input:not([type=hidden]),select,textarea')].filter(e => seen(e) && !e.labels.length).length};
"""
# Everything that can be operated: links, buttons, fields, folded texts, charts.
REACHABLE = """
return [...document.querySelectorAll('a[href],button,input:not([type=hidden]),select,textarea,summary,[tabindex]')]
  .filter(e => e.getClientRects().length > 0).length;
"""
# The size of each chart, its visible parts, and the colour of its line or bars.
CHARTS = """
const seen = (e) => e !== null && e.getClientRects().length > 0;
return [...document.querySelectorAll('.chart')].map(chart => {
  const canvas = chart.querySelector('canvas'), size = chart.getBoundingClientRect(), ink = {};
  if (canvas) {
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3] === 255) { const c = data.slice(i, i + 3).join(); ink[c] = (ink[c] || 0) + 1; }
  }
  return {height: Math.round(size.height), right: size.right, picture: seen(chart.querySelector('svg')),
    drawn: seen(canvas), canvas: canvas ? canvas.getBoundingClientRect().right : 0, ink: Object.keys(ink)};
});
"""
# The transferred bytes of the page and of all that it loads.
TRANSFERRED = """
return [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .map(e => [e.name, e.encodedBodySize]);
"""
# Scripts injected into the page: none may run.
INJECTED = """
const script = document.createElement('script'); script.textContent = 'window.injected = 1';
document.body.append(script);
document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.injected = 1"><a id=trap onclick="window.injected = 1">');
document.getElementById('trap').click();
return window.injected === undefined;
"""
FOCUSED = """
const e = document.activeElement; if (!e || e === document.body) return null;
if (!e.dataset.stop) e.dataset.stop = Math.random();
const s = getComputedStyle(e);
return [e.dataset.stop, s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1 || e.matches('.skip')];
"""


def add_check(db, work, verdict, why=""):
    """A check of work, that is a run's number, a round and an account, as the server would have stored it."""
    number, step, account = work
    host, = db.execute("SELECT id FROM host WHERE account_id = ?", (account,)).fetchone()
    db.execute("INSERT INTO work_check (run, round, host, account_id, verdict, auditors, distance, why, at_ms) "
               "VALUES (?, ?, ?, ?, ?, ?, 1.2, ?, ?)",
               (number, step, host, account, verdict, bytes(64), why, int(time.time() * 1000) - (30 - step) * 3_600_000))
    db.execute("INSERT INTO checked_host (run, host, clean, missed, unchecked, in_a_row) VALUES (?, ?, ?, ?, ?, 0) "
               "ON CONFLICT (run, host) DO UPDATE SET clean = clean + excluded.clean, missed = missed + excluded.missed, "
               "unchecked = unchecked + excluded.unchecked", (number, host, *(int(verdict == v) for v in range(3))))


def fill(database, run):
    """A crowd with a month of credit, as the server would have stored it: the last days' is pending, and some of the
    work was checked."""
    now = int(time.time() * 1000)
    with sqlite3.connect(database) as db:
        number, = db.execute("SELECT number FROM run WHERE run_id = ?", (run,)).fetchone()
        db.execute("UPDATE run SET final_below = ? WHERE number = ?", (FINAL_BELOW, number))
        for i in range(1, VOLUNTEERS + 1):
            name = LONGEST_NAME if i == 1 else f"Swan {i}"
            db.execute("INSERT INTO account (id, display_name, created_ms) VALUES (?, ?, ?)", (i, name, now - 40 * DAY_MS))
            db.execute("INSERT INTO host (peer_id, account_id, created_ms, last_seen_ms) VALUES (?, ?, ?, ?)",
                       (bytes([i]) * 32, i, now - 40 * DAY_MS, now))
        db.execute("INSERT INTO team (id, name, founder_id, created_ms) VALUES (1, 'Birds of a feather', 1, ?)", (now,))
        db.execute("UPDATE account SET team_id = 1, shows_computers = 1 WHERE id % 2 = 1")
        for day in range(30, -1, -1):
            for i in range(1, VOLUNTEERS + 1):
                db.execute("INSERT INTO contribution (run, round, host, account_id, samples, credit, at_ms, team_id) "
                           "SELECT ?, ?, host.id, account.id, ?, ?, ?, team_id FROM host JOIN account "
                           "ON account.id = account_id WHERE peer_id = ?",
                           (number, 30 - day, 1000 * i, 7_654_321 * i, now - day * DAY_MS, bytes([i]) * 32))
        for i in range(1, VOLUNTEERS + 1):
            add_check(db, (number, i % 30, i), UNCHECKED if i % 20 == 0 else RIGHT)
        for step, why in ((28, "for the first time: it is told"),
                          (30, "once more: it is out until its computer's self-test finds nothing wrong")):
            add_check(db, (number, step, 7), WRONG, why)
        for step in range(300):
            db.execute("INSERT INTO round VALUES (?, ?, ?, ?, ?, ?, ?, 900, 3.1)",
                       (run, step, bytes(16), now - (300 - step) * 20_000, 4000 + 20 * step, bytes(32), 20 + step % 7))
        for step in range(40):
            db.execute("INSERT INTO evaluation (run_id, round, peer_id, bits_per_byte, loss, bytes, at_ms) "
                       "VALUES (?, ?, ?, ?, 1, 4000, ?)",
                       (run, step, bytes([1]) * 32, 8 / (1 + step / 9), now - (40 - step) * 3_600_000))
    db.close()


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.pictures = os.environ.get("STARLING_SCREENSHOTS")  # a folder, for people who want to look at the pictures
        coordinator = cls.coordinator = programs.Coordinator(cls.folder / "project", cls.folder / "coordinator.log")
        coordinator.command("init", coordinator.folder, "--name", "Poems", "--listen", coordinator.address, "--open",
                            "--approve")
        settings = {**SETTINGS, "run_id": RUN, "audit_rate": 0.25, "title": "Poems, letter by letter"}
        coordinator.create_run(write_run(cls.folder / "run", small_corpus(), settings))
        coordinator.start_run(RUN)
        (cls.folder / "password").write_text(PASSWORD + "\n")
        coordinator.command("operators", "add", coordinator.folder, "Grace", "--password-file", cls.folder / "password")
        coordinator.command("news", "post", coordinator.folder, "--title", "Welcome", "--body", "The first run.\n\nAll in.")
        coordinator.command("ban", "add", coordinator.folder, "address:2001:db8::/32", "--reason", "sends noise")
        fill(coordinator.folder / "coordinator.db", RUN)
        coordinator.command("export", "stats", coordinator.folder)
        admin = f"127.0.0.1:{programs.free_port()}"
        coordinator.server.command += ["--admin", admin]
        coordinator.serve()
        cls.addClassCleanup(coordinator.server.stop)
        cls.public, cls.operators = coordinator.url.rstrip("/"), f"https://{admin}"
        cls.browser = cls.new_browser()
        cls.addClassCleanup(cls.browser.quit)

    @classmethod
    def new_browser(cls):
        options = Options()
        options.binary_location = CHROMIUM
        for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-sync",
                     "disable-background-networking", "disable-component-update", "disable-dev-shm-usage",
                     "ignore-certificate-errors", "host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
                     f"user-data-dir={tempfile.mkdtemp(dir=cls.folder)}"):
            options.add_argument("--" + flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        browser = webdriver.Chrome(service=Service(DRIVER), options=options)
        browser.set_page_load_timeout(20)
        return browser

    # --- actions of a test with the browser

    def open(self, url, browser=None):
        (browser or self.browser).get(url)

    def at_size(self, width, dark):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": width < 600})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def picture(self, name):
        if self.pictures:
            shot = self.browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
            (Path(self.pictures) / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))

    def look_at(self, url, name):
        """Checks a page for the faults above at every width, light and dark."""
        self.open(url)
        for width in WIDTHS:
            for dark in (False, True):
                with self.subTest(page=url, width=width, dark=dark):
                    self.at_size(width, dark)
                    seen = self.browser.execute_script(LOOK)
                    self.assertLessEqual(seen["wide"], 0, "it scrolls sideways")
                    self.assertEqual(seen["faint"], [], "words that can hardly be read")
                    self.assertEqual(seen["edges"], [], "fields that can hardly be seen")
                    self.assertEqual(seen["alike"], [], "buttons that are called the same")
                    self.assertEqual((seen["headings"], seen["unnamed"]), (1, 0))
                    self.assertIn("Poems", seen["title"])
                    self.picture(f"{name}-{width}-{'dark' if dark else 'light'}")
        complaints = [entry for entry in self.browser.get_log("browser") if "status of 404" not in entry["message"]]
        self.assertEqual(complaints, [])

    def tab_through(self, url):
        """Every link, button and field takes the focus, once, and shows it."""
        self.open(url)
        wanted = self.browser.execute_script(REACHABLE)
        stops, hidden = set(), []
        for _ in range(wanted + 1):
            webdriver.ActionChains(self.browser).send_keys(Keys.TAB).perform()
            focused = self.browser.execute_script(FOCUSED)
            if focused is None or focused[0] in stops:
                break
            stops.add(focused[0])
            if not focused[1]:
                hidden.append(self.browser.execute_script("return document.activeElement.outerHTML"))
        self.assertEqual(len(stops), wanted, url)
        self.assertEqual(hidden, [], "the focus can not be seen")

    def charts(self, path, count):
        """The state of a page's charts, once they respond."""
        self.open(self.public + path)
        WebDriverWait(self.browser, 20, poll_frequency=0.05).until(
            lambda b: len(b.find_elements(By.CSS_SELECTOR, ".chart.live")) == count, f"{count} charts on {path}")
        return self.browser.execute_script(CHARTS)

    def type_in(self, browser=None, **fields):
        for name, text in fields.items():
            box = (browser or self.browser).find_element(By.NAME, name)
            box.clear()
            box.send_keys(text)

    def press(self, words, browser=None):
        """Sends a form, and returns when the answering page has come: the driver waits for it only sometimes, and
        queries on a page that is being left end in one of many errors."""
        browser = browser or self.browser
        browser.execute_script("window.answered = false")
        browser.find_element(By.XPATH, f"//main//button[normalize-space()='{words}']").click()
        WebDriverWait(browser, 20, poll_frequency=0.05, ignored_exceptions=[WebDriverException]).until(
            lambda b: b.execute_script("return window.answered !== false && document.readyState === 'complete'"),
            f"no page came after {words}")

    def text(self, browser=None):
        return (browser or self.browser).find_element(By.TAG_NAME, "body").text

    def log_in_as_operator(self):
        self.open(self.operators + "/login")
        if "Logged in as" not in self.text():
            self.type_in(name="grace", password=PASSWORD)
            self.press("Log in")
        self.assertIn("Logged in as Grace", self.text())

    # --- the tests, in this order

    def test_1_public_pages_are_whole_at_every_width_light_and_dark(self):
        for i, path in enumerate(PUBLIC):
            self.look_at(self.public + path, f"public-{i:02}")

    def test_2_somebody_signs_up_without_scripts_and_waits(self):
        browser = self.new_browser()
        self.addCleanup(browser.quit)
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        self.open(self.public + "/signup", browser)
        self.type_in(browser, name="Ada", email="ada@example.org", password=PASSWORD)
        self.press("Make the account", browser)
        self.assertEqual(browser.current_url, self.public + "/account")
        self.assertIn("waits for approval", self.text(browser))
        self.press("Log out", browser)
        self.type_in(browser, name="Ada", password=PASSWORD)
        self.press("Log in", browser)
        self.assertIn("Your account", self.text(browser))

    def test_3_the_operator_lets_them_in_and_keeps_somebody_out(self):
        self.log_in_as_operator()
        for i, path in enumerate(OPERATORS):
            self.look_at(self.operators + path, f"operator-{i:02}")
        self.at_size(1920, False)
        self.open(self.operators + "/people")
        self.press("Let in")
        self.assertIn("They may take part.", self.text())
        self.type_in(subject="Swan 7", reason="sends noise", days="7")
        self.press("Keep out")
        self.assertIn("They are kept out from now on.", self.text())
        self.assertIn("user Swan 7", self.text())
        self.open(self.operators + "/news")
        self.type_in(title="<b>Bold</b>", body="As typed: <script>alert(1)</script>")
        self.press("Post")
        self.open(self.operators + "/audit")
        for line in ("users approve Ada", "ban add user:Swan 7", "news post news 2"):
            self.assertIn(line, self.text())
        programs.wait_until(lambda: self.open(self.public) or "<b>Bold</b>" in self.text(), "the news is on the page")

    def test_4_everything_is_reached_by_keyboard(self):
        self.at_size(1920, False)
        self.log_in_as_operator()
        for path in ("/", "/leaderboard", "/signup", "/volunteer/2"):
            self.tab_through(self.public + path)
        for path in ("/", "/people?sought=Swan+2", "/news"):
            self.tab_through(self.operators + path)

    def test_5_charts_answer_where_scripts_run_and_are_pictures_where_they_do_not(self):
        without = self.new_browser()
        self.addCleanup(without.quit)
        without.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        self.at_size(1280, False)
        without.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                {"width": 1280, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False})
        for path, count in (("/", 3), ("/volunteer/2", 1), ("/team/1", 1)):
            with self.subTest(path=path):
                live = self.charts(path, count)
                self.open(self.public + path, without)
                still = without.execute_script(CHARTS)
                self.assertEqual([chart["height"] for chart in live], [chart["height"] for chart in still], "the page jumps")
                self.assertEqual([(chart["drawn"], chart["picture"]) for chart in live], [(True, False)] * count)
                self.assertEqual([(chart["drawn"], chart["picture"]) for chart in still], [(False, True)] * count)
                parts = self.browser.execute_script(TRANSFERRED)
                self.assertLessEqual(sum(size for _, size in parts), 100_000, parts)
                self.assertEqual(self.browser.get_log("browser"), [])

    def test_6_a_chart_tells_values_to_the_pointer_and_to_keys_and_zooms(self):
        self.at_size(1280, False)
        self.charts("/", 3)
        chart = self.browser.find_element(By.CSS_SELECTOR, ".chart")
        plot, reading, everything = (chart.find_element(By.CSS_SELECTOR, "." + name)
                                     for name in ("plot", "reading", "everything"))
        webdriver.ActionChains(self.browser).move_to_element(plot).perform()
        self.assertRegex(reading.text, r"^round \d+: [1-8]\.\d{4} bits per byte$")
        plot.send_keys(Keys.HOME)
        self.assertEqual(plot.get_attribute("aria-valuetext"), "round 0: 8.0000 bits per byte")
        plot.send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(reading.text, "round 1: 7.2000 bits per byte")
        plot.send_keys("+")
        self.assertTrue(everything.is_displayed())
        plot.send_keys(Keys.ESCAPE)
        self.assertFalse(everything.is_displayed())
        webdriver.ActionChains(self.browser).move_to_element(plot).click_and_hold().move_by_offset(120, 0).release().perform()
        self.assertTrue(everything.is_displayed())
        everything.click()
        self.assertFalse(everything.is_displayed())
        self.assertEqual(self.browser.switch_to.active_element, plot)
        self.assertEqual(self.browser.get_log("browser"), [])

    def test_7_charts_follow_the_window_and_the_theme(self):
        inks = []
        for width, dark in ((1920, False), (768, False), (360, True), (1280, True)):
            with self.subTest(width=width, dark=dark):
                self.at_size(width, dark) if inks else (self.at_size(width, dark), self.charts("/", 3))
                wait = WebDriverWait(self.browser, 20, poll_frequency=0.05)
                wait.until(lambda b: all(abs(chart["canvas"] - chart["right"]) < 2 for chart in b.execute_script(CHARTS)),
                           "the charts fill the width")
                inks.append(self.browser.execute_script(CHARTS)[0]["ink"])
        self.assertIn("79,70,229", inks[0])  # --accent, light and dark
        self.assertIn("165,160,255", inks[-1])
        self.assertNotIn("79,70,229", inks[-1])

    def test_8_no_script_but_the_pages_own_runs(self):
        for path in ("/", "/volunteer/2", "/leaderboard", "/login"):
            self.open(self.public + path)
            self.assertTrue(self.browser.execute_script(INJECTED), path)
            self.assertTrue(any("Content Security Policy" in line["message"] for line in self.browser.get_log("browser")))

    def look_at_account(self, words, name):
        self.open(self.public + "/account")
        for text in (words, "pending until the work is checked"):
            self.assertIn(text, self.text())
        for width in WIDTHS:
            for dark in (False, True):
                with self.subTest(name=name, width=width, dark=dark):
                    self.at_size(width, dark)
                    seen = self.browser.execute_script(LOOK)
                    self.assertLessEqual(seen["wide"], 0, "it scrolls sideways")
                    self.assertEqual(seen["faint"], [], "words that can hardly be read")
                    self.picture(f"{name}-{width}-{'dark' if dark else 'light'}")

    def test_9_an_account_page_tells_of_checks_and_of_credit_that_is_pending(self):
        self.open(self.public + "/signup")
        self.type_in(name="Eve", email="eve@example.org", password=PASSWORD)
        self.press("Make the account")
        with sqlite3.connect(self.coordinator.folder / "coordinator.db") as db:
            account, = db.execute("SELECT id FROM account WHERE display_name = 'Eve'").fetchone()
            number, = db.execute("SELECT number FROM run WHERE run_id = ?", (RUN,)).fetchone()
            now = int(time.time() * 1000)
            host = db.execute("INSERT INTO host (peer_id, account_id, created_ms, last_seen_ms) VALUES (?, ?, ?, ?)",
                              (bytes([200]) * 32, account, now, now)).lastrowid
            for step in (FINAL_BELOW - 1, FINAL_BELOW):
                db.execute("INSERT INTO contribution (run, round, host, account_id, samples, credit, at_ms) "
                           "VALUES (?, ?, ?, ?, 4000, 30000000, ?)", (number, step, host, account, now))
            add_check(db, (number, FINAL_BELOW, account), RIGHT)
        db.close()
        self.look_at_account("checked once, all right", "account-right")
        with sqlite3.connect(self.coordinator.folder / "coordinator.db") as db:
            add_check(db, (number, FINAL_BELOW + 1, account), WRONG, "for the first time: it is told")
        db.close()
        self.look_at_account("checked 2 times and found wrong once", "account-wrong")


if __name__ == "__main__":
    suite.main()
