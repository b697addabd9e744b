// One video stream into a container, written through a partfile. The bytes go
// through our own file descriptor, so that a full disk is reported as such and
// the file can be flushed before it is renamed. FFmpeg's libavformat; knows no
// encoder. Bit-exact: no dates, no random numbers, no version text in the file.
#ifndef RENDER_FILM_MUXER_H
#define RENDER_FILM_MUXER_H

#include "compute/base/why.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>

struct partfile;
struct muxer;

// `format` by FFmpeg's name: "mp4", "mov", "webm", "gif". `part` outlives the
// muxer and stays the caller's. Owner: muxer_destroy.
bool muxer_open(struct muxer **out, struct partfile *part, const char *format, struct why *why);

// True if this FFmpeg can write the container.
bool muxer_has(const char *format);

// Does the container want codec headers apart from the packets?
bool muxer_wants_global_header(const struct muxer *muxer);

// Describes the stream and writes the header. `options` as "key=value,key=value".
bool muxer_begin(struct muxer *muxer, const AVCodecParameters *codec, AVRational frame_rate,
                 const char *options, struct why *why);

// Takes a packet with times in units of one frame; empties it. Writes errors of
// the file as well as of the container.
bool muxer_write(struct muxer *muxer, AVPacket *packet, struct why *why);

// The trailer. After it the file is complete, though not flushed to the disk.
bool muxer_end(struct muxer *muxer, struct why *why);

void muxer_destroy(struct muxer *muxer); // NULL is fine

// Opens a film of ours again, with its one stream. Owner: avformat_close_input. NULL: it
// can't be read, or is empty.
AVFormatContext *muxer_read_back(const char *path, struct why *why);

// FFmpeg's error number as text, in `why` behind `what`. Returns false.
bool muxer_refuse(struct why *why, const char *what, int error);

#endif
