// See film.h. Frame numbers are the only clock: the encoder's time base is one
// frame, so no rounding can creep in. Bit-exact and with a fixed thread count, so
// that the same frames give the same file.
//
// Two pictures: while one is being encoded by the film's thread, the caller fills
// the other. Encoding flat graphics keeps one core busy, whatever thread count the
// encoder has, so this is what lets drawing run beside it.
#include "render/film/film.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "compute/base/why.h"
#include "render/film/color.h"
#include "render/film/muxer.h"
#include "render/film/sink.h"

enum { KEY_FRAME_SECONDS = 2 }; // how far a player has to search back

struct film {
    const struct film_spec *spec;
    const struct film_encoder *encoder;
    struct muxer *muxer;

    // The caller's.
    AVFrame *frames[2];
    int filling;    // index of the picture that film_next hands out
    int64_t number; // of that picture
    pthread_t thread;
    bool has_thread;

    // The thread's while it runs, then the caller's.
    AVCodecContext *codec;
    AVPacket *packet;

    // Under the lock.
    pthread_mutex_t lock;
    pthread_cond_t changed;
    AVFrame *pending; // to be encoded, or being encoded; NULL: the thread is idle
    bool is_stopping;
    bool has_failed;
    struct why why; // the thread's failure
};

static void fill_bt709(AVFrame *out, const uint8_t *bgra, int pitch_bytes) {
    const struct color_planes planes = {
        .y = out->data[0],
        .cb = out->data[1],
        .cr = out->data[2],
        .y_pitch_bytes = out->linesize[0],
        .cb_pitch_bytes = out->linesize[1],
        .cr_pitch_bytes = out->linesize[2],
    };
    color_to_yuv420(&planes, COLOR_BT709, bgra, pitch_bytes, out->width, out->height);
}

static void fill_rgb(AVFrame *out, const uint8_t *bgra, int pitch_bytes) {
    for (int y = 0; y < out->height; y++)
        color_row_to_rgb24(out->data[0] + (ptrdiff_t)y * out->linesize[0],
                           bgra + (ptrdiff_t)y * pitch_bytes, out->width);
}

const struct film_picture film_bt709 = {
    .format = AV_PIX_FMT_YUV420P,
    .range = AVCOL_RANGE_MPEG,
    .matrix = AVCOL_SPC_BT709,
    .primaries = AVCOL_PRI_BT709,
    .transfer = AVCOL_TRC_BT709,
    .siting = AVCHROMA_LOC_LEFT,
    .fill = fill_bt709,
};

const struct film_picture film_rgb = {
    .format = AV_PIX_FMT_RGB24,
    .range = AVCOL_RANGE_JPEG,
    .matrix = AVCOL_SPC_RGB,
    .primaries = AVCOL_PRI_BT709,
    .transfer = AVCOL_TRC_IEC61966_2_1,
    .fill = fill_rgb,
};

// Flat graphics: against preset `medium`, `veryfast` takes half the time for files
// a tenth larger. No B-frames: a tenth faster again for 4 % more bytes, and times
// need no edit list, which some players ignore.
const struct film_encoder film_h264[] = {
    {"libx264", "preset=veryfast,crf=12,tune=animation,bf=0,profile=high", NULL},
    {"libopenh264", "rc_mode=quality,b=8000000",
     "libx264 is missing, so libopenh264 encodes: larger files"},
    {"mpeg4", "flags=+qscale,global_quality=236",
     "no H.264 encoder is here, so this is MPEG-4 Part 2: larger, and browsers don't play it"},
    {NULL, NULL, NULL},
};

void film_tag(AVCodecParameters *out, const struct film_picture *picture) {
    out->color_range = picture->range;
    out->color_space = picture->matrix;
    out->color_primaries = picture->primaries;
    out->color_trc = picture->transfer;
    out->chroma_location = picture->siting;
    out->sample_aspect_ratio = (AVRational){1, 1};
}

const struct film_encoder *film_find_encoder(const struct film_encoder *encoders) {
    for (; encoders->name; encoders++) {
        if (avcodec_find_encoder_by_name(encoders->name))
            return encoders;
    }
    return NULL;
}

