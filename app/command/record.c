// See record.h. The loop: moment -> frame_compose -> surface -> sink. It knows neither
// what a frame shows nor how a file is written, and it reads no clock. A window draws the
// same frame at the same moment, with a line of key hints.
#include "app/command/record.h"

#include "app/command/footage.h"
#include "app/picture/frame.h"
#include "app/state/lengths.h"
#include "compute/base/figures.h"
#include "compute/base/num.h"
#include "compute/base/progress.h"
#include "compute/base/signals.h"
#include "compute/base/why.h"
#include "render/film/sink.h"
#include "render/pixel/surface.h"

#include <inttypes.h>
#include <stdlib.h>

// --- The plan ---

static bool is_gif(const char *path) {
    return sink_has_ending(path, ".gif");
}

bool record_plan_picture(struct record_plan *out, const struct options *options, struct why *why) {
    const char *path = options->operand;
    *out = (struct record_plan){
        .kind = sink_wants_stills(path)         ? RECORD_STILLS
                : sink_has_ending(path, ".png") ? RECORD_STILL
                                                : RECORD_FILM,
        // A GIF is for a page or a chat: smaller, at a rate that its format can express.
        .width_px = is_gif(path) ? 854 : 1920,
        .height_px = is_gif(path) ? 480 : 1080,
        .fps_num = is_gif(path) ? 25 : 60,
        .fps_den = 1,
    };
    if (options->width_px > 0) {
        out->width_px = options->width_px;
        out->height_px = options->height_px;
    }
    if (options->fps_num > 0) {
        out->fps_num = options->fps_num;
        out->fps_den = options->fps_den;
    }
    if (out->width_px >= LAYOUT_MIN_WIDTH_PX && out->height_px >= LAYOUT_MIN_HEIGHT_PX)
        return true;
    return why_set(why, "%dx%d is too small for the picture. Take --size %dx%d or more.",
                   out->width_px, out->height_px, LAYOUT_MIN_WIDTH_PX, LAYOUT_MIN_HEIGHT_PX);
}

// Screen time from the film's first frame to a moment of the run.
static int64_t screen_ns_of(const struct record_plan *plan, int64_t run_ns) {
    return PLAYHEAD_LEAD_SCREEN_NS + playhead_screen_ns(plan->rate, run_ns);
}

// Frames that begin before `screen_ns`.
static int64_t frames_within(const struct record_plan *plan, int64_t screen_ns) {
    // A day at 240000/1001 frames a second is 2^47 ns * 2^18, more than 64 bits hold.
    __extension__ typedef __int128 wide;
    wide den = (wide)plan->fps_den * 1000000000;
    return (int64_t)(((wide)screen_ns * plan->fps_num + den - 1) / den);
}

static bool plan_film(struct record_plan *plan, const struct options *options, int64_t length_ns) {
    int64_t from_ns = options->from_ns > 0 ? options->from_ns : 0;
    plan->first_ns += playhead_run_ns(plan->rate, from_ns);
    if (options->to_ns >= 0 && options->to_ns < length_ns)
        plan->frame_count = frames_within(plan, options->to_ns - from_ns);
    else
        plan->frame_count = playhead_frame_count(plan->rate, plan->first_ns, plan->last_ns,
                                                 plan->fps_num, plan->fps_den);
    return true;
}

static bool plan_stills(struct record_plan *plan, const struct options *options,
                        const struct run *run, struct why *why) {
    for (int event = 0; event < run_events(run); event++) {
        int64_t at_ns = screen_ns_of(plan, run_event_ns(run, event));
        if (at_ns < options->from_ns)
            plan->first_event = event + 1;
        else if (options->to_ns < 0 || at_ns < options->to_ns)
            plan->frame_count++;
    }
    return plan->frame_count > 0 ||
           why_set(why, "no event lies between --from and --to. Leave them out for all %d.",
                   run_events(run));
}

