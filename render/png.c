// See png.h. libpng reports errors by longjmp; encode() is the only frame that can
// be jumped out of, and it owns nothing but what its caller can free: the jump
// buffer, the text of the error and the encoder live in struct encoder.
#include "png.h"

#include <errno.h>
#include <fcntl.h>
#include <libpng16/png.h> // <png.h> would find the header next to this file
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PNG_MAX_PX = 32767 };

struct encoder {
    png_structp png;
    png_infop info;
    FILE *file;
    jmp_buf jump;
    int error_number; // errno of the failed write, 0 = libpng's own complaint
    char message[96];
};

struct picture {
    const uint8_t *bgra;
    int pitch_bytes, width_px, height_px;
};

static _Noreturn void on_error(png_structp png, png_const_charp message) {
    struct encoder *encoder = png_get_error_ptr(png);
    snprintf(encoder->message, sizeof encoder->message, "%s", message);
    longjmp(encoder->jump, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message; // nothing a user could act on: the input is plain pixels
}

static void on_write(png_structp png, png_bytep data, png_size_t bytes) {
    struct encoder *encoder = png_get_io_ptr(png);
    if (fwrite(data, 1, bytes, encoder->file) == bytes)
        return;
    encoder->error_number = errno ? errno : EIO;
    png_error(png, "write failed");
}

static void on_flush(png_structp png) {
    (void)png; // flushed once, at the end
}

static bool encode(struct encoder *encoder, const struct picture *picture) {
    if (setjmp(encoder->jump))
        return false;
    png_structp png = encoder->png;
    png_set_write_fn(png, encoder, on_write, on_flush);
    png_set_IHDR(png, encoder->info, (png_uint_32)picture->width_px,
                 (png_uint_32)picture->height_px, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, encoder->info, PNG_sRGB_INTENT_PERCEPTUAL);
    // Flat areas and sharp edges: the "up" filter alone is as small as libpng's
    // search over all five and several times faster.
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
    png_set_compression_level(png, 5);
    png_write_info(png, encoder->info);
    png_set_filler(png, 0, PNG_FILLER_AFTER); // skips the fourth byte of each pixel
    png_set_bgr(png);
    for (int y = 0; y < picture->height_px; y++)
        png_write_row(png, picture->bgra + (size_t)y * (size_t)picture->pitch_bytes);
    png_write_end(png, NULL);
    return true;
}

static bool fail(char why[256], const char *path, const char *reason) {
    snprintf(why, 256, "can't write %.150s: %.90s", path, reason);
    return false;
}

// Encodes into the open file and forces it to the disk.
static bool write_picture(FILE *file, const char *path, const struct picture *picture,
                          char why[256]) {
    struct encoder encoder = {.file = file};
    encoder.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder, on_error, on_warning);
    encoder.info = encoder.png ? png_create_info_struct(encoder.png) : NULL;
    if (!encoder.info) {
        png_destroy_write_struct(&encoder.png, NULL);
        return fail(why, path, "out of memory for the PNG encoder");
    }
    bool ok = encode(&encoder, picture);
    png_destroy_write_struct(&encoder.png, &encoder.info);
    if (!ok)
        return fail(why, path,
                    encoder.error_number ? strerror(encoder.error_number) : encoder.message);
    if (fflush(file) != 0 || fsync(fileno(file)) != 0)
        return fail(why, path, strerror(errno));
    return true;
}

// Without `overwrite` the kernel itself refuses to replace a file; where a file
// system lacks that, a check just before the rename has to do.
static bool move_into_place(const char *part, const char *path, bool overwrite, char why[256]) {
    if (!overwrite) {
        if (renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
            return true;
        if (errno != EINVAL && errno != ENOSYS)
            return fail(why, path, strerror(errno));
        if (access(path, F_OK) == 0)
            return fail(why, path, strerror(EEXIST));
    }
    return rename(part, path) == 0 || fail(why, path, strerror(errno));
}

bool png_write(const char *path, const uint8_t *bgra, int pitch_bytes, int width_px, int height_px,
               bool overwrite, char why[256]) {
    if (width_px < 1 || height_px < 1 || width_px > PNG_MAX_PX || height_px > PNG_MAX_PX ||
        pitch_bytes / 4 < width_px)
        return fail(why, path, "a picture must be 1 to 32767 px wide and high");
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        return fail(why, path, strerror(ENAMETOOLONG));
    struct stat there;
    if (!overwrite && lstat(path, &there) == 0)
        return fail(why, path, "it exists already; choose another name or ask to overwrite");

    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!file) {
        int error_number = errno;
        if (fd >= 0)
            close(fd);
        return fail(why, path, strerror(error_number));
    }
    const struct picture picture = {bgra, pitch_bytes, width_px, height_px};
    bool ok = write_picture(file, path, &picture, why);
    if (fclose(file) != 0 && ok)
        ok = fail(why, path, strerror(errno));
    ok = ok && move_into_place(part, path, overwrite, why);
    if (!ok)
        unlink(part);
    return ok;
}
