"""The commands that print: help, version, devices, inspect, describe, measure.

What they say, where they say it (results on standard output, one line of
complaint on standard error) and how they exit.
"""
import json
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import time
import unittest

import program

COMMANDS = ["play", "record", "measure", "describe", "devices", "models", "inspect"]
MODEL = os.path.join(program.SOURCE_DIR, "assets", "model", "tokendrip.gguf")
LANGUAGES = os.path.join(program.SOURCE_DIR, "assets", "languages")
DEJAVU = "/usr/share/fonts/truetype/dejavu"


def golden_answer():
    """The bundled model's answer to the default prompt, from the training script."""
    path = os.path.join(program.SOURCE_DIR, "assets", "model", "golden.json")
    with open(path, encoding="utf-8") as file:
        return json.load(file)["prompts"][0]["text"].split("</s>")[0].strip()


class Help(program.Case):
    def test_help_goes_to_stdout_and_fits_a_screen(self):
        for args in (["--help"], ["help"], *[[c, "--help"] for c in COMMANDS]):
            lines = self.succeed(*args).decode().split("\n")
            self.assertLessEqual(len(lines), 41)
            self.assertLessEqual(max(map(len, lines)), 80)
            self.assertTrue(lines[0].startswith("Usage: tokendrip"))

    def test_the_first_page_leads_to_all_options_of_the_window(self):
        first = self.succeed("--help").decode()
        self.assertIn("tokendrip play --help lists all", first)
        self.assertNotIn("--fresh", first)
        self.assertEqual(first, self.succeed("help").decode())
        page = self.succeed("play", "--help").decode()
        self.assertEqual(page, self.succeed("help", "play").decode())
        options = re.findall(r"^  (--[a-z-]+)", page, re.M)
        for name in ("--mode", "--lesson", "--lang", "--chapter", "--page", "--compare",
                     "--describe", "--calm", "--fresh"):
            self.assertIn(name, options)
        window = set(re.findall(r"^  (--[a-z-]+)", first, re.M)) - {"--version"}
        self.assertLess(window, set(options))

    def test_version_names_the_libraries_and_formats(self):
        text = self.succeed("--version").decode()
        self.assertRegex(text, r"\Atokendrip \d+\.\d+\.\d+\n")
        for word in ("SDL 2.", "SDL_ttf 2.", "cpu", "y4m", "png"):
            self.assertIn(word, text)


class BadUsage(program.Case):
    def test_bad_usage_exits_2_with_one_line(self):
        cases = [
            (["recrod"], "Did you mean record?"),
            (["--promt", "x"], "Did you mean --prompt?"),
            (["record"], "record needs OUT"),
            (["record", "a.mp4", "--fps", "0"], "--fps takes"),
            (["record", "a.mp4", "--size", "20000x20000"], "--size takes"),
            (["measure", "--fps", "60"], "measure takes no --fps"),
            (["measure", "--repeats", "102"], "from 1 to 101"),
            (["describe", "--run", "r.json", "--model", "m"], "no --model to choose"),
            (["--model"], "needs a value"),
            (["inspect"], "inspect needs FILE"),
            (["--mode", "theatre"], "stage|show|lesson|lab"),
            (["--chapter", "17"], "from 1 to 16"),
            (["--page", "0"], "from 1 to 3"),
            (["--lesson", "own.json", "--lang", "de"], "Eines von beiden weglassen"),
            (["record", "a.mp4", "--page", "2", "--mode", "lesson"], "belongs to --mode lab"),
            (["record", "a.mp4", "--fresh"], "record takes no --fresh"),
            (["describe", "--chapter", "2"], "describe takes no --chapter"),
            (["--sweep"], "It belongs to: measure"),
        ]
        for args, says in cases:
            self.refuse(2, says, *args)
        self.assertEqual(self.files(), [])

    def test_a_window_without_a_display_exits_3_and_names_the_way_out(self):
        env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        self.refuse(3, "tokendrip record", env=env)


class Devices(program.Case):
    def test_every_device_has_a_line(self):
        lines = self.succeed("devices").decode().splitlines()
        self.assertRegex(lines[0], r"^cpu +\S.*\d+ cores?, \S+, \d+ GiB memory$")
        # Where there is no card the exact reason stands in its place.
        self.assertRegex(lines[1], r"^cuda +(cannot be used: (no CUDA plugin|no NVIDIA driver|"
                                   r"the CUDA plugin|no CUDA)|\S.*GiB)")

    def test_a_card_that_is_not_there_is_refused_by_name(self):
        self.refuse(1, "cuda:63", "measure", "--device", "cuda:63")
        self.refuse(1, "cuda:63", "describe", "--device", "cuda:63")


