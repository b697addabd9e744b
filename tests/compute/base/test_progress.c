// The line of progress on a terminal: replaced in place, cut, taken away; and silence
// where there is no terminal. Standard error is a terminal of the test's own meanwhile.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/progress.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int reader = -1; // reads what is written on standard error
static int real_stderr = -1;

static int replace_stderr(int with) {
    real_stderr = dup(STDERR_FILENO);
    int result = real_stderr >= 0 && dup2(with, STDERR_FILENO) >= 0 ? 0 : -1;
    close(with);
    return result;
}

static int open_terminal(void **state) {
    (void)state;
    reader = posix_openpt(O_RDWR | O_NOCTTY);
    if (reader < 0 || grantpt(reader) != 0 || unlockpt(reader) != 0)
        return -1;
    int terminal = open(ptsname(reader), O_RDWR | O_NOCTTY);
    return terminal < 0 ? -1 : replace_stderr(terminal);
}

static int open_pipe(void **state) {
    (void)state;
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    reader = ends[0];
    return replace_stderr(ends[1]);
}

static int give_stderr_back(void **state) {
    (void)state;
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    return close(reader);
}

// What has been written since the last call.
static void take_written(char out[512]) {
    struct pollfd ready = {.fd = reader, .events = POLLIN};
    size_t used = 0;
    while (used < 511 && poll(&ready, 1, 50) > 0 && (ready.revents & POLLIN)) {
        ssize_t bytes = read(reader, out + used, 511 - used);
        if (bytes <= 0)
            break;
        used += (size_t)bytes;
    }
    out[used] = '\0';
}

static void a_terminal_gets_one_line_that_is_replaced_and_taken_away(void **state) {
    (void)state;
    char written[512], longer[200], blank[80];
    snprintf(blank, sizeof blank, "%79s", "");
    struct progress progress = progress_start(false);
    assert_true(progress.is_on);

    progress_say(&progress, "frame %d", 7);
    take_written(written);
    assert_non_null(strstr(written, blank)); // a longer line before it is wiped
    assert_string_equal(strrchr(written, '\r'), "\rframe 7");
    assert_null(strchr(written, '\n'));

    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    progress_say(&progress, "%s", longer);
    take_written(written);
    assert_int_equal(strlen(strrchr(written, '\r') + 1), 79);

    progress_clear(&progress);
    take_written(written);
    assert_non_null(strstr(written, blank));
    assert_string_equal(strrchr(written, '\r'), "\r");
    progress_clear(&progress); // nothing is there any more
    take_written(written);
    assert_string_equal(written, "");
}

static void a_terminal_stays_silent_when_the_user_asked_for_quiet(void **state) {
    (void)state;
    char written[512];
    struct progress progress = progress_start(true);
    progress_say(&progress, "frame %d", 7);
    progress_clear(&progress);
    take_written(written);
    assert_string_equal(written, "");
}

static void a_pipe_hears_nothing(void **state) {
    (void)state;
    char written[512];
    struct progress progress = progress_start(false);
    progress_say(&progress, "frame %d", 7);
    progress_clear(&progress);
    take_written(written);
    assert_string_equal(written, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_terminal_gets_one_line_that_is_replaced_and_taken_away,
                                        open_terminal, give_stderr_back),
        cmocka_unit_test_setup_teardown(a_terminal_stays_silent_when_the_user_asked_for_quiet,
                                        open_terminal, give_stderr_back),
        cmocka_unit_test_setup_teardown(a_pipe_hears_nothing, open_pipe, give_stderr_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
