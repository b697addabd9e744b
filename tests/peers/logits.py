"""Logits and greedy answers against llama.cpp, for every architecture and type.

    logits.py LOGITS WORK_DIR [MODEL.gguf...]

LOGITS is the test program logits. For each architecture a small model of random weights is
written with the package gguf, with all that the architecture has: scaled positions, windows
shorter than the prompt, caps; in F32, and in every other type of weights. Models given are taken
as they are. llama.cpp's server (package xllamacpp) and tokendrip's CPU device read the same
prompt; tokendrip is then given the answer that llama.cpp makes of the weights decoded into F32,
so that all its 64 places are compared.

The bound. llama.cpp rounds activations to eight bits where weights are quantised, and so may
tokendrip; what is exact is the answer to the decoded weights. A logarithm of a probability may lie
twice as far from it as llama.cpp's own farthest (up to where its answer becomes another), and what
two orders of adding F32 numbers give more. Where the two likeliest tokens of the exact answer are
further apart than that, tokendrip's likeliest must be the same, and there must be such places.
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
TEXT = "The parcel left the shop on Monday. Where is it now, and when will it be here? Please answer"
LIKELY = 40  # tokens of a real model's vocabulary that are compared at each place
TYPES = ("F32 F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 IQ4_NL MXFP4 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_XS").split()
# Of the types that the package only decodes, random bytes: where a block has its f16 scale, and
# the f16 least with what it must be of the scale for the numbers to lie around 0.
SCALES = {"IQ4_NL": (0, None, 0), "Q2_K": (80, 82, 1.5), "Q3_K": (108, None, 0), "Q4_K": (0, 2, 7.5),
          "Q5_K": (0, 2, 15.5), "Q6_K": (208, None, 0), "IQ4_XS": (0, None, 0)}

# Rows of whole large blocks.
LARGE = {"dim": 256, "head": 64, "ff": 256, "rotary": 48}
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


def random_rows(make, rows, cols, kind, size):
    """(stored, decoded) numbers of a matrix that makes numbers `size` times as large."""
    size /= math.sqrt(cols)
    if kind.name in SCALES:
        at, at_least, least = SCALES[kind.name]
        block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
        raw = make.integers(0, 256, (rows * cols // block, block_bytes), dtype=numpy.uint8)

        def put(scale):
            raw[:, at:at + 2] = numpy.array([scale], numpy.float16).view(numpy.uint8)
            if at_least is not None:
                raw[:, at_least:at_least + 2] = numpy.array([scale * least], numpy.float16).view(numpy.uint8)
            return gguf.quants.dequantize(raw.reshape(rows, -1), kind)
        values = put(size / put(1.0).std())
        return raw.reshape(rows, -1), values
    values = (make.standard_normal((rows, cols)) * size).astype(numpy.float32)
    raw = gguf.quants.quantize(values, kind)
    return raw, gguf.quants.dequantize(raw, kind)


def write_model(path, name, kind, changes):
    """The model, and beside it `exact`: the same with its weights decoded."""
    architecture, more = MODELS[name]
    opts = {**BASE, **more, **{key: value for key, value in changes.items() if key in BASE or key in more}}
    make = numpy.random.default_rng(7)
    writers = [gguf.GGUFWriter(path, architecture), gguf.GGUFWriter(path.with_suffix(".exact"), architecture)]
    for writer in writers:
        put_keys(writer, name, opts)
        put_vocabulary(writer)
    matrices, vectors = shapes_of(opts)
    for tensor, rows, cols in matrices:
        # Layers that made them larger would make llama.cpp's rounding larger in every layer, too.
        stored, decoded = random_rows(make, rows, cols, kind, 1 if tensor.startswith("blk.") else 2)
        writers[0].add_tensor(f"{tensor}.weight", stored, raw_dtype=kind)
        writers[1].add_tensor(f"{tensor}.weight", decoded)
    pairs = opts.get("rotary", opts["head"]) // 2
    more = {name: ((0.0 if name.endswith("bias") else 1.0) + 0.2 * make.standard_normal(count)).astype(numpy.float32)
            for name, count in vectors}
    if opts.get("factors"):
        more["rope_freqs.weight"] = numpy.linspace(1, 8, pairs, dtype=numpy.float32)
    if opts.get("long"):
        more["rope_factors_short.weight"] = numpy.linspace(1, 1.5, pairs, dtype=numpy.float32)
        more["rope_factors_long.weight"] = numpy.linspace(1, 16, pairs, dtype=numpy.float32)
    for writer in writers:
        for tensor, values in more.items():
            writer.add_tensor(tensor, values)
        finish(writer)


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_exact(path, source):
    """A model file with its weights decoded."""
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(path, reader.fields["general.architecture"].contents())
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.quantization_version"):
            continue
        kind = field.types[0]
        more = {"sub_type": field.types[-1]} if kind == gguf.GGUFValueType.ARRAY else {}
        writer.add_key_value(name, field.contents(), kind, **more)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(numpy.float32))
    finish(writer)


def open_server(model, context):
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx = context
    params.n_parallel = 1
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # two wait for each other
    params.warmup = False
    params.port = 0
    params.verbosity = 0
    return xllamacpp.Server(params)


def peer_steps(model, ids, words):
    """Per place of the greedy answer the logarithms of the likeliest tokens' probabilities; and
    the answer, in which an end token is passed over."""
    server = open_server(model, len(ids) + STEPS)
    body = {"prompt": ids, "n_predict": STEPS, "n_probs": words, "temperature": 0, "top_k": 1, "samplers": ["top_k"],
            "ignore_eos": True, "cache_prompt": False}
    rows = tokens.ask(server, "/completion", body)["completion_probabilities"]
    return [{row["id"]: row["logprob"] for row in step["top_logprobs"]} for step in rows], [row["id"] for row in rows]


def own_steps(program, model, ids, then):
    done = subprocess.run([program, str(model)], input=json.dumps([ids, then]), capture_output=True, text=True,
                          check=False)
    if done.returncode:
        return None, done.stderr.strip()
    return [json.loads(line) for line in done.stdout.splitlines()], ""


def farthest(exact, other):
    """The most that a logarithm of a probability above e^-12 lies from the exact one."""
    return max(abs(after[number] - value) for before, after in zip(exact, other)
               for number, value in before.items() if value > -12 and number in after)


def compare(name, exact, peer, ours, bound):
    """Prints one row; True if all is within the bound."""
    theirs = farthest(exact, peer)
    own = farthest(exact, [dict(enumerate(step["logs"])) for step in ours])
    bound += 2 * theirs
    equal, clear, wrong = 0, 0, 0
    for logs, step in zip(exact, ours):
        best = sorted(logs, key=logs.get, reverse=True)[:2]
        is_clear = logs[best[0]] - logs[best[1]] > bound
        equal += step["id"] == best[0]
        clear += is_clear
        wrong += is_clear and step["id"] != best[0]
    fine = own <= bound and not wrong and clear > 0  # without clear ones nothing was shown
    tokens.row("logits", name, f"{own:.4f} from exact, llama.cpp {theirs:.4f}, bound {bound:.4f}; greedy {equal} of "
               f"{len(exact)} equal, {wrong} of {clear} clear ones differ", fine)
    return fine


def check(program, model, exact_model, name, bound, words, prompt):
    exact, answer = peer_steps(exact_model, prompt, words)
    peer, peer_answer = (exact, answer) if model == exact_model else peer_steps(model, prompt, words)
    same = next((place for place in range(STEPS) if answer[place] != peer_answer[place]), STEPS - 1) + 1
    ours, reason = own_steps(program, model, prompt, answer)
    if ours is None:
        tokens.row("logits", name, f"tokendrip does not open it: {reason}", False)
        return False
    return compare(name, exact, peer[:same], ours, bound)


def main():
    program, work = sys.argv[1], pathlib.Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    prompt = [(7 * number * number + 3 * number) % (WORDS - 3) + 3 for number in range(60)]
    ok = True
    model = work / "model.gguf"
    for name in MODELS:
        for kind in TYPES:
            large = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[kind]][0] > 32
            write_model(model, name, gguf.GGMLQuantizationType[kind], LARGE if large else {})
            bound = BOUND_GELU if name.startswith("gemma") else BOUND
            exact = model if kind == "F32" else model.with_suffix(".exact")
            ok = check(program, model, exact, f"{name} {kind}", bound, WORDS, prompt) and ok
    for source in map(pathlib.Path, sys.argv[3:]):
        write_exact(model.with_suffix(".exact"), source)
        server = tokens.open_server(source)
        prompt = tokens.ask(server, "/tokenize", {"content": TEXT, "add_special": True})["tokens"]
        ok = check(program, source, model.with_suffix(".exact"), source.name, BOUND_GELU, LIKELY, prompt) and ok
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
