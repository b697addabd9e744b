"""Chat formatting against llama.cpp: the ids of whole framed prompts.

    chat.py TOKEN_IDS WORK_DIR VOCABULARY.gguf...

Each vocabulary gets a tiny model of random weights and one template after another: its own,
where it has one, and for every known format a short one that says what the format's papers
say. llama.cpp's server runs the template, which tokendrip never does; both must come to the
same ids. Exit codes as of tokens.py.
"""
import json
import pathlib
import sys

import tokens
from tokens import gguf

ROLES = "{% for m in messages %}"
END = "{% endfor %}"
TEMPLATES = {
    "chatml": ROLES + "{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}" + END
    + "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
    "llama3": ROLES + "{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\n\n' + m['content'] | trim"
    " + '<|eot_id|>' }}" + END
    + "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}",
    "gemma": "{% if messages[0]['role'] == 'system' %}{% set first = messages[0]['content'] | trim + '\n\n' %}"
    "{% set messages = messages[1:] %}{% else %}{% set first = '' %}{% endif %}" + ROLES
    + "{{ '<start_of_turn>' + ('model' if m['role'] == 'assistant' else m['role']) + '\n' + "
    "(first if loop.first else '') + m['content'] | trim + '<end_of_turn>\n' }}" + END
    + "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}",
    "llama2": "{% if messages[0]['role'] == 'system' %}{% set first = '<<SYS>>\n' + messages[0]['content'].strip() "
    "+ '\n<</SYS>>\n\n' %}{% set messages = messages[1:] %}{% else %}{% set first = '' %}{% endif %}" + ROLES
    + "{% if m['role'] == 'user' %}{{ '[INST] ' + (first if loop.first else '') + m['content'].strip() + ' [/INST]' }}"
    "{% endif %}" + END,
    "phi3": ROLES + "{{ '<|' + m['role'] + '|>\n' + m['content'] + '<|end|>\n' }}" + END
    + "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}",
    "phi4": ROLES + "{{ '<|im_start|>' + m['role'] + '<|im_sep|>' + m['content'] + '<|im_end|>' }}" + END
    + "{% if add_generation_prompt %}{{ '<|im_start|>assistant<|im_sep|>' }}{% endif %}",
    "mistral-v3": "{# [AVAILABLE_TOOLS] #}{% if messages[0]['role'] == 'system' %}"
    "{% set first = messages[0]['content'] + '\n\n' %}{% set messages = messages[1:] %}{% else %}"
    "{% set first = '' %}{% endif %}" + ROLES
    + "{% if m['role'] == 'user' %}{{ '[INST] ' + first + m['content'] + '[/INST]' }}{% endif %}" + END,
    "mistral-v7": ROLES + "{% if m['role'] == 'system' %}{{ '[SYSTEM_PROMPT] ' + m['content'] + '[/SYSTEM_PROMPT]' }}"
    "{% else %}{{ '[INST] ' + m['content'] + '[/INST]' }}{% endif %}" + END,
    "mistral-v7-tekken": ROLES + "{% if m['role'] == 'system' %}{{ '[SYSTEM_PROMPT]' + m['content'] + "
    "'[/SYSTEM_PROMPT]' }}{% else %}{{ '[INST]' + m['content'] + '[/INST]' }}{% endif %}" + END,
}
NAMES = ["<|im_start|>", "<|im_end|>", "<|im_sep|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>",
         "<start_of_turn>", "<end_of_turn>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "[INST]", "[/INST]",
         "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"]

# No text that spells a control token: llama.cpp takes the token then, tokendrip never.
QUESTIONS = ["Hello", "Where is my parcel?", "  two  spaces  ", "line\n\nbreaks\n", "\nfirst", "caf\u00e9 \u4f60\u597d \U0001f600",
             "1234 'll", "ends with a newline\n", "\ttab", "a" * 60, "[inst] is text", "x\r\ny"]
SYSTEMS = [None, "Answer briefly.", "  Be kind.\n", "\u00dcber alles 12"]


def peer_chat(server, question, system):
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": question})
    prompt = tokens.ask(server, "/apply-template", {"messages": messages})["prompt"]
    return tokens.ask(server, "/tokenize", {"content": prompt, "add_special": True, "parse_special": True})["tokens"]


def check(program, model, name, source, template, extra):
    tokens.write_model(model, source, None, template, extra)
    # A template that has no word for it gets none: what then becomes of it is each program's own.
    systems = SYSTEMS if "system" in template or "m['role']" in template else [None]
    pairs = [(question, system) for question in QUESTIONS for system in systems]
    server = tokens.open_server(model, template)
    theirs = [peer_chat(server, *pair) for pair in pairs]
    return tokens.compare("chat", f"{source.name} {name}", pairs, tokens.own_ids(program, model, pairs), theirs)


def main():
    program, work = sys.argv[1], pathlib.Path(sys.argv[2])
    sources = [path for path in map(pathlib.Path, sys.argv[3:]) if path.exists()]
    if not sources:
        print("chat formatting was not compared: no vocabulary is there")
        return 77
    work.mkdir(parents=True, exist_ok=True)
    failed = 0
    for source in sources:
        own = gguf.GGUFReader(source).fields.get("tokenizer.chat_template")
        if own:
            failed += check(program, work / "chat.gguf", "own", source, own.contents(), [])
        for name, template in TEMPLATES.items():
            failed += check(program, work / "chat.gguf", name, source, template, NAMES)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
