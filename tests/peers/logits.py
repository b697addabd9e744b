"""Logits and greedy answers against llama.cpp, for every architecture.

    logits.py LOGITS WORK_DIR

LOGITS is the test program logits. For each architecture a small model of random weights is
written with the package gguf, with all that the architecture has: scaled positions, windows
shorter than the prompt, caps. llama.cpp's server (package xllamacpp) and tokendrip's CPU device
answer the same ids; their probabilities must agree within a bound, and their greedy ids for as
long as llama.cpp's own best two tokens lie further apart than it.
Exit code 1 if any differs, 77 if the packages are missing.
"""
import json
import math
import pathlib
import subprocess
import sys

import tokens
from tokens import gguf, numpy, xllamacpp

STEPS = 64
# With weights and cache in F32 both add up the same numbers in another order: 0.0001 was the
# most of these models. Of GELU llama.cpp has a table of 65,536 halves: 0.0022 was the most.
BOUND, BOUND_GELU = 0.0005, 0.006
WORDS = 96

BASE = {"dim": 64, "layers": 3, "heads": 4, "kv_heads": 2, "head": 16, "ff": 96}
# name: the architecture, what its writer is told besides, and its own sizes
MODELS = {
    "llama": ("llama", {}),
    "llama rope_freqs": ("llama", {"factors": True}),
    "llama linear": ("llama", {"scaling": (gguf.RopeScalingType.LINEAR, 4.0, None)}),
    "llama yarn": ("llama", {"scaling": (gguf.RopeScalingType.YARN, 4.0, 64)}),
    "qwen2": ("qwen2", {"biases": True}),
    "qwen2 yarn": ("qwen2", {"biases": True, "scaling": (gguf.RopeScalingType.YARN, 4.0, 64)}),
    "qwen3": ("qwen3", {"head_norms": True, "head": 32}),
    "gemma2": ("gemma2", {"post_norms": True, "window": 24, "caps": True, "tied": True, "head": 32}),
    "gemma3": ("gemma3", {"post_norms": True, "head_norms": True, "window": 24, "layers": 7, "tied": True,
                          "head": 32}),
    "gemma3 linear": ("gemma3", {"post_norms": True, "head_norms": True, "window": 24, "layers": 7, "tied": True,
                                 "scaling": (gguf.RopeScalingType.LINEAR, 8.0, None)}),
    "phi3": ("phi3", {"fused": True, "kv_heads": 4}),
    "phi3 partial": ("phi3", {"fused": True, "rotary": 12, "kv_heads": 4}),
    "phi3 longrope short": ("phi3", {"fused": True, "long": 4096, "kv_heads": 4}),
    "phi3 longrope long": ("phi3", {"fused": True, "long": 64, "kv_heads": 4}),
}


def put_keys(writer, name, opts):
    writer.add_name("random weights")
    writer.add_context_length(4096)
    writer.add_embedding_length(opts["dim"])
    writer.add_block_count(opts["layers"])
    writer.add_feed_forward_length(opts["ff"])
    writer.add_head_count(opts["heads"])
    writer.add_head_count_kv(opts["kv_heads"])
    writer.add_key_length(opts["head"])
    writer.add_value_length(opts["head"])
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(opts.get("rotary", opts["head"]))
    writer.add_rope_freq_base(10000.0 if not opts.get("window") else 1e6)
    writer.add_vocab_size(WORDS)
    if opts.get("window"):
        writer.add_sliding_window(opts["window"])
    if opts.get("caps"):
        writer.add_attn_logit_softcapping(50.0)
        writer.add_final_logit_softcapping(30.0)
    if opts.get("scaling"):
        kind, factor, original = opts["scaling"]
        writer.add_rope_scaling_type(kind)
        writer.add_rope_scaling_factor(factor)
        if original:
            writer.add_rope_scaling_orig_ctx_len(original)
    if opts.get("long"):
        writer.add_rope_scaling_orig_ctx_len(opts["long"])
        writer.add_rope_scaling_attn_factors(1.19)


def put_vocabulary(writer):
    """A vocabulary of SentencePiece's kind; only its length matters here."""
    words = ["<unk>", "<s>", "</s>", "<0x0A>"] + [f"\u2581w{number}" for number in range(WORDS - 4)]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(words)
    writer.add_token_scores([-float(number) for number in range(WORDS)])
    writer.add_token_types([2, 3, 3, 6] + [1] * (WORDS - 4))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(False)


