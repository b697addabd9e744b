"""Recording: exact frames, honest tags, nothing half-written under a final name.

Films are made in an empty environment without any display and are looked at with
ffprobe; where that is missing those tests are skipped and say so.
"""
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import time
import unittest

import program

LESSON = ["--clock", "lesson"]
SMALL = ["--size", "640x480", "--fps", "30"]
needs_ffprobe = unittest.skipUnless(shutil.which("ffprobe"), "no ffprobe here")


def probe(path):
    """The one stream of a film, its frames counted by decoding, and its container."""
    out = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_streams",
                          "-show_format", "-of", "json", path], capture_output=True, check=True)
    found = json.loads(out.stdout)
    assert len(found["streams"]) == 1
    return found["streams"][0], found["format"]


def boxes(path):
    """Names of an MP4's top-level boxes, in order."""
    names = []
    with open(path, "rb") as file:
        while True:
            head = file.read(8)
            if len(head) < 8:
                return names
            size, name = struct.unpack(">I4s", head)
            start = file.tell() - 8
            if size == 1:
                size = struct.unpack(">Q", file.read(8))[0]
            names.append(name.decode())
            file.seek(start + size)


def y4m_frames(data):
    head, rest = data.split(b"\n", 1)
    width, height = (int(re.search(rb" %s(\d+)" % key, head).group(1)) for key in (b"W", b"H"))
    size = width * height * 3 // 2
    frames = []
    while rest:
        assert rest.startswith(b"FRAME\n")
        frames.append(rest[6:6 + size])
        assert len(frames[-1]) == size
        rest = rest[6 + size:]
    return head, frames


