"""Drives the real window under Xvfb as a user would, clicker keys included.

Screens are compared pixel by pixel: a paused window stands still, a step back
undoes a step on, help comes and goes, Esc never quits, Ctrl+Q does.
"""
import os
import signal
import subprocess
import time

import xwindow
from xwindow import PROGRAM, check, wait_for


def walk_the_lesson(display):
    window = xwindow.Window(display, "--clock", "lesson", "--size", "1280x720")
    window.changes(window.screen(), "the lesson plays by itself")
    window.key("space")
    still = window.settled()
    ticks = window.cpu_ticks()
    time.sleep(3)
    used = window.cpu_ticks() - ticks
    check(window.screen() == still, "a paused window stands still")
    check(used <= 3 * os.sysconf("SC_CLK_TCK") // 10, f"a paused window sleeps ({used} ticks in 3 s)")
    window.key("space", wait=0.6)
    window.changes(still, "space plays on")

    window.key("Home", "Next", "Next")
    after_prefill = window.settled()
    wait_for(lambda: "Prefill" in window.title(), "two clicks from the start: prefill is done")
    window.key("Next")
    first_token = window.settled()
    check(first_token != after_prefill, "PageDown goes one event on")
    window.key("Prior")
    window.comes(after_prefill, "PageUp undoes it, pixel for pixel")
    window.key("Right")
    window.comes(first_token, "the arrow is the same step")

    window.key("question")
    window.changes(first_token, "? shows the keys")
    window.key("Escape")
    window.comes(first_token, "Esc closes them")
    window.key("Escape", "Escape", "Escape")
    check(window.is_alive(), "Esc never quits")

    window.key("u")
    window.changes(first_token, "U leaves the lesson's units")
    measured = window.settled()
    check(measured != first_token, "U shows measured times")
    window.key("u")
    window.comes(first_token, "U again comes back to the same event")
    window.key("c")
    window.changes(first_token, "C counts the other way")
    window.key("c")
    window.settled()

    for _ in range(3):
        window.key("t")
    check(window.settled() == first_token, "three themes and back")
    window.key("b")
    window.changes(first_token, "B blanks")
    window.key("b")
    window.comes(first_token, "and brings back")

    normal = window.size()
    window.key("F11", wait=1.5)
    wait_for(lambda: window.size() == (1600, 1000), "F11 fills the screen")
    window.key("F11", wait=1.5)
    wait_for(lambda: window.size() == normal, "F11 again gives the old size back")
    window.key("F5", wait=1.5)
    shown = window.settled()
    window.key("period")
    window.changes(shown, "a period blanks the presentation")
    dark = window.screen()
    window.key("Next", wait=0.6)
    window.changes(dark, "a clicker's blank key blanks, the next click brings back")
    window.key("Escape", wait=1.0)
    wait_for(lambda: window.size() == normal, "Esc leaves the presentation")
    window.key("s")
    wait_for(lambda: [name for name in os.listdir(window.folder)
                      if name.endswith(".png") and "part" not in name], "S saves a still")
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
    window.changes(a, "End shows the whole answer")
    subprocess.run(["xdotool", "windowsize", window.id, "700", "500"], env=display.env)
    wait_for(lambda: window.size() == (700, 500), "the window can be resized")
    check(window.quit() == 0, "and closed")


def keep_lengths(display):
    """A length chosen for one clock holds for the other."""
    window = xwindow.Window(display, "--fresh", "--describe", "--clock", "lesson",
                            "--size", "1024x768")
    time.sleep(1)
    window.key("Home", "bracketleft", "bracketleft", wait=2)
    check(window.lines()[-1].startswith("The prompt is ready, 12 tokens:"), "[ shortens the prompt")
    window.key("u")
    for _ in range(80):
        time.sleep(0.25)
        if "units" not in window.lines()[-1]:
            break
    time.sleep(1)
    check(window.lines()[-1].startswith("The prompt is ready, 12 tokens:"),
          f"U measures it, too: {window.lines()[-1]}")
    check(window.quit() == 0, "and closed again")


def refuses_without_display():
    env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    result = subprocess.run([PROGRAM], env=env, capture_output=True, text=True, timeout=xwindow.PATIENCE_S)
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


def stalls(display):
    """--describe says every step that is shown: a step that nobody saw is a line that lacks."""
    window = xwindow.Window(display, "--clock", "lesson", "--fresh", "--describe", "--size",
                            "800x600")

    def said():
        return len(window.lines())

    def hold(what, begin, end):
        wait_for(lambda: said() >= held + 1, f"it plays on before: {what}")
        begin()
        time.sleep(1)  # what was under way has been said
        before = said()
        time.sleep(5)
        check(said() == before, f"it stands still: {what}")
        end()
        return said()

    def xdotool(*args):
        subprocess.run(["xdotool", *args], env=display.env, check=True)

    held = 0
    held = hold("stopped", lambda: window.process.send_signal(signal.SIGSTOP),
                lambda: window.process.send_signal(signal.SIGCONT))
    held = hold("minimised", lambda: xdotool("windowminimize", "--sync", window.id),
                lambda: xdotool("windowactivate", "--sync", window.id))
    held = hold("blank", lambda: window.key("b"), lambda: window.key("b"))
    cover = []
    held = hold("covered",
                lambda: cover.append(xwindow.Window(display, "--clock", "lesson", "--fresh",
                                                    "--fullscreen")),
                lambda: cover[0].quit())
    wait_for(lambda: said() == 9, "all nine steps were shown")
    window.focus()
    check(window.quit() == 0, "and it quits")


def ends_from_outside(display):
    def by(*args):
        subprocess.run(["xdotool", *args], env=display.env, stderr=subprocess.DEVNULL)

    destroyed = ("destroyed", lambda window: by("windowclose", window.id))
    # At once after it has come: how much of its coming SDL has seen by then differs.
    for what, end in (destroyed, destroyed, destroyed, destroyed,
                      ("cut off", lambda window: by("windowkill", window.id)),
                      ("closed", lambda window: by("key", "alt+F4")),
                      ("terminated", lambda window: window.process.terminate()),
                      ("interrupted", lambda window: window.process.send_signal(signal.SIGINT))):
        window = xwindow.Window(display, "--fresh")
        end(window)
        error = window.process.communicate(timeout=xwindow.PATIENCE_S)[1].decode()
        check((window.process.returncode, error) == (0, ""),
              f"a window that is {what} ends the program with 0 and no word: {error}")


def untouched_lab(display):
    """Every plot appears by itself: what a mouse brings afterwards is nothing new."""
    window = xwindow.Window(display, "--mode", "lab", "--fresh", "--size", "1280x800")
    ticks, same, last = 0, 0, None
    while same < 8:  # idle for 8 looks: no work, and the same picture
        time.sleep(0.5)
        now = (window.cpu_ticks(), window.screen())
        same = same + 1 if last and now[0] - last[0] <= 2 and now[1] == last[1] else 0
        last = now
        ticks += 1
        check(ticks < 600, f"look {ticks}")
    alone = window.screen()
    ticks = window.cpu_ticks()
    window.key("z", "z", "z")  # means nothing
    time.sleep(3)
    used = window.cpu_ticks() - ticks
    check(window.screen() == alone, "a key that means nothing brings nothing new")
    check(used < os.sysconf("SC_CLK_TCK") // 2, f"and starts no measurement ({used} ticks)")
    check(window.quit() == 0, "and it quits")


def piece_stalls():
    with xwindow.Display() as display:
        stalls(display)


def piece_outside():
    with xwindow.Display() as display:
        ends_from_outside(display)


def piece_untouched():
    with xwindow.Display() as display:
        untouched_lab(display)


def piece_quit():
    with xwindow.Display() as display:
        check(quit_often(display), "it quits cleanly, twelve times of twelve")


def piece_lesson():
    with xwindow.Display() as display:
        walk_the_lesson(display)


def piece_measured():
    with xwindow.Display() as display:
        play_measured(display)
        keep_lengths(display)


def piece_displays():
    refuses_without_display()
    with xwindow.Display() as display:
        result = subprocess.run([PROGRAM, "--clock", "lesson", "--display", "9"], env=display.env,
                                capture_output=True, text=True, timeout=xwindow.PATIENCE_S)
        check(result.returncode == 1 and "display 9" in result.stderr,
              "a display that is not there is refused")
    with xwindow.Display(size="1024x768x24", window_manager=False) as bare:
        window = xwindow.Window(bare, "--clock", "lesson", "--size", "800x600")
        window.key("space")
        check(window.is_alive(), "it runs without a window manager")
        check(window.quit() == 0, "and quits there")


xwindow.main(globals())
