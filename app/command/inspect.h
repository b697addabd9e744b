// `tokendrip inspect FILE`: a page about a GGUF: what the model is, what it costs here, and whether
// tokendrip can run it; with --all also its keys and tensors.
#ifndef APP_COMMAND_INSPECT_H
#define APP_COMMAND_INSPECT_H

#include "compute/base/why.h"

#include "app/options/options.h"

// With --json one object, kept stable: {name, architecture, bytes, parameters, layers, width, heads,
// kv_heads, head_width, feed_forward, vocabulary, context, window, window_layers, experts,
// types:[{type, bytes, opens}], tokenizer, pre_tokenizer, chat_format, opens, obstacles:[],
// memory_bytes, cache_token_bytes, bound:{read_gb_s, matrix_gflop_s, step_ms, prefill_ms}}; null
// where the file does not say, or nothing was measured.
// Returns the exit code; `why` is "" or the one line to print.
int inspect_command(const struct options *options, struct why *why);

#endif