bool record_plan_moments(struct record_plan *plan, const struct options *options,
                         const struct run *run, struct why *why) {
    int64_t end_ns = run_end_ns(run);
    plan->rate = options->rate.num > 0 ? options->rate : playhead_rate_for(end_ns);
    plan->first_ns = -playhead_run_ns(plan->rate, PLAYHEAD_LEAD_SCREEN_NS);
    plan->last_ns = end_ns + playhead_run_ns(plan->rate, PLAYHEAD_TAIL_SCREEN_NS);
    int64_t length_ns = screen_ns_of(plan, end_ns) + PLAYHEAD_TAIL_SCREEN_NS;
    if (options->from_ns > length_ns)
        return why_set(why, "--from lies past the end: the film lasts %.1f s.",
                       (double)length_ns / 1e9);
    if (plan->kind == RECORD_STILLS)
        return plan_stills(plan, options, run, why);
    if (plan->kind == RECORD_FILM)
        return plan_film(plan, options, length_ns);
    if (options->from_ns >= 0)
        plan->last_ns = plan->first_ns + playhead_run_ns(plan->rate, options->from_ns);
    plan->frame_count = 1;
    return true;
}

void record_still_name(char *out, size_t bytes, const struct run *run, int event) {
    if (event == 0) {
        snprintf(out, bytes, "prompt");
        return;
    }
    const struct run_pass *pass = &run->passes[event - 1];
    if (pass->phase == RUN_PREFILL) {
        bool is_only = pass->first_column == 0 && pass->column_count == run->info.prompt_tokens;
        if (is_only)
            snprintf(out, bytes, "prefill");
        else
            snprintf(out, bytes, "prefill-%d", event);
        return;
    }
    int token = run->info.prompt_tokens + pass->yields;
    size_t text_bytes = 0;
    const char *text = run_token_text(run, token, &text_bytes);
    if (run->tokens[token].kind == RUN_CONTROL)
        snprintf(out, bytes, "token-%d end", pass->yields + 1);
    else
        snprintf(out, bytes, "token-%d %.*s", pass->yields + 1, (int)text_bytes, text);
}

// --- The recording ---

struct recording {
    struct record_plan plan;
    struct footage footage;  // owned
    struct text *text;       // owned
    struct surface *surface; // owned
    struct sink *sink;       // owned until closed
    struct frame *frame;     // owned; large, so not on the stack
    struct stage_state stage;
    bool has_drawn;
    uint64_t drawn_hash; // of the commands that the surface shows
    int most_dropped;    // shapes that did not fit into the fullest frame
    int64_t frames;      // written so far
};

static void close_all(struct recording *recording) {
    struct why ignored;
    sink_close(recording->sink, false, &ignored);
    surface_destroy(recording->surface);
    text_destroy(recording->text);
    footage_close(&recording->footage);
    free(recording->frame);
}

// A chapter with steps of its own is recorded as one still for each step.
static bool has_own_steps(const struct recording *recording) {
    const struct lesson *lesson = recording->footage.lesson;
    return lesson && !lesson_follows_run(lesson, recording->stage.place.chapter);
}

// Without --chapter it is the first that follows the run: a film plays the run, and pages
// before it would stand still.
static bool find_chapter(struct recording *recording, const struct options *options,
                         struct why *why) {
    const struct lesson *lesson = recording->footage.lesson;
    int *chapter = &recording->stage.place.chapter;
    if (!lesson)
        return true;
    int chapters = lesson_chapters(lesson);
    if (options->chapter == 0)
        *chapter = max_int(lesson_run_chapter(lesson), 0);
    return *chapter < chapters ||
           why_set(why, "the lesson has %d chapters: take --chapter 1 to %d.", chapters, chapters);
}

