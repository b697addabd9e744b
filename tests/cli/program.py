"""Runs tokendrip as a user would: the program, a folder of its own, exit codes.

The program comes from the environment variable TOKENDRIP or the first argument,
the source tree from SOURCE_DIR. A test file calls `main()`; without a program it
is skipped with exit code 77.
"""
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest

if "TOKENDRIP" not in os.environ and len(sys.argv) > 1 and os.path.exists(sys.argv[1]):
    os.environ["TOKENDRIP"] = sys.argv.pop(1)
PROGRAM = os.path.abspath(os.environ.get("TOKENDRIP", "build/tokendrip"))
SOURCE_DIR = os.environ.get("SOURCE_DIR") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMEOUT_S = 300


class Case(unittest.TestCase):
    """A test in an empty folder; what it leaves there is part of the result."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tokendrip-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def terminal(self):
        """Both ends of a terminal; skips where the system has none to give."""
        try:
            return pty.openpty()
        except OSError as error:
            self.skipTest(f"no terminal here: {error}")

    def path(self, name):
        return os.path.join(self.folder, name)

    def files(self):
        return sorted(os.listdir(self.folder))

    def start(self, *args, **more):
        options = dict(cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       stdin=subprocess.DEVNULL)
        options.update(more)
        return subprocess.Popen([PROGRAM, *args], **options)

    def run_program(self, *args, **more):
        """(exit code, stdout, stderr); the texts are bytes."""
        data = more.pop("input", None)
        if data is not None:
            more["stdin"] = subprocess.PIPE
        process = self.start(*args, **more)
        try:
            out, err = process.communicate(data, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.fail("tokendrip %s did not end" % " ".join(args))
        return process.returncode, out, err

    def succeed(self, *args, **more):
        """stdout of a run that must end well and complain about nothing."""
        code, out, err = self.run_program(*args, **more)
        self.assertEqual((code, err), (0, b""), "tokendrip %s" % " ".join(args))
        return out

    def refuse(self, expected_code, says, *args, **more):
        """A run that must fail with one line that says `says`, and no output."""
        code, out, err = self.run_program(*args, **more)
        text = err.decode()
        self.assertEqual(code, expected_code, "tokendrip %s: %s" % (" ".join(args), text))
        self.assertRegex(text, r"\Atokendrip: [^\n]+\n\Z")
        self.assertIn(says, text)
        self.assertEqual(out, b"")
        return text


def main():
    if not os.access(PROGRAM, os.X_OK):
        print("skipped: no program at %s; set TOKENDRIP" % PROGRAM)
        sys.exit(77)
    unittest.main(verbosity=2)
