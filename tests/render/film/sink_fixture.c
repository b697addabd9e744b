// See sink_fixture.h.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/render/film/sink_fixture.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fixture_open(struct fixture *fixture) {
    memset(fixture, 0, sizeof *fixture);
    const char *base = getenv("TMPDIR");
    snprintf(fixture->folder, sizeof fixture->folder, "%s/sinkXXXXXX",
             base && strlen(base) < 40 ? base : "/tmp");
    assert_non_null(mkdtemp(fixture->folder));
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

void fixture_close(struct fixture *fixture) {
    nftw(fixture->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fixture_path(struct fixture *fixture, const char *name) {
    char *path = fixture->paths[fixture->next++ % 8];
    size_t folder_bytes = strlen(fixture->folder);
    memcpy(path, fixture->folder, folder_bytes);
    snprintf(path + folder_bytes, FIXTURE_PATH_BYTES - folder_bytes, "/%s", name);
    return path;
}

int fixture_count(const struct fixture *fixture) {
    DIR *dir = opendir(fixture->folder);
    assert_non_null(dir);
    int count = 0;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count - 2; // . and ..
}

bool fixture_has(struct fixture *fixture, const char *name) {
    return access(fixture_path(fixture, name), F_OK) == 0;
}

void fixture_write(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

uint8_t *fixture_read(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    uint8_t *data = malloc((size_t)size + 1);
    assert_non_null(data);
    *bytes = fread(data, 1, (size_t)size, file);
    assert_int_equal(*bytes, size);
    fclose(file);
    data[size] = 0;
    return data;
}

bool fixture_same_file(const char *a, const char *b) {
    size_t a_bytes, b_bytes;
    uint8_t *a_data = fixture_read(a, &a_bytes), *b_data = fixture_read(b, &b_bytes);
    bool same = a_bytes == b_bytes && memcmp(a_data, b_data, a_bytes) == 0;
    free(a_data);
    free(b_data);
    return same;
}

struct picture picture_make(int width_px, int height_px, uint32_t rgb) {
    // 12 bytes of padding: who ignores the pitch shears the picture.
    struct picture picture = {NULL, width_px, height_px, width_px * 4 + 12};
    picture.bgra = calloc((size_t)height_px, (size_t)picture.pitch_bytes);
    assert_non_null(picture.bgra);
    picture_fill(&picture, (int[4]){0, 0, width_px, height_px}, rgb);
    return picture;
}

void picture_fill(struct picture *picture, const int rect[4], uint32_t rgb) {
    for (int y = rect[1]; y < rect[1] + rect[3]; y++) {
        for (int x = rect[0]; x < rect[0] + rect[2]; x++) {
            uint8_t *p = picture->bgra + (size_t)y * (size_t)picture->pitch_bytes + (size_t)x * 4;
            p[0] = (uint8_t)rgb;
            p[1] = (uint8_t)(rgb >> 8);
            p[2] = (uint8_t)(rgb >> 16);
            p[3] = 0xff;
        }
    }
}

void picture_noise(struct picture *picture, uint32_t seed) {
    for (int y = 0; y < picture->height_px; y++) {
        for (int x = 0; x < picture->width_px; x++) {
            seed = seed * 1664525u + 1013904223u;
            picture_fill(picture, (int[4]){x, y, 1, 1}, seed >> 8);
        }
    }
}
