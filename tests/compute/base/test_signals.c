// Signals, each case in a child process: the first asks, the second ends, what was
// ignored stays ignored, and a closed pipe is a failed write.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/partfile.h"
#include "compute/base/signals.h"
#include "compute/base/why.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void nap(void) {
    static const struct timespec pause = {.tv_nsec = 2000000};
    nanosleep(&pause, NULL);
}

// Within 5 s.
static bool becomes_asked(void) {
    for (int i = 0; i < 2500 && !signals_stop_asked(); i++)
        nap();
    return signals_stop_asked();
}

// Runs `body` in a child; returns its exit code, or -1 for death by signal.
static int in_child(void (*body)(int number), int number) {
    pid_t child = fork();
    if (child == 0) {
        alarm(20); // never hang the tests
        body(number);
        _exit(99);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void ask_once(int number) {
    struct why why;
    if (!signals_start(&why) || signals_stop_asked())
        _exit(1);
    kill(getpid(), number);
    _exit(becomes_asked() ? 0 : 2);
}

static void kill_twice(int number) {
    kill(getpid(), number);
    if (!becomes_asked())
        _exit(2);
    kill(getpid(), number);
    for (int i = 0; i < 2500; i++)
        nap();
    _exit(3); // still here
}

static void ask_twice(int number) {
    struct why why;
    if (!signals_start(&why))
        _exit(1);
    kill_twice(number);
}

static void keep_ignoring(int number) {
    struct why why;
    signal(number, SIG_IGN);
    if (!signals_start(&why))
        _exit(1);
    kill(getpid(), number);
    for (int i = 0; i < 25; i++)
        nap();
    _exit(signals_stop_asked() ? 2 : 0);
}

static void write_to_closed_pipe(int number) {
    struct why why;
    int ends[2];
    (void)number;
    if (!signals_start(&why) || pipe(ends) != 0)
        _exit(1);
    close(ends[0]);
    _exit(write(ends[1], "x", 1) == -1 && errno == EPIPE ? 0 : 2);
}

static atomic_int wakes;

static void count_wake(void *context) {
    atomic_fetch_add((atomic_int *)context, 1);
}

static void wake_a_sleeper(int number) {
    struct why why;
    if (!signals_start(&why))
        _exit(1);
    signals_on_stop(count_wake, &wakes);
    kill(getpid(), number);
    for (int i = 0; i < 2500 && atomic_load(&wakes) == 0; i++)
        nap();
    _exit(atomic_load(&wakes) == 1 && signals_stop_asked() ? 0 : 2);
}

static void wake_nobody(int number) {
    struct why why;
    if (!signals_start(&why))
        _exit(1);
    signals_on_stop(count_wake, &wakes);
    signals_on_stop(NULL, NULL);
    kill(getpid(), number);
    _exit(becomes_asked() && atomic_load(&wakes) == 0 ? 0 : 2);
}

// Of two parts and a folder the older file stays, and its name is told.
static void stop_amid_parts(int number) {
    struct why why;
    struct partfile film, copy, folder;
    if (freopen("said", "w", stderr) == NULL || !signals_start(&why) ||
        !partfile_create(&film, "film.mp4", (struct partfile_name){"part", ".mp4"}, &why) ||
        !partfile_write(&film, "abc", 3, &why) ||
        !partfile_create(&copy, "film.mp4", (struct partfile_name){"tmp", ".mp4"}, &why) ||
        !partfile_write(&copy, "a", 1, &why) ||
        !partfile_create_folder(&folder, "stills", "part", &why))
        _exit(1);
    kill_twice(number);
}

// After a part that has become a file; the next one is empty unless it is ended by TERM.
static void stop_after_a_whole_file(int number) {
    struct why why;
    struct partfile done, film;
    if (freopen("said", "w", stderr) == NULL || !signals_start(&why) ||
        !partfile_create(&done, "done", (struct partfile_name){"part", ""}, &why) ||
        !partfile_write(&done, "abc", 3, &why) || !partfile_publish(&done, "done", true, &why) ||
        !partfile_create(&film, "film.mp4", (struct partfile_name){"part", ".mp4"}, &why) ||
        (number == SIGTERM && !partfile_write(&film, "abc", 3, &why)))
        _exit(1);
    kill_twice(number);
}

static const int asking[] = {SIGINT, SIGTERM, SIGHUP};

static void the_first_signal_asks(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(in_child(ask_once, asking[i]), 0);
}

static void the_second_signal_ends_at_once(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(in_child(ask_twice, asking[i]), 128 + asking[i]);
}

// Everything in the folder, in order, with a space after each.
static void list(char *out, size_t bytes) {
    struct dirent **entries = NULL;
    int count = scandir(".", &entries, NULL, alphasort);
    out[0] = '\0';
    for (int i = 0; i < count; i++) {
        size_t used = strlen(out);
        if (entries[i]->d_name[0] != '.')
            snprintf(out + used, bytes - used, "%s ", entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

static void an_end_at_once_leaves_one_part_and_names_it(void **state) {
    (void)state;
    char folder[] = "/tmp/tokendrip-signals-XXXXXX", found[256], said[256] = "";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(in_child(stop_amid_parts, SIGINT), 128 + SIGINT);
    list(found, sizeof found);
    assert_string_equal(found, "film.part.mp4 said ");
    FILE *file = fopen("said", "r");
    assert_non_null(fgets(said, sizeof said, file));
    assert_non_null(strstr(said, "'film.part.mp4'"));
    fclose(file);
    assert_int_equal(unlink("film.part.mp4"), 0);

    assert_int_equal(in_child(stop_after_a_whole_file, SIGTERM), 128 + SIGTERM);
    list(found, sizeof found);
    assert_string_equal(found, "done film.part.mp4 said ");
    assert_int_equal(unlink("film.part.mp4"), 0);

    assert_int_equal(in_child(stop_after_a_whole_file, SIGHUP), 128 + SIGHUP);
    list(found, sizeof found);
    assert_string_equal(found, "done said ");
    struct stat st;
    assert_int_equal(stat("said", &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(unlink("said") + unlink("done"), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void an_ignored_signal_stays_ignored(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(in_child(keep_ignoring, asking[i]), 0);
}

static void a_closed_pipe_is_a_failed_write(void **state) {
    (void)state;
    assert_int_equal(in_child(write_to_closed_pipe, 0), 0);
}

static void a_sleeper_is_woken_once_and_only_while_it_listens(void **state) {
    (void)state;
    assert_int_equal(in_child(wake_a_sleeper, SIGINT), 0);
    assert_int_equal(in_child(wake_nobody, SIGINT), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_signal_asks),
        cmocka_unit_test(the_second_signal_ends_at_once),
        cmocka_unit_test(an_end_at_once_leaves_one_part_and_names_it),
        cmocka_unit_test(an_ignored_signal_stays_ignored),
        cmocka_unit_test(a_closed_pipe_is_a_failed_write),
        cmocka_unit_test(a_sleeper_is_woken_once_and_only_while_it_listens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
