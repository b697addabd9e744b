#!/usr/bin/env python3
"""Every language says the same: the same keys as English, the same {values} in each text, and
[words] that its glossary has. Every key that the code asks for is there, and no other."""
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "assets", "languages")
SOURCES = ("app", "render", os.path.join("compute", "base"), os.path.join("compute", "run"))
KEY = re.compile(r'"([a-z]+(?:\.[a-z0-9_]+)+)"')
FILES = (".h", ".c", ".cpp", ".json", ".gguf", ".txt", ".png", ".so", ".mp4")
OF_GGUF = ("attention.", "general.", "tokenizer.")  # keys in model files
RETIRED = ("split.question",)  # words of older lesson files, still passed over
SIGN = re.compile(r"\{\{|\}\}|\[\[|\]\]")

problems = []


def read(code):
    with open(os.path.join(FOLDER, code + ".json"), encoding="utf-8") as file:
        return json.load(file)


def values(text):
    return {place.split("|")[0] for place in re.findall(r"\{([^{}]*)\}", SIGN.sub("", text))}


def terms(text):
    return [word.split("|")[-1] for word in re.findall(r"\[([^\[\]]*)\]", SIGN.sub("", text))]


def asked_for():
    """Key -> a file that asks for it."""
    keys = {}
    for top in SOURCES:
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if not name.endswith((".c", ".h")):
                    continue
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    text = re.sub(r"//.*|#include.*", "", file.read())
                for key in KEY.findall(text):
                    if not key.endswith(FILES) and not key.startswith(OF_GGUF) and key not in RETIRED:
                        keys.setdefault(key, os.path.relpath(path, ROOT))
    return keys


def compare(code, english, other):
    for key in english["words"]:
        if key not in other["words"]:
            problems.append(f"{code}: {key} is missing")
        elif values(english["words"][key]) != values(other["words"][key]):
            problems.append(f"{code}: {key}: other places than in English")
    for key in other["words"]:
        if key not in english["words"]:
            problems.append(f"{code}: {key} is unknown")


# Rooms whose texts are seen: on the screen, in films, in what describe prints.
SEEN = ("render/paint", "app/picture",
        "app/window", "app/state", "app/lesson",
        "app/runs/session.c", "app/command/describe.c", "compute/run/words.c")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
# What a text is not: a key, a file or option name, a name in a file format, an environment
# variable, a printf format without words.
PLAIN = re.compile(r"^[a-z0-9_]*$|^[a-z]+(\.[a-z0-9_]+)+$|^[A-Z_][A-Z0-9_]*$|"
                   r"^[%\w/.-]*\.(json|png|gguf)$|"
                   r"^tokendrip%s%s$|^FLOP/s$")
# Calls whose texts are reasons (told in English, translated under "reasons"), names or notes
# for a terminal.
CALLS = re.compile(r"\b(why_set|fail|refuse|jsonin_\w+|jsonout_\w+|getenv|read_choice|read_int|strcmp|"
                   r"strncmp|strstr|player_trace|strftime|fprintf\(stderr|_Static_assert|"
                   r"argparse_row|refuse_unknown|need_object|snprintf\(problem)\b|"
                   r"->problem|broken\(|problem, 160")


def statements(text):
    """Pieces of code between ; { and }, with comments and includes taken out."""
    text = re.sub(r"//[^\n]*|#[^\n]*", "", text)
    piece, pieces, quoted = "", [], False
    for at, sign in enumerate(text):
        if sign == '"' and text[at - 1] != "\\" and text[at - 1:at + 2] != "'\"'":
            quoted = not quoted
        piece += sign
        if not quoted and sign in ";{}":
            pieces.append(piece)
            piece = ""
    return pieces


def check_seen(path):
    with open(path, encoding="utf-8") as file:
        pieces = statements(file.read())
    for piece in pieces:
        if CALLS.search(piece):
            continue
        for text in LITERAL.findall(piece):
            words = re.sub(r"%[-+ #0-9.*lzhjt]*[a-zA-Z]|\\x[0-9A-Fa-f]{2}|\\.", "", text)
            if re.search(r"[A-Za-z]{2}", words) and not PLAIN.match(text):
                problems.append(f"{os.path.relpath(path, ROOT)}: \"{text}\" is seen: "
                                "make it a key of the languages' words")


