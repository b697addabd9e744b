// See muxer.h. The callbacks give libavformat a file to write and seek in; the
// first error of the file is kept, since not every muxer passes it on.
#include "render/film/muxer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compute/base/partfile.h"
#include "compute/base/spoken.h"
#include "compute/base/why.h"
#include "render/film/sink.h"

enum { BUFFER_BYTES = 1 << 16 };

// FFmpeg 7.0 made the callback's buffer const.
#if LIBAVFORMAT_VERSION_MAJOR >= 61
typedef const uint8_t write_byte;
#else
typedef uint8_t write_byte;
#endif

struct muxer {
    AVFormatContext *format;
    AVIOContext *io;
    AVStream *stream; // owned by format
    AVRational frame_duration;
    struct partfile *part;
    bool is_begun;
    bool file_failed;
    struct why file_why; // the file's first error
};

bool muxer_refuse(struct why *why, const char *what, int error) {
    char text[AV_ERROR_MAX_STRING_SIZE] = "";
    av_strerror(error, text, sizeof text);
    return why_set(why, "%.120s: %s", why_spoken(what), text);
}

// "file:" keeps names with a colon from being taken for a protocol.
struct url {
    char text[PARTFILE_PATH_BYTES + 8];
};

static struct url url_of(const char *path) {
    struct url url;
    snprintf(url.text, sizeof url.text, "file:%s", path);
    return url;
}

AVFormatContext *muxer_read_back(const char *path, struct why *why) {
    AVFormatContext *in = NULL;
    int result = avformat_open_input(&in, url_of(path).text, NULL, NULL);
    if (result >= 0 && in->nb_streams > 0)
        return in;
    if (result < 0)
        muxer_refuse(why, "can't read the recorded film", result);
    else
        why_set(why, "the recorded film is empty");
    avformat_close_input(&in);
    return NULL;
}

static int on_write(void *opaque, write_byte *data, int bytes) {
    struct muxer *muxer = opaque;
    if (muxer->file_failed)
        return AVERROR(EIO);
    if (partfile_write(muxer->part, data, (size_t)bytes, &muxer->file_why))
        return bytes;
    muxer->file_failed = true;
    return AVERROR(EIO);
}

static int64_t on_seek(void *opaque, int64_t offset, int whence) {
    struct muxer *muxer = opaque;
    if (whence & AVSEEK_SIZE) {
        struct stat st;
        return fstat(muxer->part->fd, &st) == 0 ? st.st_size : AVERROR(errno);
    }
    off_t at = lseek(muxer->part->fd, offset, whence & ~AVSEEK_FORCE);
    return at >= 0 ? at : AVERROR(errno);
}

// What a call returned, and what the file said meanwhile.
static bool check(struct muxer *muxer, const char *what, int result, struct why *why) {
    if (muxer->file_failed)
        return why_set(why, "%s", muxer->file_why.text);
    if (result < 0)
        return muxer_refuse(why, what, result);
    return true;
}

bool muxer_has(const char *format) {
    return av_guess_format(format, NULL, NULL) != NULL;
}

static bool open_io(struct muxer *muxer) {
    unsigned char *buffer = av_malloc(BUFFER_BYTES);
    if (!buffer)
        return false;
    muxer->io = avio_alloc_context(buffer, BUFFER_BYTES, 1, muxer, NULL, on_write, on_seek);
    if (!muxer->io)
        av_free(buffer);
    return muxer->io != NULL;
}

bool muxer_open(struct muxer **out, struct partfile *part, const char *format, struct why *why) {
    *out = NULL;
    struct muxer *muxer = calloc(1, sizeof *muxer);
    if (!muxer)
        return why_set(why, "no memory for the %s writer", format);
    muxer->part = part;
    // The mp4 muxer reads its own file back to move the index to the front.
    int result =
        avformat_alloc_output_context2(&muxer->format, NULL, format, url_of(part->path).text);
    if (result < 0 || !open_io(muxer)) {
        muxer_destroy(muxer);
        return muxer_refuse(why, "FFmpeg can't write this container", result);
    }
    muxer->format->pb = muxer->io;
    // Flushing after each packet: what a muxer has let go survives a kill.
    muxer->format->flags |= AVFMT_FLAG_BITEXACT | AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_FLUSH_PACKETS;
    *out = muxer;
    return true;
}

bool muxer_wants_global_header(const struct muxer *muxer) {
    return (muxer->format->oformat->flags & AVFMT_GLOBALHEADER) != 0;
}

bool muxer_begin(struct muxer *muxer, const AVCodecParameters *codec, AVRational frame_rate,
                 const char *options, struct why *why) {
    muxer->stream = avformat_new_stream(muxer->format, NULL);
    if (!muxer->stream)
        return why_set(why, "no memory for the video stream");
    int result = avcodec_parameters_copy(muxer->stream->codecpar, codec);
    if (result < 0)
        return muxer_refuse(why, "no memory for the video stream", result);
    muxer->stream->codecpar->codec_tag = 0; // each container has its own
    muxer->frame_duration = av_inv_q(frame_rate);
    muxer->stream->time_base = muxer->frame_duration; // a wish; the muxer may refine it
    muxer->stream->avg_frame_rate = frame_rate;
    muxer->stream->sample_aspect_ratio = (AVRational){1, 1};

    AVDictionary *dictionary = NULL;
    result = av_dict_parse_string(&dictionary, options, "=", ",", 0);
    if (result >= 0)
        result = avformat_write_header(muxer->format, &dictionary);
    av_dict_free(&dictionary);
    muxer->is_begun = result >= 0;
    return check(muxer, "can't begin the file", result, why);
}

bool muxer_write(struct muxer *muxer, AVPacket *packet, struct why *why) {
    packet->stream_index = 0;
    packet->duration = 1;
    av_packet_rescale_ts(packet, muxer->frame_duration, muxer->stream->time_base);
    int result = av_write_frame(muxer->format, packet);
    av_packet_unref(packet);
    return check(muxer, "can't write a frame into the file", result, why);
}

bool muxer_end(struct muxer *muxer, struct why *why) {
    int result = av_write_trailer(muxer->format);
    muxer->is_begun = false;
    avio_flush(muxer->io);
    return check(muxer, "can't finish the file", result, why);
}

void muxer_destroy(struct muxer *muxer) {
    if (!muxer)
        return;
    if (muxer->is_begun) // some muxers free what they hold back only there
        av_write_trailer(muxer->format);
    avformat_free_context(muxer->format);
    if (muxer->io)
        av_freep(&muxer->io->buffer);
    avio_context_free(&muxer->io);
    free(muxer);
}
