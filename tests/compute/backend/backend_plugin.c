// A plugin for test_backend_load.c: the table that PLUGIN_ABI and PLUGIN_IS_THERE say,
// under the right symbol or, with PLUGIN_SYMBOL, under another.
#include "compute/backend/backend.h"
#include "compute/base/why.h"

#include <stdio.h>

#ifndef PLUGIN_SYMBOL
#define PLUGIN_SYMBOL tokendrip_backend
#endif

static bool available(struct why *why) {
    if (PLUGIN_IS_THERE)
        return true;
    if (why)
        snprintf(why->text, sizeof why->text, "there is no card");
    return false;
}

static const struct backend table = {
    .abi = PLUGIN_ABI,
    .name = "test",
    .available = available,
};

const struct backend *PLUGIN_SYMBOL(void);

const struct backend *PLUGIN_SYMBOL(void) {
    return &table;
}
