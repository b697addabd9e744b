// See gif.h. The film is small and lossless, so reading it twice is cheaper than
// keeping its frames. The palette's last entry is transparent: the encoder marks
// pixels with it that stay as they were.
#include "render/film/gif.h"

#include <errno.h>
#include <libavformat/avformat.h>
#include <stdio.h>

#include "compute/base/partfile.h"
#include "render/film/film.h"
#include "render/film/muxer.h"
#include "render/film/palette.h"

static const struct film_encoder gif_encoders[] = {
    {"gif", "gifflags=offsetting+transdiff", NULL},
    {NULL, NULL, NULL},
};

// The palette goes into each frame; GIF knows no colour tags.
static const struct film_picture gif_picture = {
    .format = AV_PIX_FMT_PAL8,
    .range = AVCOL_RANGE_JPEG,
    .matrix = AVCOL_SPC_RGB,
    .primaries = AVCOL_PRI_BT709,
    .transfer = AVCOL_TRC_IEC61966_2_1,
    .siting = AVCHROMA_LOC_UNSPECIFIED,
    .fill = NULL,
};

bool gif_is_possible(void) {
    return muxer_has("gif") && film_find_encoder(gif_encoders) != NULL;
}

bool gif_check_rate(const struct sink_opts *opts, char why[256]) {
    static const int rates[] = {50, 25, 20, 10};
    for (int i = 0; i < 4; i++) {
        if (opts->fps_den > 0 && opts->fps_num == (int64_t)rates[i] * opts->fps_den)
            return true;
    }
    return sink_refuse(why,
                       "a GIF counts in 1/100 s and can't hold %d/%d frames a second: use --fps "
                       "50, 25, 20 or 10",
                       opts->fps_num, opts->fps_den);
}

// A film being read, frame by frame.
struct reader {
    AVFormatContext *format;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
};

// What to do with a frame.
typedef bool visit_frame(void *context, const AVFrame *frame, char why[256]);

static bool open_decoder(struct reader *reader, char why[256]) {
    if (reader->format->nb_streams == 0)
        return sink_refuse(why, "the recorded film is empty");
    const AVCodecParameters *parameters = reader->format->streams[0]->codecpar;
    const AVCodec *codec = avcodec_find_decoder(parameters->codec_id);
    if (!codec)
        return sink_refuse(why, "this FFmpeg can't read back its own %s: record .mp4 instead",
                           avcodec_get_name(parameters->codec_id));
    reader->codec = avcodec_alloc_context3(codec);
    reader->packet = av_packet_alloc();
    reader->frame = av_frame_alloc();
    if (!reader->codec || !reader->packet || !reader->frame)
        return sink_refuse(why, "no memory to read the recorded film");
    int result = avcodec_parameters_to_context(reader->codec, parameters);
    if (result >= 0)
        result = avcodec_open2(reader->codec, codec, NULL);
    if (result < 0)
        return muxer_refuse(why, "can't read the recorded film", result);
    return true;
}

static bool reader_open(struct reader *reader, const char *path, char why[256]) {
    char url[PARTFILE_PATH_BYTES + 8];
    snprintf(url, sizeof url, "file:%s", path);
    int result = avformat_open_input(&reader->format, url, NULL, NULL);
    if (result < 0)
        return muxer_refuse(why, "can't read the recorded film", result);
    return open_decoder(reader, why);
}

static void reader_close(struct reader *reader) {
    avcodec_free_context(&reader->codec);
    av_packet_free(&reader->packet);
    av_frame_free(&reader->frame);
    avformat_close_input(&reader->format);
}