static void configure(AVCodecContext *codec, const struct film_spec *spec) {
    const struct film_picture *picture = spec->picture;
    codec->width = spec->width_px;
    codec->height = spec->height_px;
    codec->pix_fmt = picture->format;
    codec->color_range = picture->range;
    codec->colorspace = picture->matrix;
    codec->color_primaries = picture->primaries;
    codec->color_trc = picture->transfer;
    codec->chroma_sample_location = picture->siting;
    codec->sample_aspect_ratio = (AVRational){1, 1};
    codec->time_base = (AVRational){spec->fps_den, spec->fps_num};
    codec->framerate = (AVRational){spec->fps_num, spec->fps_den};
    codec->gop_size = (KEY_FRAME_SECONDS * spec->fps_num + spec->fps_den / 2) / spec->fps_den;
    codec->thread_count = spec->threads;
    codec->flags |= AV_CODEC_FLAG_BITEXACT;
}

static bool try_encoder(struct film *film, const struct film_encoder *encoder, struct why *why) {
    const AVCodec *codec = avcodec_find_encoder_by_name(encoder->name);
    film->codec = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!film->codec)
        return why_set(why, "no memory for the encoder %s", encoder->name);
    configure(film->codec, film->spec);
    if (muxer_wants_global_header(film->muxer))
        film->codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    AVDictionary *options = NULL;
    int result = av_dict_parse_string(&options, encoder->options, "=", ",", 0);
    if (result >= 0)
        result = avcodec_open2(film->codec, codec, &options);
    av_dict_free(&options);
    if (result >= 0) {
        film->encoder = encoder;
        return true;
    }
    avcodec_free_context(&film->codec);
    char what[WHY_BYTES];
    snprintf(what, sizeof what, "the encoder %s refuses %dx%d", encoder->name, film->spec->width_px,
             film->spec->height_px);
    return muxer_refuse(why, what, result);
}

// An encoder may be built in and still not open (a missing run-time library, a
// size it can't do): then the next one has its turn.
static bool open_encoder(struct film *film, struct why *why) {
    why_set(why, "this FFmpeg has no encoder for it");
    for (const struct film_encoder *encoder = film->spec->encoders; encoder->name; encoder++) {
        if (avcodec_find_encoder_by_name(encoder->name) && try_encoder(film, encoder, why))
            return true;
    }
    return false;
}

static bool open_frames(struct film *film, struct why *why) {
    film->packet = av_packet_alloc();
    if (!film->packet)
        return why_set(why, "no memory for a packet");
    for (int i = 0; i < 2; i++) {
        AVFrame *frame = film->frames[i] = av_frame_alloc();
        if (!frame)
            return why_set(why, "no memory for a picture");
        frame->format = film->spec->picture->format;
        frame->width = film->spec->width_px;
        frame->height = film->spec->height_px;
        int result = av_frame_get_buffer(frame, 0);
        if (result < 0)
            return muxer_refuse(why, "no memory for a picture", result);
    }
    return true;
}

static bool begin(struct film *film, struct why *why) {
    AVCodecParameters *parameters = avcodec_parameters_alloc();
    int result =
        parameters ? avcodec_parameters_from_context(parameters, film->codec) : AVERROR(ENOMEM);
    bool ok = result < 0 ? muxer_refuse(why, "can't describe the stream", result)
                         : muxer_begin(film->muxer, parameters, film->codec->framerate,
                                       film->spec->container_options, why);
    avcodec_parameters_free(&parameters);
    return ok;
}

// Writes what the encoder has ready. Draining: until it has given everything.
static bool receive(struct film *film, bool draining, struct why *why) {
    for (;;) {
        int result = avcodec_receive_packet(film->codec, film->packet);
        if (result == AVERROR_EOF || (result == AVERROR(EAGAIN) && !draining))
            return true;
        if (result < 0)
            return muxer_refuse(why, "the encoder failed", result);
        if (!muxer_write(film->muxer, film->packet, why))
            return false;
    }
}

static bool encode(struct film *film, const AVFrame *frame, struct why *why) {
    int result = avcodec_send_frame(film->codec, frame);
    if (result < 0)
        return muxer_refuse(why, "the encoder refuses a frame", result);
    return receive(film, frame == NULL, why);
}

