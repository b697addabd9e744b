"""Token ids against llama.cpp, for a collection of hard texts.

    tokens.py TOKEN_IDS WORK_DIR VOCABULARY.gguf...

TOKEN_IDS is the test program token_ids. Each vocabulary gets a tiny model of random weights
around it, which llama.cpp's server (Python package xllamacpp) opens and tokenizes with; one
of byte-level BPE is tried under every pre-tokenizer, whatever its own is, and also against
the package tokenizers, where it is there, with the expressions of the models' tokenizer.json.
Exit code 1 if any list of ids differs, 77 if the packages or all files are missing.
"""
import json
import pathlib
import random
import subprocess
import sys
import urllib.request

try:
    import gguf
    import numpy
    import xllamacpp
except ImportError as missing:
    print(f"token ids were not compared: {missing}")
    sys.exit(77)

try:
    import tokenizers
    from tokenizers import pre_tokenizers
except ImportError:
    tokenizers = None

# tekken's and gpt-4o's expressions tell upper from lower case and marks in all scripts;
# llama.cpp's stand-ins only for ASCII letters, so only such texts can be equal to it.
BY_CASE = ("tekken", "gpt-4o")
ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
REST = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
SIGN = r"[^\r\n\p{L}\p{N}]?"


def by_sign(digits):
    return ENDINGS + "|" + SIGN + r"\p{L}+|" + digits + r"| ?[^\s\p{L}\p{N}]+[\r\n]*" + REST


def by_case(ending, digits):
    return (f"{SIGN}{UPPER}*{LOWER}+{ending}|{SIGN}{UPPER}+{LOWER}*{ending}|{digits}"
            r"| ?[^\s\p{L}\p{N}]+[\r\n/]*" + REST)


# None: what the package has of its own.
PRE = {
    "gpt-2": None,
    "smollm": None,
    "llama-bpe": by_sign(r"\p{N}{1,3}"),
    "dbrx": by_sign(r"\p{N}{1,3}"),
    "qwen2": by_sign(r"\p{N}"),
    "tekken": by_case("", r"\p{N}"),
    "gpt-4o": by_case(ENDINGS + "?", r"\p{N}{1,3}"),
}
IGNORES_MERGES = ("llama-bpe", "tekken")

TEXTS = [
    "", " ", "  ", "   ", "\t", "\n", "\n\n", "\n\n\n", "\t\n", "\r\n", "\r\n\r\n", " \n \n  x", "a\r\nb",
    "a \n b", "x  y", "x   y", "x\t\ty", "  leading", "trailing  ", "trailing \n", "a\u00a0b", "a\u2003 b",
    "\u3000\u4f60\u597d\u3000", "a\u2028b\u2029c\u0085d", "Hello world", " Hello World!", "HELLO", "hElLo WoRLD",
    "camelCaseAndPascalCase and ABCdef XYZ", "it's I'm we've they'll you'd don't she're",
    "IT'S I'M WE'VE THEY'LL YOU'D DON'T", "'s 't 're 'x ''s '", "d'accord l'\u00e9t\u00e9 '\u017f", "it\u2019s",
    "1 12 123 1234 12345 123456", "3.14159, -2e10 0xFF", "\u0661\u0662\u0663 \u0967\u0968\u0969 \u2167 \u00bd \u00b2",
    "a1b22c333", "x 7", "x  77", "!?... --- ***", "foo(bar)[baz]{qux};", "// comment\n/* x */\r\n", "a/b//c/\n/",
    "https://example.org/a?b=c&d=%20#e", "if (x == 1) {\n\treturn  y;\n}\n\n", "    four\n        eight",
    "caf\u00e9 na\u00efve \u00dcber Stra\u00dfe", "cafe\u0301 n\u0303 a\u0308\u0304", "\u0301abc \u0301",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u0391\u03b8\u03ae\u03bd\u03b1",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002", "\u3053\u3093\u306b\u3061\u306f \u30c6\u30b9\u30c8", "\ud55c\uad6d\uc5b4 \uc548\ub155",
    "\u1112\u1161\u11ab \u1100\u1161", "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd \u202eabc\u202c",
    "\U0001f600\U0001f680 \U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f3f3\ufe0f\u200d\U0001f308 \U0001f1e9\U0001f1ea",
    "\u2714\ufe0f \u2122 \u20ac5 \u00a31", "\x01\x02 \x1b[31m \x7f", "\u200b\u200c\ufeff\u00ad", "\ue000 \U000f0000",
    "\U0001d49c\U0001d4b7 \U00010400", "<s></s><unk> <|endoftext|> [INST]", "\u2581x \u2581\u2581y", "a" * 300, " " * 100 + "x",
    "\n" * 40, "ab" * 200, "1" * 50, "!" * 70 + "\n\n", "The quick brown fox jumps over the lazy dog. " * 8,
]
SIGNS = [" ", "  ", "\n", "\r\n", "\t", "a", "B", "the", "ING", "'s", "'LL", "'", "1", "42", "!", ".", "/", "_", "\u00e9",
         "\u0301", "\u00df", "\u0416", "\u4e2d", "\u3042", "\uac00", "\u0e01", "\U0001f600", "\u200d", "\u00a0", "\u2003", "\u0667"]


def collection():
    """The texts above, the signs in random order, and a page of each kind."""
    random.seed(10)
    made = ["".join(random.choices(SIGNS, k=random.randint(2, 24))) for _ in range(600)]
    return TEXTS + made


