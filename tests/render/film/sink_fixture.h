// What the tests of sinks share: a temporary folder that goes away with all it
// holds, whole files in and out, and plain coloured pictures. Stops the test that
// called it when the system fails it.
#ifndef TESTS_RENDER_FILM_SINK_FIXTURE_H
#define TESTS_RENDER_FILM_SINK_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FIXTURE_PATH_BYTES = 256 };

struct fixture {
    char folder[64];
    char paths[8][FIXTURE_PATH_BYTES]; // handed out in turn
    int next;
};

void fixture_open(struct fixture *fixture);
void fixture_close(struct fixture *fixture); // removes the folder

// "folder/name", valid until the eighth call after it.
const char *fixture_path(struct fixture *fixture, const char *name);

int fixture_count(const struct fixture *fixture); // files and folders in the folder
bool fixture_has(struct fixture *fixture, const char *name);

void fixture_write(const char *path, const char *text);
uint8_t *fixture_read(const char *path, size_t *bytes); // the caller frees it
bool fixture_same_file(const char *a, const char *b);

// A picture of B G R A bytes, rows pitch_bytes apart. The caller frees bgra.
struct picture {
    uint8_t *bgra;
    int width_px, height_px, pitch_bytes;
};

struct picture picture_make(int width_px, int height_px, uint32_t rgb);
void picture_fill(struct picture *picture, const int rect[4], uint32_t rgb);
void picture_noise(struct picture *picture, uint32_t seed);

#endif