// Encodes a picture, then takes it back. Encoders that compare with the picture
// before keep it; then the next filling needs other memory. Here, on the thread that
// the encoder runs on, the picture has no other user.
static bool encode_picture(struct film *film, AVFrame *frame, struct why *why) {
    if (!encode(film, frame, why))
        return false;
    int result = av_frame_make_writable(frame);
    return result >= 0 || muxer_refuse(why, "no memory for a picture", result);
}

static void *encode_pending(void *context) {
    struct film *film = context;
    pthread_mutex_lock(&film->lock);
    for (;;) {
        while (!film->pending && !film->is_stopping)
            pthread_cond_wait(&film->changed, &film->lock);
        if (!film->pending)
            break;
        AVFrame *frame = film->pending;
        pthread_mutex_unlock(&film->lock);
        struct why why = {0};
        bool ok = encode_picture(film, frame, &why);
        pthread_mutex_lock(&film->lock);
        if (!ok && !film->has_failed) {
            film->has_failed = true;
            why_set(&film->why, "%s", why.text);
        }
        film->pending = NULL;
        pthread_cond_broadcast(&film->changed);
    }
    pthread_mutex_unlock(&film->lock);
    return NULL;
}

static bool start_thread(struct film *film, struct why *why) {
    int error = pthread_create(&film->thread, NULL, encode_pending, film);
    film->has_thread = error == 0;
    return film->has_thread ||
           why_set(why, "can't start the encoder's thread: %s", strerror(error));
}

// Waits until the last picture is encoded and the thread has gone.
static void stop_thread(struct film *film) {
    if (!film->has_thread)
        return;
    pthread_mutex_lock(&film->lock);
    film->is_stopping = true;
    pthread_cond_broadcast(&film->changed);
    pthread_mutex_unlock(&film->lock);
    pthread_join(film->thread, NULL);
    film->has_thread = false;
}

bool film_open(struct film **out, struct partfile *part, const struct film_spec *spec,
               struct why *why) {
    *out = NULL;
    struct film *film = calloc(1, sizeof *film);
    if (!film)
        return why_set(why, "no memory for the film");
    film->spec = spec;
    pthread_mutex_init(&film->lock, NULL);
    pthread_cond_init(&film->changed, NULL);
    bool ok = muxer_open(&film->muxer, part, spec->container, why) && open_encoder(film, why) &&
              open_frames(film, why) && begin(film, why) && start_thread(film, why);
    if (!ok) {
        film_destroy(film);
        return false;
    }
    *out = film;
    return true;
}

const char *film_note(const struct film *film) {
    return film->encoder->note ? film->encoder->note : "";
}

AVFrame *film_next(struct film *film) {
    AVFrame *frame = film->frames[film->filling];
    const struct film_picture *picture = film->spec->picture;
    frame->pts = film->number;
    frame->color_range = picture->range;
    frame->colorspace = picture->matrix;
    frame->color_primaries = picture->primaries;
    frame->color_trc = picture->transfer;
    frame->chroma_location = picture->siting;
    frame->sample_aspect_ratio = (AVRational){1, 1};
    return frame;
}

bool film_put(struct film *film, struct why *why) {
    pthread_mutex_lock(&film->lock);
    while (film->pending)
        pthread_cond_wait(&film->changed, &film->lock);
    bool ok = !film->has_failed || why_set(why, "%s", film->why.text);
    if (ok) {
        film->pending = film->frames[film->filling];
        film->filling = 1 - film->filling;
        film->number++;
        pthread_cond_broadcast(&film->changed);
    }
    pthread_mutex_unlock(&film->lock);
    return ok;
}

bool film_finish(struct film *film, struct why *why) {
    stop_thread(film);
    if (film->has_failed)
        return why_set(why, "%s", film->why.text);
    return encode(film, NULL, why) && muxer_end(film->muxer, why);
}

void film_destroy(struct film *film) {
    if (!film)
        return;
    stop_thread(film);
    muxer_destroy(film->muxer);
    avcodec_free_context(&film->codec);
    for (int i = 0; i < 2; i++)
        av_frame_free(&film->frames[i]);
    av_packet_free(&film->packet);
    pthread_cond_destroy(&film->changed);
    pthread_mutex_destroy(&film->lock);
    free(film);
}