# Rooms whose reasons reach the screen or the terminal: every other language has them all.
TOLD = ("app/runs", "app/options", "app/command", "app/window", "compute/engine",
        "compute/measure", "compute/backend", "compute/cpu", "compute/cuda", "compute/gguf",
        "compute/tokenizer", "compute/model", "compute/run", "compute/analysis",
        "app/lesson", "app/lesson/load", "compute/base", "compute/file", "render/pixel", "render/film")
REASON = re.compile(r'\b(?:why_set|fail\w*|\w*refuse|jsonin_fail|sink_keep|why_spoken)\((?:[^"();]|\([^()]*\))*?'
                    r'((?:"(?:[^"\\]|\\.)*"\s*)+)[,)]')
CONVERSION = re.compile(r"%[-+ #0-9.*lzhjt]*[a-zA-Z%]")
WIDTHS = {"PRId64": '"ld"', "PRIu64": '"lu"', "PRIu32": '"u"'}  # as on this system


def code_of(place):
    """The texts of a room's files."""
    path = os.path.join(ROOT, place)
    for name in sorted(os.listdir(path)):
        if name.endswith((".c", ".cu")):
            with open(os.path.join(path, name), encoding="utf-8") as file:
                text = re.sub(r"(?<!:)//[^\n]*", "", file.read())
            yield re.sub("|".join(WIDTHS), lambda match: WIDTHS[match[0]], text)


def joined(literals):
    return "".join(LITERAL.findall(literals)).replace('\\"', '"')


def reasons_of(place):
    """The formats of a room's reasons."""
    for code in code_of(place):
        for match in REASON.findall(code):
            text = joined(match)
            if re.search("[A-Za-z]{3}", CONVERSION.sub("", text)):
                yield text


def texts_of(place):
    """All texts of a room: some reasons stand in tables."""
    for code in code_of(place):
        yield from (joined(match) for match in re.findall(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', code))


def check_reasons(code, reasons):
    told = {text for place in TOLD for text in reasons_of(place)}
    for text in sorted(told - set(reasons)):
        problems.append(f"{code}: no reason for \"{text}\"")
    for text in sorted(set(reasons) - {text for place in TOLD for text in texts_of(place)}):
        problems.append(f"{code}: nobody gives the reason \"{text}\"")
    for text, other in reasons.items():
        if CONVERSION.findall(text) != CONVERSION.findall(other):
            problems.append(f"{code}: \"{text}\": other conversions than in English")


def check_all_seen():
    for place in SEEN:
        path = os.path.join(ROOT, place)
        files = [path] if path.endswith(".c") else [
            os.path.join(folder, name) for folder, _, names in os.walk(path)
            for name in names if name.endswith((".c", ".h"))]
        for file in sorted(files):
            check_seen(file)


def main():
    check_all_seen()
    codes = sorted(name[:-5] for name in os.listdir(FOLDER)
                   if name.endswith(".json") and "schema" not in name)
    english = read("en")
    for code in codes:
        language = read(code)
        compare(code, english, language)
        if code != "en":
            check_reasons(code, language["reasons"])
        glossary = {term["name"].lower() for term in language["lesson"]["glossary"]}
        for key, text in language["words"].items():
            for term in terms(text):
                if term.lower() not in glossary:
                    problems.append(f"{code}: {key}: the glossary has no [{term}]")
    keys = asked_for()
    for key, path in sorted(keys.items()):
        if key not in english["words"]:
            problems.append(f"{path} asks for {key}, which no language has")
    for key in english["words"]:
        if key not in keys:
            problems.append(f"nobody asks for {key}")
    for problem in problems:
        print(problem)
    print(f"{len(english['words'])} words, {len(keys)} keys in the code, languages: {', '.join(codes)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
