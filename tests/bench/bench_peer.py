"""How fast the CPU device is beside llama.cpp, as one line of JSON.

    bench_peer.py LLAMA_BENCH TOKENDRIP MODEL.gguf... [--rounds N] [--threads N]

LLAMA_BENCH is llama.cpp's own program, built natively (-DGGML_NATIVE=ON, Release). Both programs
take every cell in turn, round after round, so that both see the same machine: prefill of 18, 128
and 512 tokens, decode at 32 and at 1,000 tokens of context (the mean over 32 steps). "ratio" is
the median over the rounds of ours / theirs in tokens a second, "ours" and "theirs" are medians.
Rates are printed, never asserted.
"""
import argparse
import json
import pathlib
import statistics
import subprocess

PREFILLS = (18, 128, 512)
DECODES = (32, 1000)
STEPS = 32


def output_of(command):
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL).stdout)


def theirs(program, model, threads, prefill=0, context=0):
    command = [program, "-m", model, "-t", str(threads), "-r", "1", "-o", "json", "-p", str(prefill)]
    command += ["-n", str(STEPS), "-d", str(context - STEPS // 2)] if context else ["-n", "0"]
    return output_of(command)[0]["avg_ts"]


def ours(program, model, threads, prefill=0, context=0):
    prompt = prefill if prefill else context - STEPS // 2
    figures = output_of([program, "measure", "--quiet", "--device", "cpu", "--json", "-",
                         "--chat", "none", "--model", model, "--threads", str(threads),
                         "--prompt-tokens", str(prompt), "--repeats", "1",
                         "--answer-tokens", str(2 if prefill else STEPS + 1)])
    return (1e3 * prefill / figures["prefill_ms"]["median"] if prefill
            else 1e3 / figures["tpot_ms"]["median"])


def compare(args, model):
    cells = [("prefill_%d" % n, {"prefill": n}) for n in PREFILLS]
    cells += [("decode_at_%d" % n, {"context": n}) for n in DECODES]
    rates = {name: ([], []) for name, _ in cells}
    for turn in range(args.rounds):
        for name, cell in cells:
            both = [lambda: ours(args.tokendrip, model, args.threads, **cell),
                    lambda: theirs(args.llama_bench, model, args.threads, **cell)]
            order = (0, 1) if turn % 2 == 0 else (1, 0)
            taken = {side: both[side]() for side in order}
            for side in (0, 1):
                rates[name][side].append(taken[side])
    return {name: {"ratio": round(statistics.median(a / b for a, b in zip(*pair)), 3),
                   "ours": round(statistics.median(pair[0]), 2),
                   "theirs": round(statistics.median(pair[1]), 2)}
            for name, pair in rates.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("llama_bench")
    parser.add_argument("tokendrip")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    print(json.dumps({"bench": "peer", "rounds": args.rounds, "threads": args.threads,
                      "models": {pathlib.Path(model).name: compare(args, model)
                                 for model in args.models}}))


if __name__ == "__main__":
    main()
