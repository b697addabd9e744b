"""What the window costs, under Xvfb, as one line of JSON.

    bench_window.py TOKENDRIP [ROUNDS]

first_frame_ms: from starting the process to the first frame presented, median.
paused_cpu_percent: CPU time of a paused window over 10 s.
step_with_window_over_without: TPOT of the run shown in the window ÷ median TPOT of
`tokendrip measure`, taken in turn so that both see the same machine; medians, and the
best of each, which a machine shared with others disturbs less.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import xwindow  # noqa: E402

PROGRAM = xwindow.PROGRAM = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 7


def traced(display, *args, seconds):
    """Runs the window for a while; returns start, and the trace lines as pairs."""
    env = dict(display.env, TOKENDRIP_TRACE="1")
    start_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    process = subprocess.Popen([PROGRAM, *args], env=env, stderr=subprocess.PIPE, text=True)
    time.sleep(seconds)
    process.terminate()
    _, stderr = process.communicate()
    pairs = [line.split()[1:] for line in stderr.split("\n") if line.startswith("trace ")]
    return start_ns, {name: int(value) for name, value in pairs}


def measured_tpot_ns():
    out = subprocess.run([PROGRAM, "measure", "--json", "-"], check=True, capture_output=True)
    return json.loads(out.stdout)["tpot_ms"]["median"] * 1e6


def paused_percent(display):
    window = xwindow.Window(display, "--clock", "lesson")
    window.key("space")
    window.settled()
    ticks = window.cpu_ticks()
    time.sleep(10)
    used = window.cpu_ticks() - ticks
    window.quit()
    return 100 * used / os.sysconf("SC_CLK_TCK") / 10


first_ms, with_window, without = [], [], []
with xwindow.Display() as display:
    for _ in range(ROUNDS):
        start_ns, trace = traced(display, "--size", "1280x720", seconds=3)
        first_ms.append((trace["first_frame_ns"] - start_ns) / 1e6)
        with_window.append(trace["shown_tpot_ns"])
        without.append(measured_tpot_ns())
    percent = paused_percent(display)
print(json.dumps({
    "bench": "window",
    "rounds": ROUNDS,
    "first_frame_ms": round(statistics.median(first_ms), 1),
    "paused_cpu_percent": round(percent, 2),
    "tpot_with_window_us": round(statistics.median(with_window) / 1e3, 1),
    "tpot_without_us": round(statistics.median(without) / 1e3, 1),
    "step_with_window_over_without":
        round(statistics.median(with_window) / statistics.median(without), 3),
    "best_with_window_us": round(min(with_window) / 1e3, 1),
    "best_without_us": round(min(without) / 1e3, 1),
    "best_step_with_window_over_without": round(min(with_window) / min(without), 3),
}))
