"""Drives the real window under Xvfb as a user would, clicker keys included.

Screens are compared pixel by pixel: a paused window stands still, a step back
undoes a step on, help comes and goes, Esc never quits, Ctrl+Q does.
"""
import os
import subprocess
import time

import xwindow
from xwindow import PROGRAM, check


def walk_the_lesson(display):
    window = xwindow.Window(display, "--clock", "lesson", "--size", "1280x720")
    a = window.screen()
    time.sleep(1.6)
    b = window.screen()
    check(a != b, "the lesson plays by itself")
    window.key("space")
    still = window.settled()
    ticks = window.cpu_ticks()
    time.sleep(3)
    used = window.cpu_ticks() - ticks
    check(window.screen() == still, "a paused window stands still")
    check(used <= 3 * os.sysconf("SC_CLK_TCK") // 10, f"a paused window sleeps ({used} ticks in 3 s)")
    window.key("space", wait=0.6)
    check(window.screen() != still, "space plays on")

    window.key("Home", "Next", "Next")
    after_prefill = window.settled()
    check("Prefill" in window.title(), "two clicks from the start: prefill is done")
    window.key("Next")
    first_token = window.settled()
    check(first_token != after_prefill, "PageDown goes one event on")
    window.key("Prior")
    check(window.settled() == after_prefill, "PageUp undoes it, pixel for pixel")
    window.key("Right")
    check(window.settled() == first_token, "the arrow is the same step")

    window.key("question")
    check(window.screen() != first_token, "? shows the keys")
    window.key("Escape")
    check(window.settled() == first_token, "Esc closes them")
    window.key("Escape", "Escape", "Escape")
    check(window.is_alive(), "Esc never quits")

    window.key("u")
    time.sleep(3)
    measured = window.settled()
    check(measured != first_token, "U shows measured times")
    window.key("u")
    check(window.settled() == first_token, "U again comes back to the same event")
    window.key("c")
    check(window.settled() != first_token, "C counts the other way")
    window.key("c")
    window.settled()

    for _ in range(3):
        window.key("t")
    check(window.settled() == first_token, "three themes and back")
    window.key("b")
    black = window.screen()
    window.key("b")
    check(window.settled() == first_token and black != first_token, "B blanks and brings back")

    normal = window.size()
    window.key("F11", wait=1.5)
    check(window.size() == (1600, 1000), "F11 fills the screen")
    window.key("F11", wait=1.5)
    check(window.size() == normal, "F11 again gives the old size back")
    window.key("F5", wait=1.5)
    window.key("period", wait=0.6)
    dark = window.screen()
    window.key("Next", wait=0.6)
    check(window.screen() != dark, "a clicker's blank key blanks, the next click brings back")
    window.key("Escape", wait=1.0)
    check(window.size() == normal, "Esc leaves the presentation")
    window.key("s", wait=1.0)
    stills = [name for name in os.listdir(window.folder) if name.endswith(".png")]
    check(len(stills) == 1, "S saves a still")
    check(window.quit() == 0, "Ctrl+Q quits")


def play_measured(display):
    window = xwindow.Window(display, "--size", "1024x768", "--speed", "1/1000000")
    time.sleep(4)
    a = window.screen()
    time.sleep(1.0)
    check(window.is_alive(), "the measured answer plays")
    window.key("equal", wait=3)
    window.key("space", "plus", "minus", "comma", "bracketright", wait=3)
    check(window.is_alive(), "speed, frame and length keys are taken")
    window.key("End")
    check(window.settled() != a, "End shows the whole answer")
    subprocess.run(["xdotool", "windowsize", window.id, "700", "500"], env=display.env)
    time.sleep(1)
    check(window.is_alive() and window.size() == (700, 500), "the window can be resized")
    check(window.quit() == 0, "and closed")


def refuses_without_display():
    env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    result = subprocess.run([PROGRAM], env=env, capture_output=True, text=True, timeout=20)
    check(result.returncode == 3, "without a display the exit code is 3")
    lines = result.stderr.strip().split("\n")
    check(len(lines) == 1 and "display" in lines[0] and "tokendrip record" in lines[0],
          "and one line names the missing display and tokendrip record")


def quit_often(display):
    """Xlib ended about every second of these with exit code 1 on a busy machine once."""
    for _ in range(12):
        window = xwindow.Window(display, "--clock", "lesson", "--fresh", "--size", "1280x800")
        time.sleep(0.5)
        window.key("Home", "Right", wait=0.4)
        if window.quit() != 0:
            return False
    return True


def piece_quit():
    with xwindow.Display() as display:
        check(quit_often(display), "it quits cleanly, twelve times of twelve")


def piece_lesson():
    with xwindow.Display() as display:
        walk_the_lesson(display)


def piece_measured():
    with xwindow.Display() as display:
        play_measured(display)


def piece_displays():
    refuses_without_display()
    with xwindow.Display() as display:
        result = subprocess.run([PROGRAM, "--clock", "lesson", "--display", "9"], env=display.env,
                                capture_output=True, text=True, timeout=20)
        check(result.returncode == 1 and "display 9" in result.stderr,
              "a display that is not there is refused")
    with xwindow.Display(size="1024x768x24", window_manager=False) as bare:
        window = xwindow.Window(bare, "--clock", "lesson", "--size", "800x600")
        window.key("space")
        check(window.is_alive(), "it runs without a window manager")
        check(window.quit() == 0, "and quits there")


xwindow.main(globals())
