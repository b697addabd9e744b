"""The rule of one direction: compute/base/ knows nothing but libc, jansson and utf8proc;
compute/ knows no SDL, render/ or app/; render/ knows nothing of app/, and of compute/ only
compute/base/; only app/scene*.c joins compute/run.h and render/view.h;
the pure files call no clock, no allocator, no random numbers and no SDL.

    check_includes.py SOURCE_DIR BUILD_DIR

Reads the #include lines of the sources and the undefined symbols of the objects.
"""
import pathlib
import re
import subprocess
import sys

source = pathlib.Path(sys.argv[1])
build = pathlib.Path(sys.argv[2])
failures = []
checked = 0


def includes(path):
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(), re.M)


def is_scene(path):
    return re.fullmatch(r"(scene|panel|lab|lab_\w+|panel_\w+)\w*\.[ch]", path.name) is not None


def owned(folder):
    return {p.name for p in (source / folder).rglob("*.h")}


SDL = re.compile(r"^SDL")
LIBRARIES = {
    "compute": re.compile(r"^(SDL|ft2build|fontconfig/|png\.h|libav|libsw)"),
    "render": re.compile(r"^(jansson|cuda)"),
}
BASE = "compute/base/"  # seen by everyone
FOREIGN = {
    "compute": ("render", "app"),
    "render": ("compute", "app"),
}
for folder, others in FOREIGN.items():
    names = {name for other in others for name in owned(other)} - owned(folder)
    for path in sorted((source / folder).rglob("*.[ch]")):
        for include in includes(path):
            checked += 1
            prefix = include.split("/")[0]
            is_base = include.startswith(BASE)
            if (prefix in others and not is_base) or include in names:
                failures.append(f"{path}: {folder}/ must not include {include}")
            if LIBRARIES[folder].search(include):
                failures.append(f"{path}: {folder}/ must not include {include}")

for path in sorted((source / BASE).glob("*.[ch]")):
    for quoted in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.M):
        if not quoted.startswith(BASE):
            failures.append(f"{path}: {BASE} must not include {quoted}")

SDL_IN_RENDER = {"draw.c", "surface.c", "window.c", "text.c", "fonts.c", "fonts.h", "atlas.c"}
for path in sorted((source / "render").rglob("*.[ch]")):
    if path.name not in SDL_IN_RENDER and any(SDL.search(i) for i in includes(path)):
        failures.append(f"{path}: not one of the files of render/ that may know SDL")
for path in sorted((source / "app").rglob("*.[ch]")):
    found = includes(path)
    checked += len(found)
    knows_both = any(i.endswith("run.h") for i in found) and any(i.endswith("view.h") for i in found)
    if knows_both and not is_scene(path):
        failures.append(f"{path}: only scene*.c includes both run.h and view.h")
    if any(SDL.search(i) for i in found) and path.name not in {"input.c", "version_cmd.c"}:
        failures.append(f"{path}: app/ reaches SDL only in input.c (and names its version)")

# Pure files: by name, what their objects may not call.
PURE = {
    "app": ["scene.c", "scene_tokens.c", "scene_words.c", "playhead.c", "actions.c"]
    + [p.name for pattern in ("actions_*.c", "panel*.c", "lab_*.c")
       for p in (source / "app").glob(pattern)]
    + ["lab.c", "guess.c", "editor.c", "frame.c", "pointer.c"],
    "render": ["layout.c", "theme.c", "view.c", "cmdlist.c"]
    + [p.name for p in (source / "render").glob("paint*.c")],
}
IMPURE = re.compile(
    r"^(SDL_|TTF_|malloc|calloc|realloc|free$|clock_gettime|gettimeofday|time$|rand|srand|random|"
    r"getenv|fopen|open$|read$|write$|nanosleep|pthread_)"
)
for folder, names in PURE.items():
    for name in names:
        objects = list(build.rglob(f"{folder}/{name}.o"))
        if not objects:
            failures.append(f"{folder}/{name}: no object found under {build}")
            continue
        symbols = subprocess.run(
            ["nm", "--undefined-only", "--format=posix", str(objects[0])],
            check=True, capture_output=True, text=True).stdout.split("\n")
        checked += 1
        for line in symbols:
            symbol = line.split(" ")[0].split("@")[0]
            if IMPURE.search(symbol):
                failures.append(f"{folder}/{name}: calls {symbol}, but must be pure")

# SDL_Render* is drawn through one file only.
for path in sorted((source / "render").rglob("*.c")) + sorted((source / "app").rglob("*.c")):
    if path.name in {"draw.c", "surface.c", "window.c"}:
        continue
    if re.search(r"\bSDL_Render(?!_)\w*\s*\(", path.read_text()):
        failures.append(f"{path}: SDL_Render* belongs in render/draw.c")

print("\n".join(failures) or f"{checked} includes and objects follow the rule")
sys.exit(1 if failures or checked < 100 else 0)
