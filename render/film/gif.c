// See gif.h. The film is small and lossless, so reading it twice is cheaper than
// keeping its frames: palettegen counts the colours of all of it, then paletteuse
// maps each frame; scale, which libavfilter adds by itself, turns R G B bytes into what
// they take. One entry of the palette is transparent: the encoder marks pixels with it
// that stay as they were.
#include "render/film/gif.h"

#include <errno.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
#include <stdio.h>

#include "compute/base/partfile.h"
#include "compute/base/why.h"
#include "render/film/film.h"
#include "render/film/muxer.h"

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
    static const char *const filters[] = {"palettegen", "paletteuse", "scale"};
    for (int i = 0; i < 3; i++) {
        if (!avfilter_get_by_name(filters[i]))
            return false;
    }
    return muxer_has("gif") && film_find_encoder(gif_encoders) != NULL;
}

bool gif_check_rate(const struct sink_opts *opts, struct why *why) {
    static const int rates[] = {50, 25, 20, 10};
    for (int i = 0; i < 4; i++) {
        if (opts->fps_den > 0 && opts->fps_num == (int64_t)rates[i] * opts->fps_den)
            return true;
    }
    return why_set(why,
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

// What to do with a frame; NULL after the last one.
typedef bool visit_frame(void *context, AVFrame *frame, struct why *why);

static bool open_decoder(struct reader *reader, struct why *why) {
    const AVCodecParameters *parameters = reader->format->streams[0]->codecpar;
    const AVCodec *codec = avcodec_find_decoder(parameters->codec_id);
    if (!codec)
        return why_set(why, "this FFmpeg can't read back its own %s: record .mp4 instead",
                       avcodec_get_name(parameters->codec_id));
    reader->codec = avcodec_alloc_context3(codec);
    reader->packet = av_packet_alloc();
    reader->frame = av_frame_alloc();
    if (!reader->codec || !reader->packet || !reader->frame)
        return why_set(why, "no memory to read the recorded film");
    int result = avcodec_parameters_to_context(reader->codec, parameters);
    if (result >= 0)
        result = avcodec_open2(reader->codec, codec, NULL);
    if (result < 0)
        return muxer_refuse(why, "can't read the recorded film", result);
    return true;
}

static bool reader_open(struct reader *reader, const char *path, struct why *why) {
    reader->format = muxer_read_back(path, why);
    return reader->format && open_decoder(reader, why);
}

static void reader_close(struct reader *reader) {
    avcodec_free_context(&reader->codec);
    av_packet_free(&reader->packet);
    av_frame_free(&reader->frame);
    avformat_close_input(&reader->format);
}

// Hands out what the decoder has ready.
static bool visit_ready(struct reader *reader, visit_frame *visit, void *context, struct why *why) {
    for (;;) {
        int result = avcodec_receive_frame(reader->codec, reader->frame);
        if (result == AVERROR(EAGAIN) || result == AVERROR_EOF)
            return true;
        if (result < 0)
            return muxer_refuse(why, "can't read the recorded film", result);
        bool ok = reader->frame->format == AV_PIX_FMT_RGB24
                      ? visit(context, reader->frame, why)
                      : why_set(why, "the recorded film came back in another pixel format");
        av_frame_unref(reader->frame);
        if (!ok)
            return false;
    }
}

static bool visit_all(struct reader *reader, visit_frame *visit, void *context, struct why *why) {
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

static bool read_film(const char *path, visit_frame *visit, void *context, struct why *why) {
    struct reader reader = {0};
    bool ok = reader_open(&reader, path, why) && visit_all(&reader, visit, context, why) &&
              visit(context, NULL, why);
    reader_close(&reader);
    return ok;
}

// Frames of the film in, frames out, which `take` gets.
struct filter {
    const struct sink_opts *opts;
    AVFilterGraph *graph;
    AVFilterContext *in, *palette, *out; // palette: NULL in the first pass
    AVFrame *frame;
    int64_t count; // frames that went in
    bool (*take)(void *context, const AVFrame *frame, struct why *why);
    void *context;
};

static bool refuse_filter(struct why *why, int result) {
    return muxer_refuse(why, "FFmpeg's palette filters failed", result);
}

// `chain` leads from [film], and [palette] if it has one, to the end.
static bool filter_open(struct filter *filter, const char *chain, struct why *why) {
    const struct sink_opts *opts = filter->opts;
    char text[512];
    snprintf(text, sizeof text,
             "buffer@film=video_size=%dx%d:pix_fmt=rgb24:time_base=%d/%d[film];%s,buffersink@out",
             opts->width_px, opts->height_px, opts->fps_den, opts->fps_num, chain);
    filter->graph = avfilter_graph_alloc();
    filter->frame = av_frame_alloc();
    if (!filter->graph || !filter->frame)
        return why_set(why, "no memory to choose the colours");
    filter->graph->nb_threads = 1; // neither filter has use for more
    AVFilterInOut *inputs = NULL, *outputs = NULL;
    int result = avfilter_graph_parse2(filter->graph, text, &inputs, &outputs);
    avfilter_inout_free(&inputs);
    avfilter_inout_free(&outputs);
    if (result >= 0)
        result = avfilter_graph_config(filter->graph, NULL);
    if (result < 0)
        return refuse_filter(why, result);
    filter->in = avfilter_graph_get_filter(filter->graph, "buffer@film");
    filter->palette = avfilter_graph_get_filter(filter->graph, "buffer@palette");
    filter->out = avfilter_graph_get_filter(filter->graph, "buffersink@out");
    return true;
}

static void filter_close(struct filter *filter) {
    avfilter_graph_free(&filter->graph);
    av_frame_free(&filter->frame);
}

// Puts a frame in and takes out what is ready, so that nothing piles up in between.
static bool filter_frame(void *context, AVFrame *frame, struct why *why) {
    struct filter *filter = context;
    const struct sink_opts *opts = filter->opts;
    if (frame && (frame->width != opts->width_px || frame->height != opts->height_px))
        return why_set(why, "the recorded film came back in another size");
    if (frame)
        frame->pts = filter->count++;
    int result = av_buffersrc_write_frame(filter->in, frame);
    if (result < 0)
        return refuse_filter(why, result);
    while ((result = av_buffersink_get_frame(filter->out, filter->frame)) >= 0) {
        bool ok = filter->take(filter->context, filter->frame, why);
        av_frame_unref(filter->frame);
        if (!ok)
            return false;
    }
    return result == AVERROR(EAGAIN) || result == AVERROR_EOF || refuse_filter(why, result);
}

static bool take_palette(void *context, const AVFrame *frame, struct why *why) {
    int result = av_frame_ref(context, frame);
    return result >= 0 || refuse_filter(why, result);
}

// Every frame counts whole, not only what changed in it: large still areas keep
// their own colours.
static bool choose_colors(AVFrame *palette, const char *path, const struct sink_opts *opts,
                          struct why *why) {
    struct filter filter = {.opts = opts, .take = take_palette, .context = palette};
    bool ok = filter_open(&filter, "[film]palettegen=stats_mode=full", why) &&
              read_film(path, filter_frame, &filter, why);
    filter_close(&filter);
    if (ok && !palette->data[0])
        return why_set(why, "the recorded film is empty");
    return ok;
}

static bool take_picture(void *context, const AVFrame *frame, struct why *why) {
    struct film *film = context;
    int result = av_frame_copy(film_next(film), frame);
    return result < 0 ? refuse_filter(why, result) : film_put(film, why);
}

static bool give_palette(struct filter *filter, AVFrame *palette, struct why *why) {
    palette->pts = 0;
    int result = av_buffersrc_write_frame(filter->palette, palette);
    if (result >= 0)
        result = av_buffersrc_write_frame(filter->palette, NULL);
    return result >= 0 || refuse_filter(why, result);
}

static bool map_frames(struct film *film, AVFrame *palette, const char *path,
                       const struct sink_opts *opts, struct why *why) {
    struct filter filter = {.opts = opts, .take = take_picture, .context = film};
    char chain[256];
    snprintf(chain, sizeof chain,
             "buffer@palette=video_size=%dx%d:pix_fmt=%s:time_base=1/1[palette];"
             "[film][palette]paletteuse=dither=none",
             palette->width, palette->height, av_get_pix_fmt_name(palette->format));
    bool ok = filter_open(&filter, chain, why) && give_palette(&filter, palette, why) &&
              read_film(path, filter_frame, &filter, why);
    filter_close(&filter);
    return ok;
}

static bool write_gif(struct partfile *out, AVFrame *palette, const char *path,
                      const struct sink_opts *opts, struct why *why) {
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
    struct film *film = NULL;
    bool ok = film_open(&film, out, &spec, why) && map_frames(film, palette, path, opts, why) &&
              film_finish(film, why);
    film_destroy(film);
    return ok;
}

bool gif_from_film(struct partfile *out, const char *path, const struct sink_opts *opts,
                   struct why *why) {
    AVFrame *palette = av_frame_alloc();
    if (!palette)
        return why_set(why, "no memory to choose the colours");
    bool ok = choose_colors(palette, path, opts, why) && write_gif(out, palette, path, opts, why);
    av_frame_free(&palette);
    return ok;
}
