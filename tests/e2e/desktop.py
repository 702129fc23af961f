"""An invisible desktop with real windows on it: screen.sh's screen, window manager and panel, and simulated use of
mouse and keyboard. Needs Xvfb, openbox, trayer, xdotool and ImageMagick."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path

import programs

SIZE = "1100x800"
AGAIN_AFTER_S = 3
TOOL_WITHIN_S = 20  # xdotool waits for ever for a window that is gone, and import for an event that has passed
TOOLS = ("Xvfb", "openbox", "trayer", "xdotool", "import")


def missing():
    """The reason why a desktop is not possible here; empty if it is."""
    absent = [tool for tool in TOOLS if shutil.which(tool) is None]
    return f"not installed: {', '.join(absent)}" if absent else ""


class Desktop:
    """Ends with stop(). Programs on it keep their settings below `folder`."""

    def __init__(self, folder):
        folders = {name: Path(folder) / name for name in ("config", "data", "runtime")}
        for place in folders.values():
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        script = Path(__file__).resolve().parent / "screen.sh"
        self.screen = subprocess.Popen(["bash", script, SIZE, "--panel"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        number = self.screen.stdout.readline().strip()
        if not number:
            raise programs.ProgramError("there is no screen")
        self.environment = {"DISPLAY": f":{number}", "LC_ALL": "C.UTF-8", "QT_QPA_PLATFORM": "xcb",
                            "XDG_CONFIG_HOME": str(folders["config"]), "XDG_DATA_HOME": str(folders["data"]),
                            "XDG_RUNTIME_DIR": str(folders["runtime"]), "DBUS_SESSION_BUS_ADDRESS": "disabled:"}

    def stop(self):
        self.screen.communicate()

    def run(self, *command):
        """The output of a tool; nothing if it does not end in time."""
        try:
            return subprocess.run([str(part) for part in command], env={**os.environ, **self.environment}, check=False,
                                  capture_output=True, text=True, timeout=TOOL_WITHIN_S).stdout
        except subprocess.TimeoutExpired:
            return ""

    def windows(self, program):
        """The visible windows of a program, as {id: title}; its icon in the panel is one of them."""
        found = self.run("xdotool", "search", "--onlyvisible", "--classname", f"^{program}$").split()
        return {window: self.run("xdotool", "getwindowname", window).strip() for window in found}

    def wait_for_window(self, program, fits, what, timeout_s=programs.EVENT_WITHIN_S):
        """The id of the first window whose title fits."""
        def found():
            return next((window for window, title in self.windows(program).items() if fits(title)), None)

        return programs.wait_until(found, what, timeout_s)

    def picture_of(self, window):
        """A digest that is equal for equal pixels."""
        def pixels():
            with contextlib.suppress(subprocess.TimeoutExpired):
                return subprocess.run(["import", "-window", window, "rgb:-"], env={**os.environ, **self.environment}, check=True,
                                      capture_output=True, timeout=TOOL_WITHIN_S).stdout
            return None

        return hashlib.sha256(programs.wait_until(pixels, "a picture of a window")).hexdigest()

    def height_of(self, window):
        """The window's height; 0 once it is gone."""
        shape = dict(line.split("=") for line in self.run("xdotool", "getwindowgeometry", "--shell", window).split())
        return int(shape.get("HEIGHT", 0))

    def mouse_away(self):
        self.run("xdotool", "mousemove", 1, 1)

    def save(self, path):
        self.run("import", "-window", "root", path)

    def activate(self, window):
        self.run("xdotool", "windowactivate", "--sync", window)

    def press(self, *keys):
        self.run("xdotool", "key", "--delay", 40, *keys)

    def press_until_it_shows(self, window, key):
        """Presses the key, and repeats it if nothing happened: a window that has just opened may not have the focus
        yet."""
        before = self.picture_of(window)
        until(lambda: self.press(key), lambda: self.picture_of(window) != before, f"{key} shows in the window")

    def click(self, window, x, y, button=1):
        self.run("xdotool", "mousemove", "--window", window, x, y, "click", button)


def until(act, condition, what):
    """The first true value of the condition after acting. The action is repeated, as people do when a busy computer
    does not respond."""
    def acted():
        act()
        try:
            return programs.wait_until(condition, what, AGAIN_AFTER_S)
        except programs.ProgramError:
            return None

    return programs.wait_until(acted, what)


def memory_mb(pid):
    """(resident, proportional) megabytes: shared pages counted in full, and divided among the processes that share
    them."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1000 for line in lines[1:]}
    return sizes["Rss"] * 1.024, sizes["Pss"] * 1.024


def processor_ms(pid):
    """(used, waited for) processor time of all threads of a process so far."""
    threads = []
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):  # it has ended
            threads.append(path.read_text().split())
    return tuple(round(sum(int(thread[field]) for thread in threads) / 1e6) for field in (0, 1))


def milliseconds_since(began):
    return round(1000 * (time.monotonic() - began))
