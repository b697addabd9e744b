// An encoder and a muxer as one thing that takes pictures: frame n is shown at
// n / rate, exactly. Which encoders to try, how to fill a picture and which colour
// tags go with that filling come as tables from the caller. A thread of its own
// encodes, one picture behind the caller: an error of picture n may be reported by
// the call after it, at the latest by film_finish. FFmpeg's libavcodec; send and
// receive calls only, so that libavcodec 58 to 61 do.
//
// Thread: all calls from one thread. Between film_open and film_finish the part
// file belongs to the film.
#ifndef RENDER_FILM_FILM_H
#define RENDER_FILM_FILM_H

#include "compute/base/why.h"

#include <libavcodec/avcodec.h>
#include <stdbool.h>
#include <stdint.h>

struct partfile;
struct film;

// What the encoder is given. Samples and tags are one thing: `fill` makes exactly
// what the tags say, and they are set from this row alone.
struct film_picture {
    enum AVPixelFormat format;
    enum AVColorRange range;
    enum AVColorSpace matrix;
    enum AVColorPrimaries primaries;
    enum AVColorTransferCharacteristic transfer;
    enum AVChromaLocation siting;
    void (*fill)(AVFrame *out, const uint8_t *bgra, int pitch_bytes);
};

extern const struct film_picture film_bt709; // 4:2:0, limited range
extern const struct film_picture film_rgb;   // R G B bytes, lossless

// An encoder by FFmpeg's name with its options ("key=value,key=value") and, for a
// stand-in, a line for the user.
struct film_encoder {
    const char *name, *options, *note;
};

// Encoders for an .mp4: libx264, then its replacements.
extern const struct film_encoder film_h264[];

struct film_spec {
    const char *container; // FFmpeg's name of the muxer
    const char *container_options;
    const struct film_encoder *encoders; // in order of preference, ends with a NULL name
    const struct film_picture *picture;
    int width_px, height_px;
    int fps_num, fps_den;
    int threads;
};

// The first encoder of the list that this FFmpeg has, or NULL.
const struct film_encoder *film_find_encoder(const struct film_encoder *encoders);

// Opens the first encoder that is there and takes the size, and writes the header.
// Owner: film_destroy. `part` and `spec` outlive the film.
bool film_open(struct film **out, struct partfile *part, const struct film_spec *spec,
               struct why *why);
const char *film_note(const struct film *film); // "" or the encoder's note

// The picture to fill next, tagged, its old content undefined.
AVFrame *film_next(struct film *film);

// Hands that picture over; waits while the one before is still being encoded.
bool film_put(struct film *film, struct why *why);

// Drains the encoder, then ends the file.
bool film_finish(struct film *film, struct why *why);

void film_destroy(struct film *film); // NULL is fine

// The tags of `picture` onto a stream's parameters.
void film_tag(AVCodecParameters *out, const struct film_picture *picture);

#endif
