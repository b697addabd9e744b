// Frames as a film through FFmpeg's libraries: .mp4, .webm, .gif by a table. A film
// grows in a part file that plays even after a kill: fragmented MP4, WebM, or, for a
// GIF, a lossless MOV. At the end an MP4 is copied, without coding again, into a
// plain one with its index in front, and a GIF is made from the MOV. Compiled where
// the libraries are found; elsewhere sink_av_absent.c takes its place.
#include <libavutil/log.h>
#include <stdio.h>

#include "compute/base/partfile.h"
#include "compute/base/spoken.h"
#include "compute/base/why.h"
#include "render/film/film.h"
#include "render/film/gif.h"
#include "render/film/muxer.h"
#include "render/film/sink.h"

// Makes the final file from the part.
typedef bool finish_film(struct partfile *out, const char *part_path, const struct sink_opts *opts,
                         struct why *why);

static bool copy_packets(struct muxer *muxer, AVFormatContext *in, AVRational frame_rate,
                         struct why *why) {
    AVPacket *packet = av_packet_alloc();
    if (!packet)
        return why_set(why, "no memory to finish the film");
    int result = 0;
    bool ok = true;
    while (ok && (result = av_read_frame(in, packet)) >= 0) {
        av_packet_rescale_ts(packet, in->streams[0]->time_base, av_inv_q(frame_rate));
        ok = muxer_write(muxer, packet, why);
    }
    if (ok && result != AVERROR_EOF)
        ok = muxer_refuse(why, "can't read the recorded film", result);
    av_packet_free(&packet);
    return ok;
}

static bool mp4_from_part(struct partfile *out, const char *part_path, const struct sink_opts *opts,
                          struct why *why) {
    const AVRational frame_rate = {opts->fps_num, opts->fps_den};
    AVFormatContext *in = muxer_read_back(part_path, why);
    struct muxer *muxer = NULL;
    if (!in)
        return false;
    AVCodecParameters *parameters = in->streams[0]->codecpar;
    film_tag(parameters, &film_bt709);
    parameters->width = opts->width_px; // the reader leaves MPEG-4 Part 2's to a decoder
    parameters->height = opts->height_px;
    bool ok = muxer_open(&muxer, out, "mp4", why) &&
              muxer_begin(muxer, parameters, frame_rate, "movflags=faststart", why) &&
              copy_packets(muxer, in, frame_rate, why) && muxer_end(muxer, why);
    muxer_destroy(muxer);
    avformat_close_input(&in);
    return ok;
}

// Half a second a fragment is what a kill may cost beside the encoder's look-ahead.
#define FRAGMENTED "movflags=frag_keyframe+empty_moov+default_base_moof,frag_duration=500000"

// Flat graphics: against `good` with cpu-used 4, the encoder's real-time mode takes a
// quarter of the time for files a quarter larger, at the same quality.
static const struct film_encoder webm_encoders[] = {
    {"libvpx-vp9", "deadline=realtime,cpu-used=6,crf=18,b=0,row-mt=1", NULL},
    {NULL, NULL, NULL},
};

// Both keep every bit, and what stays from frame to frame costs qtrle nothing.
static const struct film_encoder lossless_encoders[] = {
    {"qtrle", "", NULL},
    {"png", "pred=up,threads=1", NULL},
    {NULL, NULL, NULL},
};

static const struct format {
    const char *ending, *codec_name;
    const char *install; // what brings the encoder, in words
    const char *part_ending, *container, *container_options;
    const struct film_encoder *encoders;
    const struct film_picture *picture;
    bool (*check)(const struct sink_opts *opts, struct why *why);
    finish_film *finish; // NULL: the part is the film
} formats[] = {
    {
        .ending = ".mp4",
        .codec_name = "H.264",
        .install = "libx264",
        .part_ending = ".mp4",
        .container = "mp4",
        .container_options = FRAGMENTED,
        .encoders = film_h264,
        .picture = &film_bt709,
        .check = sink_check_video,
        .finish = mp4_from_part,
    },
    {
        .ending = ".webm",
        .codec_name = "VP9",
        .install = "libvpx",
        .part_ending = ".webm",
        .container = "webm",
        .container_options = "cluster_time_limit=1000",
        .encoders = webm_encoders,
        .picture = &film_bt709,
        .check = sink_check_video,
        .finish = NULL,
    },
    {
        .ending = ".gif",
        .codec_name = "GIF",
        .install = "the coder qtrle and the filter palettegen",
        .part_ending = ".mov",
        .container = "mov",
        .container_options = FRAGMENTED,
        .encoders = lossless_encoders,
        .picture = &film_rgb,
        .check = gif_check_rate,
        .finish = gif_from_film,
    },
};
enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

