#!/usr/bin/env python3
"""Every language says the same: the same keys as English, the same {values} in each text, and
[words] that its glossary has. Every key that the code asks for is there, and no other."""
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "assets", "languages")
SOURCES = ("app", "render", os.path.join("compute", "base"))
KEY = re.compile(r'"([a-z]+(?:\.[a-z0-9_]+)+)"')
FILES = (".h", ".c", ".json", ".gguf", ".txt", ".png", ".so", ".mp4")
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
                    if not key.endswith(FILES) and key not in RETIRED:
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


def main():
    codes = sorted(name[:-5] for name in os.listdir(FOLDER)
                   if name.endswith(".json") and "schema" not in name)
    english = read("en")
    for code in codes:
        language = read(code)
        compare(code, english, language)
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