class Film(program.Case):
    def test_y4m_has_the_exact_bytes(self):
        out = self.succeed("record", "out.y4m", *LESSON, *SMALL, "--from", "1s", "--to", "2s")
        self.assertEqual(out, b"saved out.y4m: 30 frames, 1.0 s, 640x480\n")
        with open(self.path("out.y4m"), "rb") as file:
            data = file.read()
        head, frames = y4m_frames(data)
        self.assertTrue(head.startswith(b"YUV4MPEG2 W640 H480 F30:1 "))
        self.assertEqual(len(frames), 30)
        self.assertEqual(len(data), len(head) + 1 + 30 * (6 + 640 * 480 * 3 // 2))
        self.assertEqual(self.files(), ["out.y4m"])

    def test_standard_output_carries_the_same_film_and_nothing_else(self):
        args = [*LESSON, *SMALL, "--from", "1s", "--to", "1500ms"]
        self.succeed("record", "out.y4m", *args)
        code, out, err = self.run_program("record", "-", *args)
        self.assertEqual((code, err), (0, b"saved -: 15 frames, 0.5 s, 640x480\n"))
        with open(self.path("out.y4m"), "rb") as file:
            self.assertTrue(out == file.read())  # assertEqual would print megabytes

    def test_frames_do_not_depend_on_where_a_cut_starts(self):
        _, whole = y4m_frames(self.succeed("record", "-", *LESSON, *SMALL, "--quiet", "--to", "3s"))
        _, cut = y4m_frames(self.succeed("record", "-", *LESSON, *SMALL, "--quiet", "--from", "2s",
                                         "--to", "3s"))
        self.assertEqual(len(whole), 90)
        self.assertTrue(whole[60:] == cut)
        # It moves, and it waits for a second first.
        self.assertEqual(len(set(whole[:30])), 1)
        self.assertGreater(len(set(whole[30:])), 20)

    def test_a_film_covers_lead_run_and_tail(self):
        # 247 units of a millisecond at real time, a second before, two after.
        code, out, _ = self.run_program("record", "out.y4m", *LESSON, "--size", "640x480", "--fps",
                                        "10", "--speed", "1")
        self.assertEqual((code, out), (0, b"saved out.y4m: 34 frames, 3.4 s, 640x480\n"))

    @needs_ffprobe
    def test_mp4_has_frames_size_tags_and_duration(self):
        self.succeed("record", "out.mp4", *LESSON, "--size", "1280x720", "--fps", "30000/1001",
                     "--to", "2s", env={})
        stream, container = probe(self.path("out.mp4"))
        self.assertEqual(int(stream["nb_read_frames"]), 60)
        self.assertEqual((stream["width"], stream["height"]), (1280, 720))
        self.assertEqual(stream["codec_name"], "h264")
        self.assertEqual(stream["pix_fmt"], "yuv420p")
        self.assertEqual(stream["color_range"], "tv")
        for key in ("color_space", "color_primaries", "color_transfer"):
            self.assertEqual(stream[key], "bt709", key)
        self.assertEqual(stream["avg_frame_rate"], "30000/1001")
        self.assertEqual(stream["r_frame_rate"], "30000/1001")
        self.assertAlmostEqual(float(container["duration"]), 60 * 1001 / 30000, delta=0.001)
        # The index comes first, so that a film starts before it is loaded.
        names = boxes(self.path("out.mp4"))
        self.assertLess(names.index("moov"), names.index("mdat"))
        self.assertNotIn("moof", names)
        self.assertEqual(self.files(), ["out.mp4"])

    @needs_ffprobe
    def test_a_measured_film_is_full_hd_at_60(self):
        out = self.succeed("record", "out.mp4", "--repeats", "3", "--to", "1500ms", env={})
        self.assertEqual(out, b"saved out.mp4: 90 frames, 1.5 s, 1920x1080\n")
        stream, _ = probe(self.path("out.mp4"))
        self.assertEqual(int(stream["nb_read_frames"]), 90)
        self.assertEqual((stream["width"], stream["height"]), (1920, 1080))
        self.assertEqual(stream["avg_frame_rate"], "60/1")

    @needs_ffprobe
    def test_gif_and_webm_have_what_was_asked_for(self):
        for name, codec, size, rate, frames, more in (
                ("out.gif", "gif", (854, 480), "25/1", 25, []),
                ("out.webm", "vp9", (640, 480), "30/1", 30, SMALL)):
            with self.subTest(name):
                code, _, err = self.run_program("record", name, *LESSON, *more, "--from", "500ms",
                                                "--to", "1500ms", env={})
                if code == 1 and b"libvpx" in err:
                    self.skipTest("no VP9 encoder here")
                self.assertEqual((code, err), (0, b""))
                stream, container = probe(self.path(name))
                self.assertEqual(stream["codec_name"], codec)
                self.assertEqual((stream["width"], stream["height"]), size)
                self.assertEqual(stream["avg_frame_rate"], rate)
                self.assertEqual(int(stream["nb_read_frames"]), frames)
                self.assertAlmostEqual(float(container["duration"]), 1, delta=0.045)

    def test_a_saved_run_is_filmed_to_the_same_bytes(self):
        self.run_program("measure", "--repeats", "3", "--save", "run.json")
        args = ["record", "-", "--run", "run.json", *SMALL, "--from", "3s", "--to", "3500ms",
                "--quiet"]
        one = self.succeed(*args)
        self.assertEqual(len(y4m_frames(one)[1]), 15)
        self.assertTrue(one == self.succeed(*args))
        for more in (["--counting", "lesson"], ["--projector"], ["--theme", "contrast"]):
            self.assertTrue(one != self.succeed(*args, *more), more)


class Stills(program.Case):
    NAMES = ["0001-prompt.png", "0002-prefill.png", "0003-token-1-your.png", "0004-token-2-par.png",
             "0005-token-3-cel.png", "0006-token-4-arrives.png", "0007-token-5-today.png",
             "0008-token-6.png", "0009-token-7-end.png"]

    def size_of(self, name):
        with open(self.path(name), "rb") as file:
            head = file.read(24)
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        return struct.unpack(">II", head[16:24])

    def test_a_folder_gets_one_still_an_event(self):
        out = self.succeed("record", "stills", *LESSON, "--size", "800x600")
        self.assertEqual(out, b"saved stills: 9 stills, 800x600\n")
        self.assertEqual(self.files(), ["stills"])
        self.assertEqual(sorted(os.listdir(self.path("stills"))), self.NAMES)
        for name in self.NAMES:
            self.assertEqual(self.size_of("stills/" + name), (800, 600))
        pictures = set()
        for name in self.NAMES:
            with open(self.path("stills/" + name), "rb") as file:
                pictures.add(hashlib.sha256(file.read()).digest())
        self.assertEqual(len(pictures), 9)

    def test_a_still_shows_its_token_at_rest_where_a_film_shows_the_trail_of_its_drop(self):
        args = [*LESSON, "--size", "640x480", "--speed", "1/100", "--quiet"]
        self.succeed("record", "stills", *args)
        # Event 2, at 97 units: 1 s of lead and 9.7 s.
        self.succeed("record", "film.png", *args, "--from", "10.7s")
        with open(self.path("stills/0003-token-1-your.png"), "rb") as still:
            with open(self.path("film.png"), "rb") as film:
                self.assertTrue(still.read() != film.read())
        # Before the first token both are the same picture.
        self.succeed("record", "film.png", *args, "--from", "1s", "--overwrite")
        with open(self.path("stills/0001-prompt.png"), "rb") as still:
            with open(self.path("film.png"), "rb") as film:
                self.assertTrue(still.read() == film.read())

    def test_events_of_the_run_and_stills_are_as_many(self):
        self.run_program("measure", "--repeats", "3", "--save", "run.json", "--prompt-tokens", "5",
                         "--answer-tokens", "4")
        self.succeed("record", "stills/", "--run", "run.json", "--size", "640x480", "--quiet")
        told = self.succeed("describe", "--run", "run.json").decode()
        blocks = re.findall(r"^\d+\. ", told, re.M)
        self.assertEqual(len(os.listdir(self.path("stills"))), len(blocks))
        self.assertEqual(len(blocks), 5)

    def test_a_lesson_is_recorded_in_the_chapter_that_follows_the_run(self):
        self.succeed("record", "plain/", *LESSON, "--mode", "lesson", "--size", "640x480")
        self.succeed("record", "second/", *LESSON, "--mode", "lesson", "--chapter", "2",
                     "--size", "640x480")
        names = sorted(os.listdir(self.path("plain")))
        self.assertEqual(len(names), 9)
        self.assertEqual(names, sorted(os.listdir(self.path("second"))))
        for name in names:
            with open(self.path("plain/" + name), "rb") as one, \
                    open(self.path("second/" + name), "rb") as other:
                self.assertEqual(one.read(), other.read())

    def test_a_png_is_one_still(self):
        out = self.succeed("record", "end.png", *LESSON, "--size", "641x481")
        self.assertEqual(out, b"saved end.png: 1 still, 641x481\n")
        self.assertEqual(self.size_of("end.png"), (641, 481))
        self.succeed("record", "start.png", *LESSON, "--size", "641x481", "--from", "0s")
        with open(self.path("end.png"), "rb") as end, open(self.path("start.png"), "rb") as start:
            self.assertNotEqual(end.read(), start.read())


class Refusals(program.Case):
    def test_what_cannot_be_recorded_is_refused_and_leaves_nothing(self):
        cases = [
            (["out.avi"], ".mp4"),
            (["no/such/folder/out.mp4"], "folder"),
            (["out.mp4", "--size", "1281x720"], "--size 1282x720"),
            (["out.mp4", "--size", "320x240"], "640x480"),
            (["out.gif", "--fps", "60"], "25"),
            (["out.mp4", "--from", "500s"], "past the end"),
            (["out.mp4", "--schedule", "module-8"], "module-8"),
            (["/dev/null"], "/dev/null"),
        ]
        for args, says in cases:
            self.refuse(1, says, "record", *args, *LESSON)
        self.refuse(1, "absent.json", "record", "out.mp4", "--run", "absent.json")
        self.assertEqual(self.files(), [])

    def test_an_existing_film_is_kept_unless_told_otherwise(self):
        args = ["record", "out.y4m", *LESSON, *SMALL, "--to", "100ms"]
        with open(self.path("out.y4m"), "wb") as file:
            file.write(b"precious")
        self.refuse(1, "--overwrite", *args)
        with open(self.path("out.y4m"), "rb") as file:
            self.assertEqual(file.read(), b"precious")
        self.succeed(*args, "--overwrite")
        with open(self.path("out.y4m"), "rb") as file:
            self.assertTrue(file.read().startswith(b"YUV4MPEG2"))
        self.assertEqual(self.files(), ["out.y4m"])

    def test_a_terminal_gets_no_film(self):
        ours, theirs = self.terminal()
        code, _, err = self.run_program("record", "-", *LESSON, *SMALL, stdout=theirs)
        os.close(theirs)
        os.close(ours)
        self.assertEqual(code, 1)
        self.assertRegex(err.decode(), r"\Atokendrip: [^\n]*terminal[^\n]*\n\Z")

    def test_a_closed_pipe_ends_the_recording_with_one_line(self):
        process = self.start("record", "-", *LESSON, *SMALL)
        process.stdout.read(1000)
        process.stdout.close()
        err = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(program.TIMEOUT_S), 1)
        self.assertRegex(err.decode(), r"\Atokendrip: [^\n]+\n\Z")

    def test_a_full_disk_never_leaves_a_film_under_its_name(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        for name in ("out.y4m", "out.mp4"):
            code, out, err = self.run_program("record", name, *LESSON, *SMALL, "--to", "6s",
                                              preexec_fn=limit)
            self.assertEqual((code, out), (1, b""), name)
            self.assertRegex(err.decode(), r"\Atokendrip: [^\n]+\n\Z")
            self.assertNotIn(name, self.files())


class Progress(program.Case):
    def test_it_is_shown_on_a_terminal_alone(self):
        args = ["record", "out.y4m", *LESSON, *SMALL, "--to", "1s", "--overwrite"]
        self.succeed(*args)  # standard error is a pipe: not a byte
        ours, theirs = self.terminal()
        code, _, _ = self.run_program(*args, stderr=theirs)
        os.close(theirs)
        shown = os.read(ours, 65536)
        os.close(ours)
        self.assertEqual(code, 0)
        self.assertRegex(shown, rb"frame \d+ of 30, \d+ %")
        self.assertEqual(re.findall(rb"frame [^\r]*?%", shown)[-1], b"frame 30 of 30, 100 %")
        # Wiped at the end.
        self.assertTrue(shown.endswith(b"\r"))

    def test_quiet_is_quiet(self):
        self.assertEqual(self.succeed("record", "out.y4m", *LESSON, *SMALL, "--to", "200ms",
                                      "--quiet"), b"")


class Interrupted(program.Case):
    """Signals in the middle of a film that would take hours."""

    def start_long(self, name, *more):
        # What the program itself ignores must not be ignored from outside.
        def defaults():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
        process = self.start("record", name, *LESSON, "--speed", "1/1000000", "--size", "640x480",
                             *more, preexec_fn=defaults)
        deadline = time.monotonic() + program.TIMEOUT_S
        # Underway once some part file has grown.
        while time.monotonic() < deadline:
            grown = [f for f in self.files()
                     if ".part" in f and os.path.getsize(self.path(f)) > 1000]
            if grown and process.poll() is None:
                time.sleep(0.3)
                return process
            time.sleep(0.02)
        process.kill()
        self.fail("nothing was written: %s" % self.files())

    def end(self, process):
        out, err = process.communicate(timeout=program.TIMEOUT_S)
        return process.returncode, out.decode(), err.decode()

    @needs_ffprobe
    def test_the_first_signal_finishes_the_film(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start_long("out.mp4", "--overwrite")
            if number == signal.SIGINT:
                self.assertNotIn("out.mp4", self.files())
            process.send_signal(number)
            code, out, err = self.end(process)
            self.assertEqual((code, err), (130, ""))
            said = re.match(r"saved out\.mp4: (\d+) frames, [\d.]+ s, 640x480; stopped early\n\Z",
                            out)
            self.assertIsNotNone(said, out)
            stream, _ = probe(self.path("out.mp4"))
            self.assertEqual(int(stream["nb_read_frames"]), int(said.group(1)))
            self.assertEqual(self.files(), ["out.mp4"])

    def test_a_stopped_y4m_is_whole(self):
        process = self.start_long("out.y4m")
        process.send_signal(signal.SIGINT)
        code, out, err = self.end(process)
        self.assertEqual((code, err), (130, ""))
        with open(self.path("out.y4m"), "rb") as file:
            _, frames = y4m_frames(file.read())
        self.assertTrue(out.startswith("saved out.y4m: %d frames" % len(frames)), out)

    def test_two_signals_end_at_once_and_never_leave_a_broken_film(self):
        process = self.start_long("out.mp4")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        code, _, err = self.end(process)
        self.assertEqual(code, 130)
        self.assertLess(time.monotonic() - start, 60)
        parts = [name for name in self.files() if name != "out.mp4"]
        self.assertLessEqual(len(parts), 1)
        for name in parts:
            self.assertIn("'%s'" % name, err)
        if "out.mp4" in self.files() and shutil.which("ffprobe"):
            self.assertGreater(int(probe(self.path("out.mp4"))[0]["nb_read_frames"]), 0)

    def test_a_kill_leaves_the_final_name_free_and_the_old_film_whole(self):
        with open(self.path("out.mp4"), "wb") as file:
            file.write(b"precious" * 200)
        process = self.start("record", "out.mp4", *LESSON, "--speed", "1/1000000", "--size",
                             "640x480", "--overwrite")
        deadline = time.monotonic() + program.TIMEOUT_S
        while time.monotonic() < deadline and len(self.files()) < 2:
            time.sleep(0.02)
        self.assertGreater(len(self.files()), 1)
        time.sleep(0.3)
        process.kill()
        self.end(process)
        with open(self.path("out.mp4"), "rb") as file:
            self.assertEqual(file.read(), b"precious" * 200)



def decoded(path):
    """The first frame's R G B bytes, as FFmpeg makes them of what it takes the file to be."""
    return subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-frames:v", "1", "-f", "rawvideo",
                           "-pix_fmt", "rgb24", "-"], capture_output=True, check=True).stdout


def flat_places(pixels, width, height, size):
    """Corners of the squares of one colour, and the colour."""
    for y in range(0, height - size + 1, size):
        for x in range(0, width - size + 1, size):
            starts = [(row * width + x) * 3 for row in range(y, y + size)]
            color = pixels[starts[0]:starts[0] + 3]
            if all(pixels[at:at + size * 3] == color * size for at in starts):
                yield x, y, color


@unittest.skipUnless(shutil.which("ffmpeg"), "no ffmpeg here")
class Colours(program.Case):
    def check_size(self, width, height):
        size = 16 if width < 3000 else 32
        for theme in ("dark", "projector"):
            args = ["--run", "cpu-amd-epyc-2-cores", "--size", f"{width}x{height}", "--theme", theme,
                    "--from", "8s", "--quiet", "--overwrite"]
            self.succeed("record", "still.png", *args)
            still = decoded(self.path("still.png"))
            places = list(flat_places(still, width, height, size))
            self.assertGreater(len({color for _, _, color in places}), 1)
            for ending in ("mp4", "webm", "gif", "y4m"):
                self.succeed("record", "out." + ending, *args, "--to", "8.2s", "--fps", "10")
                film = decoded(self.path("out." + ending))
                for x, y, color in places:
                    for row in range(y + size // 4, y + size * 3 // 4, 2):
                        at = (row * width + x + size // 4) * 3
                        got = film[at:at + size // 2 * 3]
                        for channel in range(3):
                            part = got[channel::3]
                            worst = max(max(part) - color[channel], color[channel] - min(part))
                            self.assertLessEqual(worst, 4, (theme, ending, x, row, color.hex()))

    def test_a_film_of_640x480_has_the_colours_of_the_picture(self):
        self.check_size(640, 480)

    def test_a_film_of_1024x768_has_the_colours_of_the_picture(self):
        self.check_size(1024, 768)

    def test_a_film_of_1920x1080_has_the_colours_of_the_picture(self):
        self.check_size(1920, 1080)

    def test_a_film_of_3840x2160_has_the_colours_of_the_picture(self):
        self.check_size(3840, 2160)


if __name__ == "__main__":
    program.main()