class Models(program.Case):
    """In a home with the bundled model as LM Studio and Ollama keep one."""

    def setUp(self):
        super().setUp()
        folder = self.path(".lmstudio/models/maker/Shop-GGUF")
        os.makedirs(folder)
        shutil.copy(MODEL, os.path.join(folder, "Shop-F16.gguf"))
        with open(os.path.join(folder, "Broken.gguf"), "wb") as file:
            file.write(b"GGUF" + bytes(4))
        tags = self.path(".ollama/models/manifests/registry.ollama.ai/library/shop")
        os.makedirs(tags)
        os.makedirs(self.path(".ollama/models/blobs"))
        shutil.copy(MODEL, self.path(".ollama/models/blobs/sha256-5a"))
        with open(os.path.join(tags, "latest"), "w", encoding="utf-8") as file:
            json.dump({"layers": [{"mediaType": "application/vnd.ollama.image.model",
                                   "digest": "sha256:5a", "size": 1}]}, file)
        self.env = dict(os.environ, HOME=self.folder)
        for name in ("OLLAMA_MODELS", "LLAMA_CACHE", "HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME"):
            self.env.pop(name, None)

    def listed(self, *args):
        text = self.succeed("models", *args, "--json", "-", env=self.env)
        return [model for model in json.loads(text)["models"]
                if model["path"].startswith(self.folder)]

    def test_every_model_is_listed_with_why_it_does_not_open(self):
        models = self.listed()
        self.assertEqual([(m["where"], m["name"], m["opens"]) for m in models],
                         [("ollama", "shop:latest", True), ("lm-studio", "Broken", False),
                          ("lm-studio", "Shop-F16", True)])
        self.assertEqual(set(models[0]), {"name", "path", "where", "bytes", "parts",
                                          "architecture", "type", "opens", "why"})
        self.assertEqual((models[2]["architecture"], models[2]["type"], models[2]["bytes"]),
                         ("llama", "F16", os.path.getsize(MODEL)))
        self.assertEqual((models[1]["architecture"], models[1]["type"]), (None, None))
        self.assertIn("Broken.gguf: is GGUF version 0", models[1]["why"])
        text = self.succeed("models", env=self.env).decode()
        self.assertRegex(text, r"(?m)^LM Studio\n  Broken .* no: Broken.gguf: is GGUF version 0")
        self.assertRegex(text, r"(?m)^  Shop-F16 +5\.29 MiB  llama +F16 +opens$")

    def test_a_folder_given_is_listed_too(self):
        shutil.copy(MODEL, self.path("a.gguf"))
        names = [model["name"] for model in self.listed(self.folder)]
        self.assertEqual(names[0], self.path("a.gguf"))
        self.refuse(1, "is no folder", "models", "absent", env=self.env)

    def test_a_name_does_what_its_path_does(self):
        for name in ("shop", "shop:latest", "Shop-F16", "maker/Shop-GGUF/shop-f16.gguf", MODEL):
            text = self.succeed("measure", "--text", "--model", name, env=self.env).decode()
            self.assertIn(golden_answer(), text)
        self.assertIn("llama", self.succeed("inspect", "shop", env=self.env).decode())
        self.succeed("describe", "--model", "shop", env=self.env)

    def test_an_unknown_name_gives_the_nearest(self):
        for args in (["measure"], ["describe"], ["record", "x.png"], []):
            self.refuse(1, "Did you mean Shop-F16", *args, "--model", "Shop-F32", env=self.env)
        self.refuse(1, "Did you mean Shop-F16", "inspect", "Shop-F32", env=self.env)


