"""What nvcc makes of the kernels, where there is no GPU to run them on: no warnings, no
registers spilled to local memory in any kernel, and 16-byte loads in each kernel of a
decode step that reads a matrix.

    check_spills.py NVCC SOURCE_DIR [ARCHITECTURE...]

Exit code 77 where there is no nvcc. Architectures are numbers such as 90.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
SOURCES = ["attend_products", "decode", "prefill", "weights", "rates"]
# Kernels that read a matrix once, by the names that nvcc gives them.
VECTOR_LOADS = ["qkv_kernel", "product_kernel", "gate_up_kernel"]
FORMATS = 5


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def compile_kernels(nvcc, source_dir, name, out, *options):
    return run(nvcc, "-std=c++17", "-O3", "-I", str(source_dir), *options,
               "-Xcompiler", "-Wall,-Wextra", "-o", str(out),
               str(source_dir / "compute" / "cuda" / f"{name}.cu"))


def spills(log):
    """(kernels seen, lines of those that spill)"""
    seen, bad = 0, []
    kernel = "?"
    for line in log.split("\n"):
        named = re.search(r"Compiling entry function '([^']+)'", line)
        kernel = named.group(1) if named else kernel
        counts = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, "
                           r"(\d+) bytes spill loads", line)
        if counts:
            seen += 1
            if any(int(n) for n in counts.groups()):
                bad.append(f"{kernel}: {line.strip()}")
    return seen, bad


def kernels_without_vector_loads(ptx):
    """Matrix kernels without a 16-byte load; a line too when some are missing."""
    found, bad = 0, []
    for part in ptx.split(".entry ")[1:]:
        name = part.split("(", 1)[0].strip()
        if any(kernel in name for kernel in VECTOR_LOADS):
            found += 1
            if not re.search(r"ld\.global\.nc\.(\w+::\w+\.)*v4\.", part):
                bad.append(f"{name}: no 16-byte load")
    if found != len(VECTOR_LOADS) * FORMATS:
        bad.append(f"{found} matrix kernels, expected {len(VECTOR_LOADS) * FORMATS}")
    return bad


def main():
    nvcc = shutil.which(sys.argv[1])
    if not nvcc:
        print("no nvcc: nothing to check")
        sys.exit(SKIP)
    source_dir = pathlib.Path(sys.argv[2])
    failures, kernels = [], 0
    with tempfile.TemporaryDirectory(prefix="tokendrip-") as folder:
        out = pathlib.Path(folder) / "kernels"
        for architecture in sys.argv[3:] or ["90"]:
            for name in SOURCES:
                log = compile_kernels(nvcc, source_dir, name, out, "-cubin",
                                      f"-arch=sm_{architecture}", "-Xptxas", "-v,-warn-spills")
                seen, bad = spills(log)
                kernels += seen
                bad += [line for line in log.split("\n") if "warning" in line.lower()]
                failures += [f"sm_{architecture}: {line}" for line in bad]
            compile_kernels(nvcc, source_dir, "decode", out, "-ptx",
                            f"-arch=compute_{architecture}")
            bad = kernels_without_vector_loads(out.read_text(encoding="utf-8"))
            failures += [f"compute_{architecture}: {line}" for line in bad]
    print("\n".join(failures) or f"{kernels} kernels without spills")
    sys.exit(1 if failures or kernels == 0 else 0)


main()
