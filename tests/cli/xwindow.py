"""A window of tokendrip on an X server of our own: keys in, screens out.

A test file has one function a piece, named piece_NAME, and calls `main`; every piece
has a display of its own, so that pieces run side by side. Needs Xvfb, openbox,
xdotool and xwd; where one is missing the exit code is 77.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

PROGRAM = os.environ.get("TOKENDRIP", os.path.abspath("build/tokendrip"))
checks = 0


def check(truth, what):
    global checks
    checks += 1
    if not truth:
        print(f"FAILED: {what}")
        sys.exit(1)
    print(f"ok: {what}", flush=True)


def main(functions):
    """Runs the pieces named on the command line, or all of them."""
    missing = [tool for tool in ("Xvfb", "xdotool", "xwd", "openbox") if not shutil.which(tool)]
    if missing:
        print("skipped: not installed: " + " ".join(missing))
        sys.exit(77)
    prefix = "piece_"
    pieces = {name[len(prefix):]: function for name, function in functions.items()
              if name.startswith(prefix)}
    for name in sys.argv[1:] or pieces:
        pieces[name]()
    print(f"{checks} passed, 0 failed")


class Display:
    """An X server of our own on a display number that it chooses itself."""

    def __init__(self, size="1600x1000x24", window_manager=True):
        read_fd, write_fd = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write_fd), "-screen", "0", size, "-nolisten", "tcp"],
            pass_fds=[write_fd], stderr=subprocess.DEVNULL)
        os.close(write_fd)
        number = b""
        while not number.endswith(b"\n"):
            part = os.read(read_fd, 16)
            if not part:
                raise RuntimeError("Xvfb did not start")
            number += part
        os.close(read_fd)
        self.env = {k: v for k, v in os.environ.items() if k != "WAYLAND_DISPLAY"}
        self.env["DISPLAY"] = ":" + number.decode().strip()
        # What a window remembers stays in here, and the user's own state out of it.
        self.state = tempfile.mkdtemp()
        self.env["XDG_STATE_HOME"] = self.state
        self.manager = None
        if window_manager:
            self.manager = subprocess.Popen(["openbox"], env=self.env, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL)
            time.sleep(0.5)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.manager, self.server):
            if process:
                process.terminate()
                process.wait()
        shutil.rmtree(self.state, ignore_errors=True)


class Window:
    def __init__(self, display, *args):
        self.display = display
        self.folder = tempfile.mkdtemp()
        self.said = open(os.path.join(self.folder, "said.txt"), "wb")
        self.process = subprocess.Popen([PROGRAM, *args], env=display.env, cwd=self.folder,
                                        stdout=self.said, stderr=subprocess.PIPE)
        self.id = self.find()

    def find(self):
        for _ in range(200):
            if self.process.poll() is not None:
                raise RuntimeError(f"ended early: {self.process.stderr.read().decode()}")
            found = subprocess.run(
                ["xdotool", "search", "--all", "--onlyvisible", "--pid", str(self.process.pid),
                 "--name", "^tokendrip"],
                env=self.display.env, capture_output=True, text=True).stdout.split()
            if found:
                subprocess.run(["xdotool", "windowfocus", "--sync", found[0]], env=self.display.env,
                               stderr=subprocess.DEVNULL)
                return found[0]
            time.sleep(0.05)
        raise RuntimeError("no window came")

    def key(self, *keys, wait=0.35):
        for key in keys:
            subprocess.run(["xdotool", "key", "--window", self.id, key], env=self.display.env,
                           check=True)
        time.sleep(wait)

    def lines(self):
        """What the window has said on standard output."""
        with open(os.path.join(self.folder, "said.txt"), encoding="utf-8") as said:
            return said.read().splitlines()

    def screen(self):
        data = subprocess.run(["xwd", "-silent", "-id", self.id], env=self.display.env, check=True,
                              capture_output=True).stdout
        return zlib.crc32(data[int.from_bytes(data[:4], "big"):])

    def settled(self):
        """A screen that is the same twice, after toasts are gone."""
        time.sleep(2.6)
        last = self.screen()
        for _ in range(20):
            time.sleep(0.25)
            now = self.screen()
            if now == last:
                return now
            last = now
        raise RuntimeError("the screen does not come to rest")

    def size(self):
        out = subprocess.run(["xdotool", "getwindowgeometry", "--shell", self.id],
                             env=self.display.env, check=True, capture_output=True, text=True).stdout
        values = dict(line.split("=") for line in out.split())
        return int(values["WIDTH"]), int(values["HEIGHT"])

    def title(self):
        return subprocess.run(["xdotool", "getwindowname", self.id], env=self.display.env,
                              check=True, capture_output=True, text=True).stdout.strip()

    def cpu_ticks(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def is_alive(self):
        return self.process.poll() is None

    def quit(self):
        # The window is gone before xdotool has let go of the key.
        subprocess.run(["xdotool", "key", "--window", self.id, "ctrl+q"], env=self.display.env,
                       stderr=subprocess.DEVNULL)
        subprocess.run(["xdotool", "keyup", "q", "keyup", "ctrl"], env=self.display.env)
        code = self.process.wait(timeout=5)
        if code != 0:
            print(f"exit code {code}: {self.process.stderr.read().decode()}")
        shutil.rmtree(self.folder, ignore_errors=True)
        return code
