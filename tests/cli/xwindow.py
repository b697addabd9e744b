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
PATIENCE_S = 240  # only a hang takes longer, also on a machine that others keep busy
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
            self.wait_for_manager()

    def wait_for_manager(self):
        """Until it has taken the display over, which it says on the root window."""
        for _ in range(600):
            found = subprocess.run(["xdotool", "getactivewindow"], env=self.env,
                                   capture_output=True, text=True)
            if "claims not to support" not in found.stdout + found.stderr:
                return
            time.sleep(0.1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.manager, self.server):
            if process:
                process.terminate()
                process.wait()
        shutil.rmtree(self.state, ignore_errors=True)


class Load:
    """Busy loops, as many as there are processors, while it is entered."""

    def __enter__(self):
        self.loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                      for _ in os.sched_getaffinity(0)]
        return self

    def __exit__(self, *_):
        for loop in self.loops:
            loop.kill()
            loop.wait()


def wait_for(is_true, what, seconds=PATIENCE_S):
    """Until a condition holds; a busy machine takes longer and fails nothing."""
    deadline = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > deadline:
            check(False, what)
        time.sleep(0.05)
    check(True, what)


class Window:
    def __init__(self, display, *args):
        self.display = display
        self.folder = tempfile.mkdtemp()
        self.said = open(os.path.join(self.folder, "said.txt"), "wb")
        self.process = subprocess.Popen([PROGRAM, *args], env=display.env, cwd=self.folder,
                                        stdout=self.said, stderr=subprocess.PIPE)
        self.id = self.find()

    def find(self):
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"ended early: {self.process.stderr.read().decode()}")
            found = subprocess.run(
                ["xdotool", "search", "--all", "--onlyvisible", "--pid", str(self.process.pid),
                 "--name", "^tokendrip"],
                env=self.display.env, capture_output=True, text=True).stdout.split()
            if found:
                self.id = found[0]
                self.focus()
                return self.id
            time.sleep(0.05)
        raise RuntimeError("no window came")

    def focus(self):
        subprocess.run(["xdotool", "windowfocus", "--sync", self.id], env=self.display.env,
                       stderr=subprocess.DEVNULL)

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
        """A screen that stays the same for longer than a toast, while the program sleeps."""
        last, since = None, 0
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            now = self.screen()
            if now != last or self.is_running():
                last, since = now, time.monotonic()
            elif time.monotonic() - since > 2.6:
                return now
            time.sleep(0.2)
        raise RuntimeError("the screen does not come to rest")

    def comes(self, screen, what):
        """The picture becomes this one, however long a busy machine takes."""
        wait_for(lambda: self.screen() == screen, what)

    def changes(self, screen, what):
        """The picture becomes another one."""
        wait_for(lambda: self.screen() != screen, what)

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

    def is_running(self):
        """One of its threads wants a processor: what it does is not shown yet."""
        tasks = f"/proc/{self.process.pid}/task"
        for task in os.listdir(tasks):
            try:
                with open(os.path.join(tasks, task, "stat")) as stat:
                    if stat.read().rsplit(")", 1)[1].split()[0] == "R":
                        return True
            except OSError:
                continue  # it has just ended
        return False

    def is_alive(self):
        return self.process.poll() is None

    def quit(self):
        # The window is gone before xdotool has let go of the key.
        subprocess.run(["xdotool", "key", "--window", self.id, "ctrl+q"], env=self.display.env,
                       stderr=subprocess.DEVNULL)
        subprocess.run(["xdotool", "keyup", "q", "keyup", "ctrl"], env=self.display.env)
        code = self.process.wait(timeout=PATIENCE_S)
        if code != 0:
            print(f"exit code {code}: {self.process.stderr.read().decode()}")
        shutil.rmtree(self.folder, ignore_errors=True)
        return code
