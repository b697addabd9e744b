// Tests of mapfile.h. A file that is cut is looked at in a process of its own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/mapfile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 5 * 65536 + 3, PARTS_BYTES = (64 << 20) + 1 };

static int make_file(char path[64], size_t bytes) {
    snprintf(path, 64, "/tmp/test_mapfile_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    assert_int_equal(pwrite(fd, "end", 3, (off_t)bytes - 3), 3);
    return fd;
}

static void a_file_is_memory_also_after_it_was_closed(void **state) {
    (void)state;
    char path[64];
    struct mapfile map;
    int fd = make_file(path, BYTES);
    assert_true(mapfile_open(&map, fd, BYTES, path));
    close(fd);
    unlink(path);
    assert_int_equal(map.bytes, BYTES);
    assert_int_equal((uintptr_t)map.data % 4096, 0);
    assert_memory_equal(map.data + BYTES - 3, "end", 3);
    mapfile_close(&map);
    assert_null(map.data);
    mapfile_close(&map); // twice is fine
    assert_false(mapfile_open(&map, -1, BYTES, "nothing"));
    assert_null(map.data);
}

struct told {
    int parts, most;
    size_t done_bytes;
};

static bool tell(void *context, size_t done_bytes) {
    struct told *told = context;
    assert_true(done_bytes > told->done_bytes);
    told->done_bytes = done_bytes;
    return ++told->parts < told->most;
}

static void touching_tells_how_far_it_is_and_can_be_ended(void **state) {
    (void)state;
    char path[64];
    struct mapfile map;
    struct told told = {.most = 100};
    int fd = make_file(path, PARTS_BYTES);
    assert_true(mapfile_open(&map, fd, PARTS_BYTES, path));
    close(fd);
    unlink(path);
    assert_true(mapfile_touch(&map, tell, &told));
    assert_int_equal(told.parts, 2);
    assert_int_equal(told.done_bytes, PARTS_BYTES);
    assert_true(mapfile_touch(&map, NULL, NULL));
    told = (struct told){.most = 1};
    assert_false(mapfile_touch(&map, tell, &told));
    assert_int_equal(told.parts, 1);
    mapfile_close(&map);
}

// Cuts a mapped file and looks at its end. Never returns.
static void look_at_what_is_gone(int errors) {
    char path[64];
    struct mapfile map;
    int fd = make_file(path, BYTES);
    unlink(path);
    dup2(errors, STDERR_FILENO);
    if (!mapfile_open(&map, fd, BYTES, "cut.gguf") || ftruncate(fd, 10) != 0)
        _exit(3);
    _exit(mapfile_touch(&map, NULL, NULL) ? 0 : 2);
}

static void a_file_that_was_cut_ends_the_program_with_a_line(void **state) {
    (void)state;
    int errors[2], status = 0;
    char text[200] = "";
    assert_int_equal(pipe(errors), 0);
    pid_t child = fork();
    if (child == 0)
        look_at_what_is_gone(errors[1]);
    close(errors[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    FILE *lines = fdopen(errors[0], "r");
    assert_non_null(lines);
    assert_non_null(fgets(text, sizeof text, lines));
    fclose(lines);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_non_null(strstr(text, "cut.gguf became shorter"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_memory_also_after_it_was_closed),
        cmocka_unit_test(touching_tells_how_far_it_is_and_can_be_ended),
        cmocka_unit_test(a_file_that_was_cut_ends_the_program_with_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