// Opens all that can fail: the cheapest first, the run, which may be measured, last.
static bool open_all(struct recording *recording, const struct options *options, struct why *why) {
    struct record_plan *plan = &recording->plan;
    struct options_files files;
    if (!record_plan_picture(plan, options, why))
        return false;
    struct sink_opts sink = {
        .width_px = plan->width_px,
        .height_px = plan->height_px,
        .fps_num = plan->fps_num,
        .fps_den = plan->fps_den,
        .overwrite = options->overwrite,
        .taken = files.list,
    };
    options_files(&files, options);
    recording->frame = calloc(1, sizeof *recording->frame);
    if (!recording->frame)
        return why_set(why, "no memory for a frame.");
    bool ok = text_create(&recording->text, why) &&
              surface_create(&recording->surface, plan->width_px, plan->height_px, recording->text,
                             why) &&
              sink_open(&recording->sink, options->operand, &sink, why) &&
              footage_open(&recording->footage, options, why) &&
              find_chapter(recording, options, why) &&
              record_plan_moments(plan, options, recording->footage.run, why);
    if (ok && has_own_steps(recording) && plan->kind == RECORD_STILLS) {
        plan->first_event = 0;
        plan->frame_count = lesson_steps(recording->footage.lesson, recording->stage.place.chapter,
                                         recording->footage.run);
    }
    return ok;
}

// What the stage shows of the opened run, as a window would.
static void set_stage(struct recording *recording) {
    const struct run_info *info = &recording->footage.run->info;
    struct stage_state *stage = &recording->stage;
    stage->playhead.rate = recording->plan.rate;
    stage->clock = info->origin == RUN_LESSON ? CLOCK_LESSON : CLOCK_MEASURED;
    stage->counting[stage->clock] = info->counting;
}

// The sliders reach as far as lengths were measured, or as a lesson's go in the window, and
// at least to the run's own.
static void put_lengths(struct at_hand *at, const struct footage *footage) {
    const struct run_info *info = &footage->run->info;
    int prompt = max_int(footage->longest_prompt, footage->work.longest);
    int answer = footage->work.longest > 0 ? SOURCE_ANSWER_LIMIT : 0; // the map's other side
    answer = max_int(footage->longest_answer, answer);
    if (info->origin == RUN_LESSON) {
        prompt = LENGTH_LESSON_PROMPT;
        answer = LENGTH_LESSON_ANSWER;
    }
    at->longest_prompt = max_int(prompt, info->prompt_tokens);
    at->longest_answer = max_int(answer, info->answer_limit);
    at->can_move = true;
}

static void compose(struct recording *recording, int64_t t_ns) {
    const struct footage *footage = &recording->footage;
    bool has_engine = footage->longest_prompt > 0; // else the run comes from a file or a rule
    struct at_hand at = labwork_at_hand(&footage->work, footage->run, footage->lesson, has_engine);
    struct frame_target target = {
        .width_px = recording->plan.width_px,
        .height_px = recording->plan.height_px,
        .is_film = true,
        .text = recording->text,
    };
    at.t_ns = t_ns;
    put_lengths(&at, footage);
    frame_compose(recording->frame, &at, &recording->stage, &target);
}

// Draws the moment on the surface, unless its commands are those of the frame before.
static void draw_moment(struct recording *recording, int64_t t_ns) {
    const struct frame *frame = recording->frame;
    compose(recording, t_ns);
    recording->most_dropped =
        max_int(recording->most_dropped, frame->scene.dropped + frame->view.dropped);
    uint64_t hash = cmdlist_hash(&frame->scene);
    if (recording->has_drawn && hash == recording->drawn_hash)
        return;
    surface_draw(recording->surface, &frame->scene);
    recording->drawn_hash = hash;
    recording->has_drawn = true;
}

static bool put_frame(struct recording *recording, const char *name, struct why *why) {
    struct sink_frame frame = {.index = recording->frames, .name = name};
    frame.bgra = surface_pixels(recording->surface, &frame.pitch_bytes);
    if (!sink_put(recording->sink, &frame, why))
        return false;
    recording->frames++;
    return true;
}