def write_model(path, source, pre, template=None, extra=()):
    """A one-layer llama of random weights with the vocabulary of `source`, and of `extra`, the
    control tokens that it lacks."""
    reader = gguf.GGUFReader(source)
    known = reader.fields["tokenizer.ggml.tokens"].contents()
    extra = [name for name in extra if name not in known]
    more = {"tokenizer.ggml.tokens": extra, "tokenizer.ggml.scores": [0.0] * len(extra),
            "tokenizer.ggml.token_type": [3] * len(extra)}
    words = len(known) + len(extra)
    writer = gguf.GGUFWriter(path, "llama")
    for name, field in reader.fields.items():
        if not name.startswith("tokenizer.") or name == "tokenizer.chat_template":
            continue
        value = pre if name == "tokenizer.ggml.pre" and pre else field.contents()
        if name in more:
            value = value + more[name]
        kind = field.types[0]
        if kind == gguf.GGUFValueType.ARRAY:
            writer.add_key_value(name, value, kind, sub_type=field.types[-1])
        else:
            writer.add_key_value(name, value, kind)
    if template:
        writer.add_chat_template(template)
    dim, ff = 32, 64
    writer.add_context_length(4096)
    writer.add_embedding_length(dim)
    writer.add_block_count(1)
    writer.add_feed_forward_length(ff)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(16)
    writer.add_vocab_size(words)
    make = numpy.random.default_rng(1)
    shapes = {"token_embd": (words, dim), "blk.0.attn_q": (dim, dim), "blk.0.attn_k": (dim, dim),
              "blk.0.attn_v": (dim, dim), "blk.0.attn_output": (dim, dim), "blk.0.ffn_gate": (ff, dim),
              "blk.0.ffn_up": (ff, dim), "blk.0.ffn_down": (dim, ff)}
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", (make.standard_normal(shape) * 0.1).astype(numpy.float16))
    for name in ("blk.0.attn_norm", "blk.0.ffn_norm", "output_norm"):
        writer.add_tensor(f"{name}.weight", numpy.ones(dim, numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def open_server(model, template=None):
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx = 256
    params.warmup = False
    params.port = 0
    params.verbosity = 0
    params.use_jinja = bool(template)
    return xllamacpp.Server(params)


def ask(server, path, body):
    request = urllib.request.Request(server.listening_address + path, json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def peer_ids(model, texts):
    """llama.cpp's ids, of text that may not spell a control token."""
    server = open_server(model)
    return [ask(server, "/tokenize", {"content": text, "add_special": True, "parse_special": False})["tokens"]
            for text in texts]


def reference_ids(source, pre, texts):
    """The package's ids; added tokens are left out, since they are not cut out here."""
    fields = gguf.GGUFReader(source).fields
    words = fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"].contents()]
    made = tokenizers.Tokenizer(tokenizers.models.BPE(
        vocab={word: number for number, word in enumerate(words)}, merges=merges,
        ignore_merges=pre in IGNORES_MERGES))
    if PRE[pre]:
        steps = [pre_tokenizers.Split(tokenizers.Regex(PRE[pre]), "isolated"),
                 pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    else:
        steps = [pre_tokenizers.Digits(individual_digits=True)] if pre == "smollm" else []
        steps += [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    made.pre_tokenizer = pre_tokenizers.Sequence(steps)
    return [made.encode(text, add_special_tokens=False).ids for text in texts]


def own_ids(program, model, texts):
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    done = subprocess.run([program, model], input=lines, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{program} {model}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def row(check, name, result, is_fine):
    """One line of the table that ./test.sh --peers prints."""
    print(f"{'ok' if is_fine else 'DIFFERS':8}{check:8}{name:44} {result}", flush=True)


def compare(check, name, texts, ours, theirs):
    """Prints how many are equal, and the first three that are not; returns how many those are."""
    wrong = [case for case in zip(texts, ours, theirs) if case[1] != case[2]]
    row(check, name, f"{len(texts) - len(wrong)} of {len(texts)} texts equal", not wrong)
    for text, our, their in wrong[:3]:
        print(f"    {text!r}: {our}\n    instead of {their}")
    return len(wrong)


def check(program, model, source, pre):
    """One vocabulary under one pre-tokenizer; returns the texts that differ."""
    texts, name = collection(), f"{source.name} {pre or ''}"
    write_model(model, source, pre)
    ours = own_ids(program, model, texts)
    failed = 0
    if pre and tokenizers:
        # Without the begin token that the model may have.
        begins = len(ours[0])
        bare = [ids[begins:] for ids in ours]
        failed += compare("tokens", f"{name}, tokenizers", texts, bare, reference_ids(source, pre, texts))
    elif pre:
        print(f"{name}: not compared with the package tokenizers, which is not there")
    if pre in BY_CASE:
        kept = [number for number, text in enumerate(texts) if text.isascii()]
        texts, ours = [texts[number] for number in kept], [ours[number] for number in kept]
    return failed + compare("tokens", f"{name}, llama.cpp", texts, ours, peer_ids(model, texts))


def main():
    program, work = sys.argv[1], pathlib.Path(sys.argv[2])
    sources = [path for path in map(pathlib.Path, sys.argv[3:]) if path.exists()]
    if not sources:
        print("token ids were not compared: no vocabulary is there")
        return 77
    work.mkdir(parents=True, exist_ok=True)
    failed = 0
    for source in sources:
        is_bpe = gguf.GGUFReader(source).fields["tokenizer.ggml.model"].contents() == "gpt2"
        for pre in PRE if is_bpe else [None]:
            failed += check(program, work / "tokens.gguf", source, pre)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
