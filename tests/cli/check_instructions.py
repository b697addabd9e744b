"""The program runs on every x86-64-v2 processor: newer instructions are only where they are
asked for at run time. These are the kernels' sets, which share nothing but a table, and
functions named after what they need.

    check_instructions.py BUILD_DIR PROCESSOR

Exit code 77 where there is no objdump or no such processor.
"""
import pathlib
import re
import shutil
import subprocess
import sys

SKIP = 77
SETS = re.compile(r"compute/cpu/kernels_(?!plain\.)[a-z0-9]+\.c\.o$")
NAMED = re.compile(r"_avx2(\.|$)")
# AVX and AVX-512 begin with v, but so do two old ones; then AMX, BMI, LZCNT and MOVBE. TZCNT
# is what older processors take for BSF, and compilers know.
NEWER = re.compile(
    r"(v(?!err|erw)|tdp|tile|ldtilecfg|sttilecfg|(andn|bextr|bls(i|msk|r)|bzhi|mulx|pdep|pext|"
    r"rorx|sarx|shlx|shrx|lzcnt|movbe)[lqw]?$)")
FOLDERS = ["tokendrip_base.dir", "tokendrip_compute.dir", "tokendrip_render.dir",
           "tokendrip_app.dir", "tokendrip.dir"]


def read(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def newer_instructions(path):
    """{function: the first one in it}"""
    found, function = {}, "?"
    for line in read("objdump", "-d", "--no-show-raw-insn", str(path)).split("\n"):
        label = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        function = label.group(1) if label else function
        fields = line.split("\t")
        if len(fields) > 1 and NEWER.match(fields[1]):
            found.setdefault(function, fields[1].strip())
    return found


def shared_names(path):
    """What other objects can reach, or the linker can take instead of another's."""
    symbols = [line.split() for line in read("nm", "--defined-only", str(path)).split("\n") if line]
    return [name for _, kind, name in symbols
            if kind.isupper() and not re.fullmatch(r"kernels_[a-z0-9]+", name)]


def check(path, relative):
    found = newer_instructions(path)
    if SETS.search(relative):
        if not found:
            return [f"{relative}: no newer instruction, so this check would find none elsewhere"]
        return [f"{relative}: {name} is shared" for name in shared_names(path)]
    return [f"{relative}: {instruction} in {function}" for function, instruction in found.items()
            if not NAMED.search(function)]


def main():
    build = pathlib.Path(sys.argv[1])
    if sys.argv[2] not in ("x86_64", "AMD64"):
        print(f"not for {sys.argv[2]}")
        sys.exit(SKIP)
    if not shutil.which("objdump") or not shutil.which("nm"):
        print("no objdump (apt-get install binutils): nothing to check")
        sys.exit(SKIP)
    objects = [path for folder in FOLDERS
               for path in sorted((build / "CMakeFiles" / folder).rglob("*.c.o"))]
    failures, sets = [], 0
    for path in objects:
        relative = str(path.relative_to(build / "CMakeFiles"))
        sets += bool(SETS.search(relative))
        failures += check(path, relative)
    if sets == 0 or len(objects) < 100:
        failures.append(f"{len(objects)} objects with {sets} sets of kernels: expected more")
    print("\n".join(failures) or f"{len(objects)} objects")
    sys.exit(1 if failures else 0)


main()
