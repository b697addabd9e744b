// See text_fault.h.
#include "tests/compute/base/text_fault.h"

#include "compute/base/utf8.h"

#include <stdbool.h>
#include <string.h>

const char *text_fault(const char *text, const char *allowed) {
    bool is_open = false;
    for (size_t left = strlen(text), sign; left > 0; text += sign, left -= sign) {
        sign = utf8_length(text, left);
        if (sign == 0)
            return "broken UTF-8";
        bool is_control = (unsigned char)*text < 0x20 || *text == 0x7f;
        if (is_control && !strchr(allowed, *text))
            return "a control character";
        bool is_begin = *text == 0x0E, is_end = *text == 0x0F;
        if ((is_begin && is_open) || (is_end && !is_open))
            return "a mark out of place";
        is_open = is_begin || (is_open && !is_end);
    }
    return is_open ? "a mark that is left open" : NULL;
}