def shapes_of(opts):
    """(name, rows, columns) of all matrices, (name, count) of all vectors."""
    dim, ff, q = opts["dim"], opts["ff"], opts["heads"] * opts["head"]
    kv = opts["kv_heads"] * opts["head"]
    matrices = [("token_embd", WORDS, dim)]
    if not opts.get("tied"):
        matrices.append(("output", WORDS, dim))
    vectors = [("output_norm.weight", dim)]
    for layer in range(opts["layers"]):
        at = f"blk.{layer}."
        if opts.get("fused"):
            matrices += [(at + "attn_qkv", q + 2 * kv, dim), (at + "ffn_up", 2 * ff, dim)]
        else:
            matrices += [(at + "attn_q", q, dim), (at + "attn_k", kv, dim), (at + "attn_v", kv, dim),
                         (at + "ffn_gate", ff, dim), (at + "ffn_up", ff, dim)]
        matrices += [(at + "attn_output", dim, q), (at + "ffn_down", dim, ff)]
        vectors += [(at + "attn_norm.weight", dim), (at + "ffn_norm.weight", dim)]
        if opts.get("biases"):
            vectors += [(at + "attn_q.bias", q), (at + "attn_k.bias", kv), (at + "attn_v.bias", kv)]
        if opts.get("head_norms"):
            vectors += [(at + "attn_q_norm.weight", opts["head"]), (at + "attn_k_norm.weight", opts["head"])]
        if opts.get("post_norms"):
            vectors += [(at + "post_attention_norm.weight", dim), (at + "post_ffw_norm.weight", dim)]
    return matrices, vectors


def write_model(path, name, kind, changes):
    architecture, more = MODELS[name]
    opts = dict(BASE, **more, **changes)
    make = numpy.random.default_rng(7)
    writer = gguf.GGUFWriter(path, architecture)
    put_keys(writer, name, opts)
    put_vocabulary(writer)
    matrices, vectors = shapes_of(opts)
    for tensor, rows, cols in matrices:
        values = (make.standard_normal((rows, cols)) / math.sqrt(cols) * 2).astype(numpy.float32)
        raw = gguf.quants.quantize(values, kind)
        writer.add_tensor(f"{tensor}.weight", raw, raw_dtype=kind)
    for tensor, count in vectors:
        middle = 0.0 if tensor.endswith("bias") else 1.0
        writer.add_tensor(tensor, (middle + 0.2 * make.standard_normal(count)).astype(numpy.float32))
    pairs = opts.get("rotary", opts["head"]) // 2
    if opts.get("factors"):
        writer.add_tensor("rope_freqs.weight", numpy.linspace(1, 8, pairs, dtype=numpy.float32))
    if opts.get("long"):
        writer.add_tensor("rope_factors_short.weight", numpy.linspace(1, 1.5, pairs, dtype=numpy.float32))
        writer.add_tensor("rope_factors_long.weight", numpy.linspace(1, 16, pairs, dtype=numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def open_server(model, context):
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx = context
    params.n_parallel = 1
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.warmup = False
    params.port = 0
    params.verbosity = 0
    return xllamacpp.Server(params)


def peer_steps(server, ids, steps, words):
    body = {"prompt": ids, "n_predict": steps, "n_probs": words, "temperature": 0, "top_k": 1, "ignore_eos": False,
            "samplers": ["top_k"], "return_tokens": True, "cache_prompt": False}
    answer = tokens.ask(server, "/completion", body)
    return [({row["id"]: row["logprob"] for row in step["top_logprobs"]}, step["id"])
            for step in answer["completion_probabilities"]]


def own_steps(program, model, ids, steps):
    done = subprocess.run([program, str(model), str(steps)], input=json.dumps(ids), capture_output=True, text=True,
                          check=False)
    if done.returncode:
        return None, done.stderr.strip()
    return [json.loads(line) for line in done.stdout.splitlines()], ""


def compare(name, ours, theirs, bound):
    """Prints one row; True if all is within the bound."""
    worst, equal = 0.0, 0
    for own, (logs, peer_id) in zip(ours, theirs):
        seen = {number: value for number, value in logs.items() if value > -12}
        worst = max([worst] + [abs(own["logs"][number] - value) for number, value in seen.items()])
        best = sorted(logs.values(), reverse=True)
        if own["id"] != peer_id:
            if best[0] - best[1] > bound:
                print(f"{name}: token {equal} is {own['id']} instead of {peer_id}; logs differ by {worst:.4f}")
                return False
            break
        equal += 1
    fine = worst <= bound
    print(f"{name}: {equal} of {len(theirs)} greedy tokens equal, logs within {worst:.4f}{'' if fine else ' TOO FAR'}")
    return fine


def check(program, model, name, bound, words, prompt):
    ours, reason = own_steps(program, model, prompt, STEPS)
    if ours is None:
        print(f"{name}: tokendrip does not open it: {reason}")
        return False
    server = open_server(model, len(prompt) + STEPS)
    return compare(name, ours, peer_steps(server, prompt, STEPS, words), bound)


def main():
    program, work = sys.argv[1], pathlib.Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    prompt = [(7 * number * number + 3 * number) % (WORDS - 3) + 3 for number in range(60)]
    ok = True
    for name in MODELS:
        model = work / "model.gguf"
        write_model(model, name, gguf.GGMLQuantizationType.F32, {})
        bound = BOUND_GELU if name.startswith("gemma") else BOUND
        ok = check(program, model, f"{name} F32", bound, WORDS, prompt) and ok
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
