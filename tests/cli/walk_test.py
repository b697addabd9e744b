"""Walks through every chapter of the lesson in the real window under Xvfb: with the
keyboard, and again with PageDown alone as a clicker does; then Lab, the log, the
glossary, the guesses, an own prompt, the mouse, and what is remembered.

`--describe` says on standard output where the window is.
"""
import json
import os
import subprocess
import time

import xwindow
from xwindow import check

LANGUAGES = os.path.join(os.environ["SOURCE_DIR"], "assets", "languages")


def steps_of(language):
    """Steps of all chapters: nine events of module-7 where one follows the run, else its own."""
    with open(os.path.join(LANGUAGES, language + ".json"), encoding="utf-8") as file:
        chapters = json.load(file)["lesson"]["chapters"]
    return [9 if "follows" in chapter else len(chapter["steps"]) for chapter in chapters]


def say_until(window, count, key, most=120):
    """Presses a key until so many lines have been said; returns how often."""
    for pressed in range(most):
        if len(window.lines()) >= count:
            return pressed
        before = len(window.lines())
        window.key(key, wait=0.1)
        for _ in range(40):
            if len(window.lines()) > before:
                break
            time.sleep(0.05)
        else:
            window.key("Return", wait=0.3)  # a question waits for its answer
    return most


def walk(display, key, back):
    window = xwindow.Window(display, "--mode", "lesson", "--clock", "lesson", "--fresh",
                            "--describe", "--size", "1280x800")
    total = sum(steps_of("en"))
    time.sleep(1)
    first = window.settled()
    say_until(window, total, key)
    lines = window.lines()
    check(len(lines) == total, f"{key} meets {total} steps, one line each ({len(lines)})")
    check(len(set(lines)) == total, "no two steps say the same")
    check(all("{" not in line and "[" not in line for line in lines), "every place is filled")
    end = lines[2 + 8]  # after the opening's two steps
    check("247" in end and "24" in end, f"the ninth event says 247 units and 24 tokens: {end}")
    last = window.settled()
    window.key(key)
    check(window.settled() == last, "the last step is the last")
    check(window.is_alive(), "and the window is still there")
    window.key("Home")
    window.comes(first, "Home leads back to the first step, pixel for pixel")
    window.key(key, key)
    there = window.settled()
    window.key(key, back)
    check(window.settled() == there, f"{back} undoes a step")
    check(window.quit() == 0, "and it quits")


def open_panels(display):
    window = xwindow.Window(display, "--clock", "lesson", "--fresh", "--describe",
                            "--size", "1280x800")
    window.key("space", "Home", "Next", "Next", "Next")
    stage = window.settled()
    said = len(window.lines())
    for key, what in (("l", "log"), ("g", "glossary"), ("w", "why"), ("i", "what it simplifies")):
        window.key(key, wait=0.5)
        window.changes(stage, f"{key} opens the panel: {what}")
        window.key("Escape", wait=0.5)
        window.comes(stage, "Esc closes it, pixel for pixel")
    window.key("l", "Up", "Up", "Return", wait=0.6)
    lines = window.lines()
    check(len(lines) > said and lines[-1] != lines[said - 1], f"the log leads elsewhere: {lines[-1]}")
    window.key("l", "Home")
    window.key("p", wait=0.5)
    waiting = window.settled()
    window.key("space", wait=0.5)
    check(window.settled() == waiting, "the run waits for the guesses")
    window.key("Right", "Right", "Return", "Left", "Return", wait=1.5)
    window.changes(waiting, "two guesses set, the run plays")
    window.key("Escape", "End")
    window.changes(stage, "the guess stays on the clock")
    check(window.quit() == 0, "and it quits")


def use_lab(display):
    window = xwindow.Window(display, "--mode", "lab", "--fresh", "--size", "1280x800")
    lab = window.settled()
    window.key("Next", wait=1)
    window.changes(lab, "PageDown turns the pages of plots")
    second = window.settled()
    window.key("Next", wait=2)
    window.changes(second, "to the third")
    window.key("k", wait=0.5)
    window.key("bracketright", wait=4)
    check(window.is_alive(), "a longer prompt is measured beside the kept run")
    window.key("Down", "Right", "Right", wait=4)
    check(window.is_alive(), "a slider moves by arrows")
    subprocess.run(["xdotool", "mousemove", "--window", window.id, "300", "240", "mousedown", "1",
                    "mousemove", "--window", window.id, "420", "240", "mouseup", "1"],
                   env=display.env, check=True)
    time.sleep(3)
    check(window.is_alive(), "and by the mouse")
    window.key("Escape", "Tab", "Tab", "Tab", wait=1)
    check(window.is_alive(), "Tab goes round the modes")
    check(window.quit() == 0, "and it quits")


def own_prompt(display):
    window = xwindow.Window(display, "--fresh", "--size", "1280x800", "--speed", "1/1000000")
    time.sleep(4)
    window.key("space", "e", wait=0.6)
    before = window.settled()
    window.key("ctrl+u", wait=0.5)
    window.changes(before, "Ctrl+U empties the field")
    subprocess.run(["xdotool", "type", "--window", window.id, "--delay", "60", "Where is my parcel?"],
                   env=display.env, check=True)
    typed = window.settled()
    check(typed != before, "typing fills it, the letters are no commands")
    window.key("ctrl+z", wait=0.5)
    window.changes(typed, "Ctrl+Z takes the typing back")
    window.key("ctrl+u")
    subprocess.run(["xdotool", "type", "--window", window.id, "--delay", "60", "Where is my parcel?"],
                   env=display.env, check=True)
    window.key("Return", wait=3)
    check(window.is_alive() and window.settled() != typed, "Enter measures it")
    check(window.quit() == 0, "and it quits")


def remembers(display):
    window = xwindow.Window(display, "--clock", "lesson", "--size", "1280x800")
    window.key("t", "Tab", wait=0.8)
    window.key("Next", "Next", wait=0.5)
    check(window.quit() == 0, "a theme and a mode chosen, and quit")
    path = os.path.join(display.state, "tokendrip", "state.json")
    with open(path, encoding="utf-8") as file:
        state = json.load(file)
    check(state["mode"] == "lesson" and state["theme"] == "projector", f"they are remembered: {state}")
    check(state["clock"] == "measured", "what only the command line said is not")
    again = xwindow.Window(display, "--clock", "lesson", "--size", "1280x800")
    time.sleep(1)
    one = again.settled()
    check(again.quit() == 0, "the next start")
    fresh = xwindow.Window(display, "--clock", "lesson", "--size", "1280x800", "--fresh")
    time.sleep(1)
    fresh.key("space", "Home")
    fresh.settled()
    fresh.changes(one, "--fresh looks as if it were the first time")
    check(fresh.quit() == 0, "and changes nothing")
    with open(path, encoding="utf-8") as file:
        check(json.load(file) == state, "of what is remembered")


def piece_keyboard():
    with xwindow.Display() as display:
        walk(display, "Right", "Left")


def piece_clicker():
    with xwindow.Display() as display:
        walk(display, "Next", "Prior")


def piece_panels():
    with xwindow.Display() as display:
        open_panels(display)


def piece_lab():
    with xwindow.Display() as display:
        use_lab(display)


def piece_prompt():
    with xwindow.Display() as display:
        own_prompt(display)


def piece_memory():
    with xwindow.Display() as display:
        remembers(display)


xwindow.main(globals())