// Frame `n` of the plan: here the three kinds differ.
static bool record_frame(struct recording *recording, int64_t n, struct why *why) {
    const struct record_plan *plan = &recording->plan;
    const struct run *run = recording->footage.run;
    struct stage_state *stage = &recording->stage;
    char name[96] = "";
    int64_t t_ns = plan->last_ns;
    if (plan->kind == RECORD_FILM) {
        t_ns = playhead_frame_ns(plan->rate, plan->first_ns, n, plan->fps_num, plan->fps_den);
    } else if (plan->kind == RECORD_STILLS && has_own_steps(recording)) {
        stage->place.step = (int)n;
        stage->landed_ns = t_ns = lesson_step_ns(recording->footage.lesson, stage->place, run);
        snprintf(name, sizeof name, "chapter-%d-step-%d", stage->place.chapter + 1, (int)n + 1);
    } else if (plan->kind == RECORD_STILLS) {
        int event = plan->first_event + (int)n;
        stage->landed_ns = t_ns = run_event_ns(run, event);
        record_still_name(name, sizeof name, run, event);
    }
    draw_moment(recording, t_ns);
    return put_frame(recording, name[0] ? name : NULL, why);
}

// True also when it was asked to stop early; false: a frame failed.
static bool record_frames(struct recording *recording, bool quiet, struct why *why) {
    struct progress progress = progress_start(quiet);
    int64_t count = recording->plan.frame_count;
    int64_t percent = 0;
    bool ok = true;
    for (int64_t n = 1; ok && n <= count && !signals_stop_asked(); n++) {
        ok = record_frame(recording, n - 1, why);
        if (n * 100 / count == percent)
            continue;
        percent = n * 100 / count;
        progress_say(&progress, "frame %" PRId64 " of %" PRId64 ", %" PRId64 " %%", n, count,
                     percent);
    }
    progress_clear(&progress);
    return ok;
}

static void say_saved(const struct recording *recording, const struct options *options) {
    const struct record_plan *plan = &recording->plan;
    // Standard output may be the film itself.
    FILE *out = options_is_stdout(options->operand) ? stderr : stdout;
    const char *stopped = recording->frames < plan->frame_count ? "; stopped early" : "";
    if (recording->most_dropped > 0)
        fprintf(stderr, "tokendrip: note: %d shapes found no room in the busiest frame.\n",
                recording->most_dropped);
    if (options->is_quiet)
        return;
    if (plan->kind == RECORD_FILM)
        fprintf(out, "saved %s: %" PRId64 " frames, %.1f s, %dx%d%s\n", options->operand,
                recording->frames, (double)recording->frames * plan->fps_den / plan->fps_num,
                plan->width_px, plan->height_px, stopped);
    else
        fprintf(out, "saved %s: %s, %dx%d%s\n", options->operand,
                figure_counted(recording->frames, false, "still").text, plan->width_px,
                plan->height_px, stopped);
}

// Closes the sink in every case and keeps what was written, if anything was.
static bool finish(struct recording *recording, const struct options *options, bool ok,
                   struct why *why) {
    struct sink *sink = recording->sink;
    recording->sink = NULL;
    if (ok && recording->frames == 0) {
        sink_close(sink, false, why);
        return why_set(why, "stopped before the first frame; nothing was saved.");
    }
    // After a failed frame `why` says where the unfinished file is.
    if (!sink_close(sink, true, why) || !ok)
        return false;
    say_saved(recording, options);
    return true;
}

int record_command(const struct options *options, struct why *why) {
    struct recording recording = {.stage = footage_stage(options)};
    bool ok = open_all(&recording, options, why);
    if (ok) {
        const char *const notes[] = {text_note(recording.text), sink_note(recording.sink)};
        for (int i = 0; i < 2; i++)
            if (!options->is_quiet && notes[i][0])
                footage_tell_note(notes[i]);
        set_stage(&recording);
        ok = record_frames(&recording, options->is_quiet, why);
        ok = finish(&recording, options, ok, why);
    }
    close_all(&recording);
    if (signals_stop_asked())
        return EXIT_STOPPED;
    return ok ? EXIT_OK : EXIT_FAILED;
}