// Hands out what the decoder has ready.
static bool visit_ready(struct reader *reader, visit_frame *visit, void *context, char why[256]) {
    for (;;) {
        int result = avcodec_receive_frame(reader->codec, reader->frame);
        if (result == AVERROR(EAGAIN) || result == AVERROR_EOF)
            return true;
        if (result < 0)
            return muxer_refuse(why, "can't read the recorded film", result);
        bool ok = reader->frame->format == AV_PIX_FMT_RGB24
                      ? visit(context, reader->frame, why)
                      : sink_refuse(why, "the recorded film came back in another pixel format");
        av_frame_unref(reader->frame);
        if (!ok)
            return false;
    }
}

static bool visit_all(struct reader *reader, visit_frame *visit, void *context, char why[256]) {
    int result;
    while ((result = av_read_frame(reader->format, reader->packet)) >= 0) {
        result = avcodec_send_packet(reader->codec, reader->packet);
        av_packet_unref(reader->packet);
        if (result < 0)
            break;
        if (!visit_ready(reader, visit, context, why))
            return false;
    }
    if (result != AVERROR_EOF)
        return muxer_refuse(why, "can't read the recorded film", result);
    avcodec_send_packet(reader->codec, NULL);
    return visit_ready(reader, visit, context, why);
}

static bool read_film(const char *path, visit_frame *visit, void *context, char why[256]) {
    struct reader reader = {0};
    bool ok = reader_open(&reader, path, why) && visit_all(&reader, visit, context, why);
    reader_close(&reader);
    return ok;
}

static bool count_frame(void *context, const AVFrame *frame, char why[256]) {
    (void)why; // counting can't fail
    for (int y = 0; y < frame->height; y++)
        palette_count(context, frame->data[0] + (ptrdiff_t)y * frame->linesize[0], frame->width);
    return true;
}

struct writer {
    struct palette *palette;
    struct film *film;
};

static bool write_frame(void *context, const AVFrame *frame, char why[256]) {
    struct writer *writer = context;
    AVFrame *out = film_next(writer->film);
    if (frame->width != out->width || frame->height != out->height)
        return sink_refuse(why, "the recorded film came back in another size");
    for (int y = 0; y < out->height; y++)
        palette_map(writer->palette, out->data[0] + (ptrdiff_t)y * out->linesize[0],
                    frame->data[0] + (ptrdiff_t)y * frame->linesize[0], out->width);
    uint32_t *colors = (uint32_t *)(void *)out->data[1]; // 0xAARRGGBB
    for (int i = 0; i < PALETTE_COLORS; i++)
        colors[i] = 0xff000000u | palette_color(writer->palette, i);
    colors[PALETTE_COLORS] = 0;
    return film_put(writer->film, why);
}

static bool write_gif(struct partfile *out, struct palette *palette, const char *path,
                      const struct sink_opts *opts, char why[256]) {
    char options[64]; // without final_delay the last frame's duration is a guess
    snprintf(options, sizeof options, "loop=0,final_delay=%d",
             (int)((int64_t)100 * opts->fps_den / opts->fps_num));
    const struct film_spec spec = {
        .container = "gif",
        .container_options = options,
        .encoders = gif_encoders,
        .picture = &gif_picture,
        .width_px = opts->width_px,
        .height_px = opts->height_px,
        .fps_num = opts->fps_num,
        .fps_den = opts->fps_den,
        .threads = 1,
    };
    struct writer writer = {.palette = palette};
    bool ok = film_open(&writer.film, out, &spec, why) &&
              read_film(path, write_frame, &writer, why) && film_finish(writer.film, why);
    film_destroy(writer.film);
    return ok;
}

bool gif_from_film(struct partfile *out, const char *path, const struct sink_opts *opts,
                   char why[256]) {
    struct palette *palette = NULL;
    if (!palette_create(&palette))
        return sink_refuse(why, "no memory to count the colours");
    bool ok = read_film(path, count_frame, palette, why);
    if (ok && palette_build(palette) == 0)
        ok = sink_refuse(why, "no memory to choose the colours");
    ok = ok && write_gif(out, palette, path, opts, why);
    palette_destroy(palette);
    return ok;
}