struct av {
    const struct format *format;
    struct sink_opts opts;
    struct film_spec spec;
    struct film *film;
    struct partfile part;
    char path[PARTFILE_PATH_BYTES];
};

static const struct format *format_for(const char *path) {
    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (sink_has_ending(path, formats[i].ending))
            return &formats[i];
    }
    return NULL;
}

static bool handles(const char *path) {
    return format_for(path) != NULL;
}

static bool is_possible(const struct format *format) {
    return muxer_has(format->container) && film_find_encoder(format->encoders) &&
           (format->finish != gif_from_film || gif_is_possible());
}

static void describe(char *out, int bytes) {
    for (int i = 0; i < FORMAT_COUNT; i++) {
        const struct format *format = &formats[i];
        if (is_possible(format))
            sink_append(out, bytes, "%-5s %s (%s)\n", format->ending + 1, format->codec_name,
                        format->finish == gif_from_film
                            ? "one palette, 50, 25, 20 or 10 frames a second"
                            : film_find_encoder(format->encoders)->name);
        else
            sink_append(out, bytes, "%-5s not here: this FFmpeg lacks %s\n", format->ending + 1,
                        format->install);
    }
}

static bool refuse_format(const struct format *format, struct why *why) {
    const char *instead = "";
    for (int i = 0; i < FORMAT_COUNT && !*instead; i++) {
        if (is_possible(&formats[i]))
            instead = formats[i].ending;
    }
    return why_set(why,
                   "this FFmpeg can't make %s: install one with %s, or record %s%s.y4m or a "
                   "folder of stills",
                   format->ending, format->install, instead, *instead ? ", " : "");
}

static bool open_film(struct av *av, struct why *why) {
    const struct format *format = av->format;
    av->spec = (struct film_spec){
        .container = format->container,
        .container_options = format->container_options,
        .encoders = format->encoders,
        .picture = format->picture,
        .width_px = av->opts.width_px,
        .height_px = av->opts.height_px,
        .fps_num = av->opts.fps_num,
        .fps_den = av->opts.fps_den,
        .threads = 2, // the bytes of a film depend on it
    };
    const struct partfile_name name = {"part", format->part_ending};
    if (!partfile_create(&av->part, av->path, name, why))
        return false;
    if (film_open(&av->film, &av->part, &av->spec, why))
        return true;
    partfile_discard(&av->part);
    return false;
}

static bool av_open(void *state, const char *path, const struct sink_opts *opts, struct why *why) {
    struct av *av = state;
    const struct format *format = format_for(path);
    av_log_set_level(AV_LOG_QUIET); // only app/ prints; errors come back as values
    if (!format->check(opts, why) ||
        !partfile_check_target(path, opts->overwrite, opts->taken, why))
        return false;
    if (!is_possible(format))
        return refuse_format(format, why);
    av->format = format;
    av->opts = *opts;
    snprintf(av->path, sizeof av->path, "%s", path);
    if (!open_film(av, why))
        return false;
    why_set(why, "%s", film_note(av->film));
    return true;
}

static bool av_put(void *state, const struct sink_frame *frame, struct why *why) {
    struct av *av = state;
    AVFrame *picture = film_next(av->film);
    av->format->picture->fill(picture, frame->bgra, frame->pitch_bytes);
    return film_put(av->film, why);
}

// From the whole part to the final name. False: the part stays.
static bool publish(struct av *av, struct why *why) {
    if (!film_finish(av->film, why))
        return false;
    if (!av->format->finish)
        return partfile_publish(&av->part, av->path, av->opts.overwrite, why);
    struct partfile final = {.fd = -1};
    const struct partfile_name name = {"tmp", av->format->ending};
    if (!partfile_create(&final, av->path, name, why))
        return false;
    if (av->format->finish(&final, av->part.path, &av->opts, why) &&
        partfile_publish(&final, av->path, av->opts.overwrite, why)) {
        partfile_discard(&av->part);
        return true;
    }
    partfile_discard(&final);
    return false;
}

static bool av_close(void *state, enum sink_end end, struct why *why) {
    struct av *av = state;
    bool ok = end != SINK_PUBLISH || publish(av, why);
    film_destroy(av->film); // before the part is closed: it may still write to it
    if (!ok)
        sink_append(why->text, WHY_BYTES, why_spoken("; the film so far plays from '%.100s'"),
                    av->part.path);
    else if (end == SINK_RESCUE)
        why_set(why, "what there is of it plays from '%s'", av->part.path);
    if (end == SINK_DISCARD)
        partfile_discard(&av->part);
    else
        partfile_keep(&av->part);
    return ok;
}

const struct sink_driver sink_driver_av = {
    .state_bytes = sizeof(struct av),
    .handles = handles,
    .open = av_open,
    .put = av_put,
    .close = av_close,
    .describe = describe,
};
