// What no text for a reader may hold. Without cmocka, so that fuzz targets use it, too.
#ifndef TESTS_COMPUTE_BASE_TEXT_FAULT_H
#define TESTS_COMPUTE_BASE_TEXT_FAULT_H

// What is wrong with a text: broken UTF-8, a control character that `allowed` has not, or
// U+000E and U+000F that do not come in pairs. NULL: nothing.
const char *text_fault(const char *text, const char *allowed);

#endif
