"""Who may know whom. The table ROOMS is the whole rule: a folder may include its own
headers and those of the rooms in its row. A row may name only rooms of rows above it, so
there is no circle. Pure rooms call no clock, no allocator, no file and no SDL.

    check_includes.py SOURCE_DIR BUILD_DIR

Reads the #include lines of the sources and the undefined symbols of the objects.
"""
import pathlib
import re
import subprocess
import sys

LIBC, PURE = False, True
# folder: (rooms it may see, libraries it may include besides libc, pure or not)
ROOMS = {
    "compute/base": ("", "jansson.h utf8proc.h", LIBC),
    "compute/run": ("base", "", LIBC),
    "compute/gguf": ("base", "", LIBC),
    "compute/tokenizer": ("base run gguf", "", LIBC),
    "compute/model": ("base run gguf tokenizer", "", LIBC),
    "compute/analysis": ("base run model", "", LIBC),
    "compute/backend": ("base run model analysis", "", LIBC),
    "compute/cpu": ("base run gguf model analysis backend", "immintrin.h", LIBC),
    "compute/cuda": ("base run gguf model analysis backend",
                     "cuda_runtime.h cuda_fp16.h cublasLt.h", LIBC),
    "compute/measure": ("base run tokenizer model analysis backend", "", LIBC),
    "compute/engine": ("base run gguf tokenizer model analysis backend measure", "", LIBC),
    "compute/file": ("base run analysis", "jansson.h", LIBC),
    "render/data": ("base", "", PURE),
    "render/pixel": ("base render/data", "SDL.h SDL_syswm.h SDL_ttf.h fontconfig/fontconfig.h png.h", LIBC),
    "render/paint": ("base render/data render/pixel", "", PURE),
    "render/film": ("base render/pixel", "libav", LIBC),
    "app/lesson": ("base run", "", PURE),
    "app/lesson/load": ("base app/lesson", "jansson.h", LIBC),
    "app/state": ("base run render/paint app/lesson", "", PURE),
    "app/picture": ("base run analysis render/data render/pixel render/paint app/lesson "
                    "app/state", "", PURE),
    "app/runs": ("base run gguf tokenizer model analysis measure engine file "
                 "app/lesson app/state", "", LIBC),
    "app/options": ("base tokenizer model measure render/paint app/state app/runs", "", LIBC),
    "app/command": ("base run model analysis backend measure engine file "
                    "render/film render/pixel render/paint app/lesson app/lesson/load app/state "
                    "app/options app/picture app/runs", "jansson.h SDL.h SDL_ttf.h", LIBC),
    "app/window": ("base run tokenizer render/data render/pixel render/paint app/lesson "
                   "app/lesson/load app/state app/options app/picture app/runs app/command",
                   "SDL.h", LIBC),
    "app": ("app/runs app/options app/command app/window base", "", LIBC),
}
IMPURE = re.compile(
    r"^(SDL_|TTF_|malloc|calloc|realloc|free$|clock_gettime|gettimeofday|time$|rand|srand|random|"
    r"getenv|fopen|open$|read$|write$|nanosleep|pthread_)")
LIBC_HEADERS = re.compile(r"^(sys/|linux/)?[a-z_0-9]+\.h$")
FOREIGN = re.compile(r"^(SDL|jansson|utf8proc|fontconfig|png\.h|lib(av|sw)|cuda|cublas|immintrin)")

source, build = (pathlib.Path(arg) for arg in sys.argv[1:3])
failures = []
checked = 0


def room_of(path):
    """The room of a source file: the longest folder of the table that holds it."""
    parts = pathlib.PurePosixPath(path).parts[:-1]
    return next(("/".join(parts[:n]) for n in range(len(parts), 0, -1)
                 if "/".join(parts[:n]) in ROOMS), None)


def allowed(room):
    rooms = {name if "/" in name else f"compute/{name}" for name in ROOMS[room][0].split()}
    return rooms | {room}


def check_table():
    above = set()
    for room in ROOMS:
        for other in allowed(room) - {room} - above:
            failures.append(f"table: {room} names {other}, which is no row above it")
        above.add(room)


def check_include(name, room, kind, include):
    if kind == "<":
        libraries = ROOMS[room][1].split()
        if FOREIGN.search(include) and not any(include.startswith(l) for l in libraries):
            failures.append(f"{name}: {room} must not include <{include}>")
    elif room == "compute/cuda" and include == "tests/compute/cuda/cuda_on_host.h":
        return  # chosen by the emulation of the tests alone
    elif not (source / include).is_file():
        failures.append(f"{name}: \"{include}\" is not a path from the top of the sources")
    elif room_of(include) not in allowed(room):
        failures.append(f"{name}: {room} must not include {include}")


def check_symbols(name):
    objects = list(build.rglob(f"*.dir/{name}.o"))
    if not objects:
        failures.append(f"{name}: no object found under {build}")
        return
    symbols = subprocess.run(["nm", "--undefined-only", "--format=posix", str(objects[0])],
                             check=True, capture_output=True, text=True).stdout.split("\n")
    for symbol in (line.split(" ")[0].split("@")[0] for line in symbols):
        if IMPURE.search(symbol):
            failures.append(f"{name}: calls {symbol}, but its room is pure")


check_table()
for top in ("compute", "render", "app"):
    for path in sorted((source / top).rglob("*.*")):
        if path.suffix not in {".c", ".h", ".cu", ".cuh"}:
            continue
        name = path.relative_to(source).as_posix()
        room = room_of(name)
        if room is None or (room == "app" and name != "app/main.c"):
            failures.append(f"{name}: belongs into one of the rooms")
            continue
        for kind, include in re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)', path.read_text(), re.M):
            checked += 1
            check_include(name, room, kind, include)
        if re.search(r"\bSDL_Render(?!_)\w*\s*\(", path.read_text()):
            failures.append(f"{name}: SDL_Render* is not used, render/pixel/draw.c draws on pixels")
        if ROOMS[room][2] is PURE and path.suffix == ".c":
            checked += 1
            check_symbols(name)

print("\n".join(failures) or f"{checked} includes and objects follow the rule")
sys.exit(1 if failures or checked < 100 else 0)