class Inspect(program.Case):
    def test_the_bundled_model_has_a_page_and_its_bound_on_this_machine(self):
        text = self.succeed("inspect", MODEL).decode()
        for line in (r"architecture +llama", r"parameters +2\.8 million", r"layers +8",
                     r"heads +6 of 32, 2 for K and V", r"widths +192, feed-forward 384",
                     r"vocabulary +1,024 tokens", r"context +1,280 tokens",
                     r"types +F16 more than 99 %, F32 less than 1 % of the bytes",
                     r"tokenizer +SentencePiece", r"chat format +none",
                     r"memory +\S+ MiB with a KV cache of \S+ MiB for 1,280 tokens",
                     r"KV cache +\d+ KiB a token", r"at best here +\S+ .s a token, reading \S+ GB/s; .*"):
            self.assertRegex(text, r"(?m)^  %s$" % line)
        self.assertTrue(text.endswith("\ntokendrip can run it.\n"))
        self.assertNotIn("at best here", self.succeed("inspect", "--no-rates", MODEL).decode())

    def test_keys_and_tensors_are_listed_when_asked_for(self):
        self.assertNotIn("token_embd.weight", self.succeed("inspect", "--no-rates", MODEL).decode())
        text = self.succeed("inspect", "--no-rates", "--all", MODEL).decode()
        self.assertIn('general.architecture string "llama"', text)
        self.assertRegex(text, r"\n  token_embd\.weight +F16 +\d+ KiB +\d+ x \d+\n")

    def test_the_page_is_also_json(self):
        page = json.loads(self.succeed("inspect", "--json", "-", MODEL))
        self.assertEqual(list(page), [
            "name", "architecture", "bytes", "parameters", "layers", "width", "heads", "kv_heads",
            "head_width", "feed_forward", "vocabulary", "context", "window", "window_layers",
            "experts", "types", "tokenizer", "pre_tokenizer", "chat_format", "opens", "obstacles",
            "memory_bytes", "cache_token_bytes", "bound"])
        self.assertEqual((page["parameters"], page["opens"], page["obstacles"], page["window"]),
                         (2755776, True, [], None))
        self.assertGreater(page["bound"]["step_ms"], 0)
        self.succeed("inspect", "--no-rates", "--json", "page.json", MODEL)
        with open(self.path("page.json"), encoding="utf-8") as file:
            self.assertIsNone(json.load(file)["bound"])
        self.refuse(1, "exists", "inspect", "--json", "page.json", MODEL)

    def test_of_many_tensors_400_are_listed_and_all_are_counted(self):
        count, floats = 800, 8  # 32 bytes a tensor, which is also the alignment
        with open(self.path("many.gguf"), "wb") as file:
            file.write(b"GGUF" + struct.pack("<IQQ", 3, count, 0))
            for i in range(count):
                name = b"t%03d" % i
                file.write(struct.pack("<Q", len(name)) + name)
                file.write(struct.pack("<IQIQ", 1, floats, 0, 4 * floats * i))
            file.write(bytes(-file.tell() % 32 + 4 * floats * count))
        text = self.succeed("inspect", "--all", "many.gguf").decode()
        self.assertEqual(re.findall(r"^\d+ tensors.*|^  and .* more", text, re.M),
                         ["800 tensors, 25 KiB", "  and 400 more"])
        self.assertEqual(re.findall(r"^  t(\d+) ", text, re.M)[-1], "399")

    def test_what_is_no_gguf_is_refused(self):
        with open(self.path("text.gguf"), "w") as file:
            file.write("not a model")
        open(self.path("empty.gguf"), "w").close()
        with open(MODEL, "rb") as source, open(self.path("cut.gguf"), "wb") as file:
            file.write(source.read(100000))
        for name in ("text.gguf", "empty.gguf", "cut.gguf", "absent.gguf"):
            self.refuse(1, name, "inspect", name)
        self.refuse(1, "", "inspect", self.folder)

    def test_what_does_not_fit_is_refused_before_its_weights_are_read(self):
        shutil.copyfile(MODEL, self.path("big.gguf"))
        os.truncate(self.path("big.gguf"), 1 << 42)  # a hole: to read it would take hours
        self.assertRegex(
            self.refuse(1, "4 TiB of memory (weights 4 TiB, KV cache of 1280 tokens",
                        "measure", "--device", "cpu", "--model", "big.gguf"),
            r"and \d+(\.\d+)? [MG]iB are free: close other programs")

    def test_weights_that_are_partly_zeros_are_refused_everywhere(self):
        with open(MODEL, "rb") as source:
            data = bytearray(source.read())
        data[len(data) // 2:] = bytes(len(data) - len(data) // 2)  # a download that broke off
        with open(self.path("broken.gguf"), "wb") as file:
            file.write(data)
        says = rb"broken\.gguf: \d+ of its \d+ tensors hold zeros instead of weights, the first is blk"
        self.assertRegex(self.refuse(1, "", "measure", "--model", "broken.gguf"), says.decode())
        self.assertRegex(self.succeed("inspect", "broken.gguf"), b"cannot run it:\n  " + says)

    def test_a_file_of_another_kind_says_why_it_cannot_run(self):
        path = os.path.join(os.environ.get("TOKENDRIP_TESTDATA", os.path.join(
            program.SOURCE_DIR, "..", "shared", "testdata")), "gguf", "gguf-v3-q4-0.gguf")
        if not os.path.exists(path):
            self.skipTest("no test data at " + path)
        text = self.succeed("inspect", path).decode()
        self.assertRegex(text, r"\n  types +Q4_0 100 % of the bytes\n")
        self.assertRegex(text, r"\ntokendrip cannot run it:\n  does not say which architecture"
                               r".*\n  has no tokenizer .*\n  another model is needed\n\Z")


class Describe(program.Case):
    def test_the_lesson_is_told_in_nine_blocks_with_its_figures(self):
        text = self.succeed("describe", "--clock", "lesson").decode()
        self.assertTrue(text.startswith("lesson units, not measured"))
        moments = re.findall(r"^\d+\. (\d+) units,", text, re.M)
        self.assertEqual(moments, ["0", "72", "97", "122", "147", "172", "197", "222", "247"])
        self.assertEqual(re.findall(r"KV cache: (\d+) token", text),
                         ["0", "18", "18", "19", "20", "21", "22", "23", "24"])

    def in_short(self, *args, **more):
        """The lesson's line of every block."""
        text = self.succeed("describe", "--clock", "lesson", *args, **more).decode()
        self.assertEqual(len(re.findall(r"^\d+\. ", text, re.M)), 9)
        return re.findall(r"^   (?:In short|Kurz): (\S.*)$", text, re.M)

    def test_every_language_of_the_lesson_has_a_line_for_every_block(self):
        languages = [name[:2] for name in os.listdir(LANGUAGES) if len(name) == len("en.json")]
        told = set()
        for language in languages:
            lines = self.in_short("--lang", language)
            self.assertEqual(len(lines), 9)
            for line, units, entries in zip(lines[1:], range(72, 248, 25),
                                            (18, 18, 19, 20, 21, 22, 23, 24)):
                self.assertRegex(line, r"\b%d\b" % units)
                self.assertRegex(line, r"\b%d\b" % entries)
            told.add("".join(lines))
        self.assertEqual(len(told), len(languages))
        self.assertEqual(self.in_short(), self.in_short("--lang", "en"))

    def test_a_third_language_is_a_file_and_nothing_else(self):
        shutil.copytree(os.path.join(program.SOURCE_DIR, "assets"), self.path("assets"),
                        ignore=shutil.ignore_patterns("model"))

        def foreign(node):
            """Every letter outside of places and of glossary words becomes a Cyrillic one."""
            if isinstance(node, dict):
                return {key: node[key] if key in ("at", "follows", "shows", "name")
                        else foreign(node[key]) for key in node}
            if isinstance(node, list):
                return [foreign(item) for item in node]
            return re.sub(r"\{[^{}|]*|\[[^\[\]]*\]|[A-Za-z]",
                          lambda m: m[0] if len(m[0]) > 1 else "\u0436", node)

        with open(self.path("assets/languages/en.json"), encoding="utf-8") as file:
            language = json.load(file)
        for part in ("words", "lesson"):
            language[part] = foreign(language[part])
        with open(self.path("assets/languages/xx.json"), "w", encoding="utf-8") as file:
            json.dump(language, file)
        text = self.succeed("describe", "--clock", "lesson", "--lang", "xx",
                            env={"TOKENDRIP_ASSETS": self.path("assets")}).decode()
        self.assertIn("\u0436", text)
        text = re.sub(r'"[^"]*"|<[^>]*>', "", text)  # tokens
        names = {"module", "units", "Your", "par", "cel", "parcel", "arrives", "today"}
        self.assertEqual(set(re.findall(r"[A-Za-z]{2,}", text)) - names, set())

    def test_a_lesson_of_ones_own_tells_in_its_words(self):
        with open(os.path.join(LANGUAGES, "en.json"), encoding="utf-8") as file:
            text = json.dumps(json.load(file)["lesson"], ensure_ascii=False)
        with open(self.path("own.json"), "w", encoding="utf-8") as file:
            file.write(text.replace("The prompt is ready", "All is prepared"))
        lines = self.in_short("--lesson", "own.json")
        self.assertEqual(len(lines), 9)
        self.assertTrue(lines[0].startswith("All is prepared"), lines[0])
        # One that has no word about single events.
        lesson = json.loads(text)
        lesson["chapters"] = [c for c in lesson["chapters"] if "follows" not in c]
        with open(self.path("own.json"), "w", encoding="utf-8") as file:
            json.dump(lesson, file)
        self.assertEqual(self.in_short("--lesson", "own.json"), [])

    def test_a_lesson_that_was_asked_for_must_be_there(self):
        self.refuse(1, "absent.json", "describe", "--clock", "lesson", "--lesson", "absent.json")
        with open(self.path("cut.json"), "w") as file:
            file.write('{\n  "name": \n')
        self.refuse(1, "cut.json:", "describe", "--clock", "lesson", "--lesson", "cut.json")
        for language in ("xx", "../en", "e n"):
            self.refuse(1, "en", "describe", "--clock", "lesson", "--lang", language)

    def test_the_walk_is_whole_without_any_lesson(self):
        for name in ("schedules", "languages"):
            shutil.copytree(os.path.join(program.SOURCE_DIR, "assets", name),
                            self.path("assets/" + name))
        env = {"TOKENDRIP_ASSETS": self.path("assets")}
        os.remove(self.path("assets/languages/de.json"))
        with open(self.path("assets/languages/en.json"), "r+", encoding="utf-8") as file:
            language = json.load(file)
            del language["lesson"]
            file.seek(0)
            file.truncate()
            json.dump(language, file)
        self.assertEqual(self.in_short(env=env), [])
        self.refuse(1, "there are en", "describe", "--clock", "lesson", "--lang", "de", env=env)
        os.remove(self.path("assets/languages/en.json"))
        self.refuse(1, "languages/en.json", "describe", "--clock", "lesson", env=env)

    def test_stage_0_has_the_lessons_totals(self):
        text = self.succeed("describe", "--schedule", "stage-0").decode()
        self.assertIn("TTFT 120 ms", text)
        self.assertIn("decode 4.00 s, E2E 4.10 s, decode share 98 %", text)

    def test_a_measurement_tells_the_models_own_words(self):
        text = self.succeed("describe", "--repeats", "3").decode()
        self.assertTrue(text.startswith("measured "))
        self.assertIn("18 prompt tokens, 7 answer tokens", text)
        self.assertIn("Answer: %s (7 tokens)" % golden_answer(), text)
        # P + N - 1 entries at the end.
        self.assertEqual(re.findall(r"KV cache: (\d+) token", text)[-1], "24")

    def test_output_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            code, _, err = self.run_program("describe", "--clock", "lesson", stdout=full)
        self.assertEqual(code, 1)
        self.assertRegex(err.decode(), r"\Atokendrip: cannot write to standard output[^\n]+\n\Z")

    def test_a_reader_that_leaves_is_no_drama(self):
        process = self.start("describe", "--schedule", "stage-0")
        process.stdout.read(100)
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        # 1, or 0 when all of it fitted into the pipe.
        self.assertIn(process.wait(program.TIMEOUT_S), (0, 1))


class Measure(program.Case):
    KEYS = ["device", "device_name", "threads", "model", "weights", "type", "prompt_tokens",
            "answer_tokens", "repeats", "date", "disturbed", "disturbed_by"]
    FIGURES = ["prefill_ms", "step_ms", "ttft_ms", "tpot_ms", "e2e_ms"]

    def test_the_table_shows_every_figure(self):
        text = self.succeed("measure", "--repeats", "5").decode()
        for name in ("TTFT", "TPOT", "E2E", "prefill", "step"):
            row = re.search(r"^%s +(\d+\.\d{3}) +(\d+\.\d{3}) +(\d+\.\d{3}) +(\d+) " % name, text,
                            re.M)
            self.assertIsNotNone(row, text)
            median, p10, p90 = map(float, row.groups()[:3])
            self.assertTrue(0 < p10 <= median <= p90, text)
            self.assertGreaterEqual(int(row.group(4)), 5)
        for line in ("cold run", "warm-up: ", "stages: the layers add up",
                     "prefill check: same logits"):
            self.assertIn(line, text)

    def test_the_json_has_exactly_the_documented_keys_and_positive_numbers(self):
        found = json.loads(self.succeed("measure", "--repeats", "3", "--json", "-"))
        self.assertEqual(list(found), ["run"] + self.FIGURES + ["floor"])
        self.assertEqual(list(found["run"]), self.KEYS)
        self.assertEqual(list(found["floor"]),
                         ["read_gb_s", "matrix_gflop_s", "prefill_share", "decode_share"])
        for name, value in found["floor"].items():
            self.assertGreater(value, 0, name)
        self.assertEqual(found["run"]["prompt_tokens"], 18)
        self.assertEqual(found["run"]["answer_tokens"], 7)
        self.assertEqual(found["run"]["weights"], "bundled")
        self.assertEqual(found["run"]["repeats"], 3)
        self.assertRegex(found["run"]["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        for name in self.FIGURES:
            spread = found[name]
            self.assertEqual(list(spread), ["median", "p10", "p90"])
            self.assertTrue(0 < spread["p10"] <= spread["median"] <= spread["p90"], name)
        self.assertGreater(found["e2e_ms"]["median"], found["ttft_ms"]["median"])

    def test_one_answer_token_has_no_tpot(self):
        found = json.loads(self.succeed("measure", "--repeats", "3", "--answer-tokens", "1",
                                        "--json", "-"))
        self.assertEqual(found["tpot_ms"], {"median": None, "p10": None, "p90": None})
        self.assertEqual(found["step_ms"], {"median": None, "p10": None, "p90": None})
        self.assertGreater(found["ttft_ms"]["median"], 0)

    def test_no_output_replaces_an_input_another_output_or_a_file_without_overwrite(self):
        model = self.path("m.gguf")
        shutil.copy(os.path.join(program.SOURCE_DIR, "assets/model/tokendrip.gguf"), model)
        os.symlink("m.gguf", self.path("link.gguf"))
        os.link(model, self.path("hard.gguf"))
        with open(self.path("old.json"), "w") as file:
            file.write("old")
        before = os.stat(model)
        for output in ("--save", "--json", "--csv"):
            for name in ("m.gguf", "./m.gguf", "link.gguf", "hard.gguf"):
                self.refuse(1, "same file", "measure", "--model", "m.gguf", output, name,
                            "--overwrite")
            self.refuse(1, "--overwrite", "measure", output, "old.json")
            self.refuse(1, "same file", "measure", "--prompt-file", "old.json", output, "old.json",
                        "--overwrite")
        for first, second in (("--json", "--csv"), ("--json", "--save"), ("--csv", "--save")):
            self.refuse(1, "same file", "measure", first, "new.json", second, "./new.json")
        os.rename(self.path("old.json"), self.path("old.y4m"))
        self.refuse(1, "same file", "record", "old.y4m", "--run", "old.y4m", "--overwrite")
        os.rename(self.path("old.y4m"), self.path("old.json"))
        own = os.path.join(program.SOURCE_DIR, "assets/model/tokendrip.gguf")
        self.refuse(1, "same file", "measure", "--save", own, "--overwrite")
        self.assertEqual(os.stat(model), before)
        self.assertEqual(self.files(), ["hard.gguf", "link.gguf", "m.gguf", "old.json"])
        self.run_program("measure", "--repeats", "3", "--save", "old.json", "--overwrite")
        self.succeed("describe", "--run", "old.json")

    def test_files_are_whole_and_a_saved_run_plays_again(self):
        code, out, err = self.run_program("measure", "--repeats", "3", "--json", "m.json", "--csv",
                                          "m.csv", "--save", "run.json", "--prompt-tokens", "40",
                                          "--answer-tokens", "9")
        self.assertEqual(code, 0)
        self.assertIn(b"TTFT", out)
        self.assertEqual(err, b"saved run.json: tokendrip --run run.json plays it\n")
        self.assertEqual(self.files(), ["m.csv", "m.json", "run.json"])
        with open(self.path("m.json")) as file:
            self.assertEqual(json.load(file)["run"]["prompt_tokens"], 40)
        with open(self.path("m.csv")) as file:
            lines = file.read().splitlines()
        self.assertEqual(len(lines), 6)
        self.assertEqual({line.count(",") for line in lines}, {15})
        with open(self.path("run.json")) as file:
            self.assertIn("traceEvents", json.load(file))

        first = self.succeed("describe", "--run", "run.json")
        self.assertEqual(first, self.succeed("describe", "--run", "run.json"))
        self.assertIn(b"40 prompt tokens, 9 answer tokens", first)
        self.assertTrue(first.startswith(b"measured "))
        charged = self.succeed("describe", "--run", "run.json", "--counting", "lesson")
        self.assertTrue(charged.startswith(b"modelled from a measured run"))
        self.assertIn(b"charged before the first token", charged)

    def test_text_is_the_answer_alone(self):
        self.assertEqual(self.succeed("measure", "--text").decode(), golden_answer() + "\n")
        longer = self.succeed("measure", "--text", "--answer-tokens", "12").decode()
        self.assertTrue(longer.startswith(golden_answer()))
        self.assertNotIn("</s>", longer)

    def test_a_prompt_may_come_from_a_file_or_standard_input(self):
        with open(self.path("prompt.txt"), "w") as file:
            file.write("You are a support agent. Answer from the policy. Where is my parcel?\n")
        text = self.succeed("measure", "--text", "--prompt-file", "prompt.txt").decode()
        self.assertEqual(text, golden_answer() + "\n")
        text = self.succeed("measure", "--text", "--prompt-file", "-",
                            input=b"You are a support agent. Answer from the policy. "
                                  b"Where is my parcel?\n").decode()
        self.assertEqual(text, golden_answer() + "\n")

    def test_a_shape_is_measured_and_says_that_its_words_are_a_script(self):
        args = ["--shape", "stories-110m", "--weights", "q4_0", "--repeats", "3"]
        found = json.loads(self.succeed("measure", *args, "--answer-tokens", "3", "--json", "-"))
        self.assertEqual(found["run"]["model"], "stories-110m")
        self.assertEqual(found["run"]["weights"], "synthetic")
        self.assertEqual(found["run"]["type"], "Q4_0")
        self.assertEqual(found["run"]["answer_tokens"], 3)
        self.assertGreater(found["floor"]["decode_share"], 0)
        text = self.succeed("measure", *args, "--text").decode()
        self.assertTrue(text.startswith("This is a script and not an answer."), text)
        walk = self.succeed("describe", *args, "--answer-tokens", "2").decode()
        self.assertIn("stories-110m · synthetic weights", walk.split("\n")[0])

    def test_what_cannot_run_fails_with_one_line_and_leaves_no_file(self):
        cases = [
            (["--model", "absent.gguf"], "absent.gguf"),
            (["--model", os.path.join(program.SOURCE_DIR, "LICENSE")], "LICENSE"),
            (["--shape", "llama-4-9b"], "the shapes are stories-110m"),
            (["--weights", "q8_0"], "add --shape"),
            (["--prompt-file", "absent.txt"], "absent.txt"),
            (["--prompt", "Where?", "--prompt-tokens", "5"], "--prompt-tokens"),
            (["--answer-tokens", "5000"], "--answer-tokens"),
            (["--prompt-tokens", "2000"], "limit of"),
            (["--json", "no/such/folder.json"], "no folder"),
        ]
        for args, says in cases:
            files = [] if "--json" in args else ["--json", "m.json"]
            self.refuse(1, says, "measure", "--save", "run.json", *files, *args)
        self.refuse(1, "TOKENDRIP_ASSETS", "measure", env={"TOKENDRIP_ASSETS": "/nonexistent"})
        self.assertEqual(self.files(), [])

    def test_the_limit_that_is_named_is_the_models(self):
        self.refuse(1, "pass the model's limit of 8192.", "measure", "--shape", "smollm2-135m",
                    "--answer-tokens", "9000")

    def test_a_signal_stops_a_long_measurement_and_leaves_no_file(self):
        def defaults():  # what is ignored outside must not be ignored here
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        process = self.start("measure", "--prompt-tokens", "1000", "--answer-tokens", "250",
                             "--repeats", "101", "--save", "run.json", "--json", "m.json",
                             preexec_fn=defaults)
        time.sleep(0.7)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        out, err = process.communicate(timeout=program.TIMEOUT_S)
        self.assertLess(time.monotonic() - start, 60)  # the whole takes minutes
        self.assertEqual((process.returncode, out), (130, b""))
        self.assertRegex(err.decode(), r"\Atokendrip: stopped while measuring[^\n]+\n\Z")
        self.assertEqual(self.files(), [])

    def test_sampling_is_repeatable_from_its_seed(self):
        args = ["measure", "--text", "--temperature", "2", "--answer-tokens", "16", "--seed"]
        one = self.succeed(*args, "7")
        self.assertEqual(one, self.succeed(*args, "7"))
        others = {self.succeed(*args, str(seed)) for seed in range(8, 12)}
        self.assertGreater(len(others | {one}), 1)


@unittest.skipUnless(os.path.isdir(DEJAVU), "no DejaVu fonts here")
class Fonts(program.Case):
    NOTE = (b"tokendrip: note: Inter is missing, DejaVu Sans stands in "
            b"(install fonts-inter)\n")

    def fonts_in(self, *folders):
        with open(self.path("fonts.conf"), "w") as file:
            file.write("<fontconfig>" + "".join(f"<dir>{folder}</dir>" for folder in folders) +
                       f"<cachedir>{self.folder}/cache</cachedir></fontconfig>")
        return dict(os.environ, FONTCONFIG_FILE=self.path("fonts.conf"))

    def dejavu_alone(self):
        return self.fonts_in(DEJAVU)

    def test_without_fonts_one_line_names_the_places_searched_and_the_package(self):
        os.mkdir(self.path("none"))
        env = self.fonts_in(self.path("none"), "/nonexistent-fonts")
        window = dict(env, SDL_VIDEODRIVER="dummy", XDG_STATE_HOME=self.folder)
        still = ("record", "a.png", "--clock", "lesson")
        for args, used in ((still, env), (still + ("--lang", "de"), env),
                           (("--clock", "lesson"), window)):
            code, _, err = self.run_program(*args, env=used)
            self.assertEqual(code, 1, err)
            self.assertRegex(err.decode(), r"\Atokendrip: [^\n]+\n\Z")
            self.assertEqual(b"durchsuchten Ordnern" in err, "de" in args)
            for part in (self.path("none"), "apt-get install fonts-dejavu-core fonts-inter"):
                self.assertIn(part.encode(), err)
        self.assertNotIn("a.png", self.files())

    def test_a_font_that_stands_in_for_another_is_told_once(self):
        still = ["record", "a.png", "--clock", "lesson", "--size", "640x480", "--overwrite"]
        self.succeed(*still)
        code, _, err = self.run_program(*still, env=self.dejavu_alone())
        self.assertEqual((code, err), (0, self.NOTE))
        self.succeed(*still, "--quiet", env=self.dejavu_alone())

    def test_the_window_tells_it_too(self):
        env = dict(self.dejavu_alone(), SDL_VIDEODRIVER="dummy", XDG_STATE_HOME=self.folder)
        process = self.start("--clock", "lesson", env=env)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stderr.readline(), self.NOTE)
        process.terminate()
        self.assertEqual(process.communicate(timeout=program.TIMEOUT_S)[1], b"")


class German(program.Case):
    def test_what_fails_under_lang_de_is_told_in_german(self):
        with open(self.path("text.gguf"), "w") as file:
            file.write("not a model")
        os.mkfifo(self.path("pipe.gguf"))
        for code, says, args in (
                (2, "--speed nimmt eine Zahl oder einen Bruch", ("--speed", "x")),
                (2, "es gibt keine Option --colour", ("--colour",)),
                (2, "Eines von beiden weglassen", ("--prompt", "a", "--prompt-file", "b")),
                (1, "text.gguf: ist keine GGUF-Datei", ("--model", "text.gguf")),
                (1, "pipe.gguf: ist eine Pipe", ("--model", "pipe.gguf")),
                (1, "absent.gguf: nicht zu öffnen", ("--model", "absent.gguf")),
                (1, "es gibt keine Form", ("--shape", "llama-9"))):
            self.refuse(code, says, "describe", "--lang", "de", *args)
            self.refuse(code, says, "describe", *args, "--lang=de")


class Environment(program.Case):
    def test_a_terminal_gets_no_raw_names_a_pipe_does(self):
        name = b"tokendrip"
        with open(MODEL, "rb") as file:
            data = file.read()
        at = data.index(name, data.index(b"general.name"))
        with open(self.path("a.gguf"), "wb") as file:
            file.write(data[:at] + b"\xC2\x9B31mtoke" + data[at + len(name):])
        measure = ["measure", "--model", "a.gguf", "--repeats", "1", "--answer-tokens", "2"]
        for i, more in enumerate(([], ["--csv", "-"], ["--json", "-"])):
            saved = ["--save", f"\u009b31m{i}.json"]
            ours, theirs = self.terminal()
            code = self.run_program(*measure, *more, *saved, stdout=theirs, stderr=theirs)[0]
            shown = b""
            while select.select([ours], [], [], 0)[0]:
                shown += os.read(ours, 1 << 16)
            os.close(theirs)
            os.close(ours)
            self.assertEqual(code, 0)
            self.assertNotIn("\u009b".encode(), shown)
            self.assertIn(b"saved \\xc2\\x9b31m", shown)
        err = self.run_program(*measure, *saved, "--overwrite")[2]
        self.assertIn("saved \u009b31m2.json".encode(), err)

    def test_an_empty_environment_is_enough(self):
        text = subprocess.run([program.PROGRAM, "describe", "--clock", "lesson"], env={},
                              cwd="/", capture_output=True, timeout=program.TIMEOUT_S)
        self.assertEqual((text.returncode, text.stderr), (0, b""))


if __name__ == "__main__":
    program.main()
