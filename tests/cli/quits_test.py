"""Two hundred windows in a row end, at any moment and by every way, with exit code 0 and
not a word, while busy loops keep all processors busy.

Takes minutes, so it is no part of the usual run: ctest -C quits -L quits
"""
import random
import signal
import subprocess
import time

import xwindow
from xwindow import PROGRAM, check

QUITS = 200
KINDS = (["--clock", "lesson", "--fresh"], ["--fresh"], ["--fresh", "--mode", "lab"],
         ["--fresh", "--prompt-tokens", "600", "--answer-tokens", "100"])


def blocks_signals(process):
    """The program takes signals itself from here on; before, the system's loader has it."""
    with open(f"/proc/{process.pid}/status") as status:
        mask = next(line for line in status if line.startswith("SigBlk")).split()[1]
    return int(mask, 16) >> (signal.SIGTERM - 1) & 1


def end_by_signal(display, args, moment):
    process = subprocess.Popen([PROGRAM, *args], env=display.env, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    while not blocks_signals(process):
        time.sleep(0.002)
    time.sleep(moment)
    process.terminate()
    return process


def end_by_key(display, args, moment, *keys):
    window = xwindow.Window(display, *args)
    time.sleep(moment)
    subprocess.run(["xdotool", "key", *keys], env=display.env, stderr=subprocess.DEVNULL)
    subprocess.run(["xdotool", "keyup", "q", "keyup", "ctrl"], env=display.env)
    return window.process


def quit_all():
    dice, bad = random.Random(1), []
    with xwindow.Display() as display, xwindow.Load():
        for i in range(QUITS):
            args, moment = dice.choice(KINDS), dice.uniform(0, 1.2)
            if i % 3 == 0:
                way, process = "TERM", end_by_signal(display, args, moment)
            elif i % 3 == 1:
                way, process = "Ctrl+Q", end_by_key(display, args, moment, "ctrl+q")
            else:
                way, process = "close", end_by_key(display, args, moment, "alt+F4")
            try:
                error = process.communicate(timeout=xwindow.PATIENCE_S)[1].decode()
            except subprocess.TimeoutExpired:
                process.kill()
                error = process.communicate()[1].decode() + "(did not end)"
            if process.returncode != 0 or error:
                bad.append((i, way, args, round(moment, 3), process.returncode, error))
                print("FAILED:", bad[-1], flush=True)
    check(not bad, f"{QUITS - len(bad)} of {QUITS} quits end with 0 and no word")


def piece_all():
    quit_all()


xwindow.main(globals())
