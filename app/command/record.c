// See record.h. The offline loop: moment -> scene_at -> paint_scene -> surface ->
// sink. It knows neither what a scene shows nor how a file is written, reads no
// clock, and draws nothing that a window would not draw at the same moment.
#include "app/command/record.h"

#include "app/picture/frame.h"
#include "app/runs/exhibit.h"
#include "compute/base/num.h"
#include "compute/base/progress.h"
#include "compute/base/signals.h"
#include "compute/base/why.h"
#include "render/film/sink.h"
#include "render/pixel/surface.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// --- The plan ---

static bool is_gif(const char *path) {
    return sink_has_ending(path, ".gif");
}

bool record_plan_picture(struct record_plan *out, const struct options *options, char why[256]) {
    const char *path = options->operand;
    *out = (struct record_plan){
        .kind = sink_wants_stills(path)         ? RECORD_STILLS
                : sink_has_ending(path, ".png") ? RECORD_STILL
                                                : RECORD_FILM,
        // A GIF is for a page or a chat: smaller, and a rate its format can express.
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

// Frames that begin within `screen_ns`: its end is the first moment left out.
static int64_t frames_within(const struct record_plan *plan, int64_t screen_ns) {
    // A day of 240 frames a second and 1001 denominators: 2^47 * 2^27 fits no 64 bits.
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
                        const struct run *run, char *why) {
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
                         const struct run *run, char why[256]) {
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
    if (run->tokens[token].is_control)
        snprintf(out, bytes, "token-%d end", pass->yields + 1);
    else
        snprintf(out, bytes, "token-%d %.*s", pass->yields + 1, (int)text_bytes, text);
}

// --- The film ---

struct recording {
    struct record_plan plan;
    struct exhibit exhibit;  // owned
    struct text *text;       // owned
    struct surface *surface; // owned
    struct sink *sink;       // owned until closed
    struct frame *frame;     // owned; large, so not on the stack
    struct stage_state stage;
    uint64_t drawn_hash; // of the commands that surface shows
    bool has_drawn;
    int most_dropped; // shapes without room in the busiest frame
    int64_t frames;   // done
};

static void close_film(struct recording *film) {
    char ignored[256];
    sink_close(film->sink, false, ignored);
    surface_destroy(film->surface);
    text_destroy(film->text);
    exhibit_close(&film->exhibit);
    free(film->frame);
}

// A chapter with steps of its own gives a still a step.
static bool has_own_steps(const struct recording *film) {
    const struct lesson *lesson = film->exhibit.lesson;
    return lesson && !lesson_follows_run(lesson, film->stage.place.chapter);
}

static bool check_chapter(struct recording *film, const struct options *options, char *why) {
    const struct lesson *lesson = film->exhibit.lesson;
    if (!lesson)
        return true;
    film->stage.place.chapter = options->chapter ? options->chapter - 1 : 0;
    int chapters = lesson_chapters(lesson);
    return film->stage.place.chapter < chapters ||
           why_set(why, "the lesson has %d chapters: take --chapter 1 to %d.", chapters, chapters);
}

// Opens everything that can refuse, cheapest first, the run last.
static bool open_film(struct recording *film, const struct options *options, char *why) {
    struct record_plan *plan = &film->plan;
    if (!record_plan_picture(plan, options, why))
        return false;
    struct sink_opts sink = {
        .width_px = plan->width_px,
        .height_px = plan->height_px,
        .fps_num = plan->fps_num,
        .fps_den = plan->fps_den,
        .overwrite = options->overwrite,
    };
    film->frame = calloc(1, sizeof *film->frame);
    if (!film->frame)
        return why_set(why, "no memory for a frame.");
    bool ok = text_create(&film->text, why) &&
              surface_create(&film->surface, plan->width_px, plan->height_px, film->text, why) &&
              sink_open(&film->sink, options->operand, &sink, why) &&
              exhibit_open(&film->exhibit, options, why) && check_chapter(film, options, why) &&
              record_plan_moments(plan, options, film->exhibit.run, why);
    if (ok && has_own_steps(film) && plan->kind == RECORD_STILLS) {
        plan->first_event = 0;
        plan->frame_count =
            lesson_steps(film->exhibit.lesson, film->stage.place.chapter, film->exhibit.run);
    }
    return ok;
}

// What a window with these options would have chosen.
static void set_stage(struct recording *film, const struct options *options) {
    struct stage_state *stage = &film->stage;
    stage->playhead.rate = film->plan.rate;
    stage->landed_ns = INT64_MIN;
    stage->clock = film->exhibit.run->info.origin == RUN_LESSON ? CLOCK_LESSON : CLOCK_MEASURED;
    stage->counting[stage->clock] = film->exhibit.run->info.counting;
    stage->mode = options->mode;
    stage->theme = options->theme;
    stage->text_step = options->text_step;
    stage->is_calm = options->is_calm;
    stage->page = options->page ? options->page - 1 : 0;
    stage->focus = -1;
    stage->list_focus = -1;
    stage->guess = guess_new();
}

// As far as the sliders go: what was measured, and at least the run itself.
static void put_lengths(struct at_hand *at, const struct exhibit *exhibit) {
    const struct run_info *info = &exhibit->run->info;
    int sweep_prompt = exhibit->work.longest;
    int sweep_answer = sweep_prompt > 0 ? SOURCE_ANSWER_LIMIT : 0; // the map's other side
    at->longest_prompt =
        max_int(max_int(exhibit->longest_prompt, sweep_prompt), info->prompt_tokens);
    at->longest_answer =
        max_int(max_int(exhibit->longest_answer, sweep_answer), info->answer_limit);
    at->can_move = true;
}

static void compose(struct recording *film, int64_t t_ns) {
    const struct exhibit *exhibit = &film->exhibit;
    bool has_engine = exhibit->longest_prompt > 0; // else the run comes from a file or a rule
    struct at_hand at = labwork_at_hand(&exhibit->work, exhibit->run, exhibit->lesson, has_engine);
    struct frame_target target = {
        .width_px = film->plan.width_px,
        .height_px = film->plan.height_px,
        .is_film = true,
        .text = film->text,
    };
    at.t_ns = t_ns;
    put_lengths(&at, exhibit);
    frame_compose(film->frame, &at, &film->stage, &target);
}

// The surface then shows the moment. A frame with the commands of the one before
// has its pixels too.
static void draw_moment(struct recording *film, int64_t t_ns) {
    compose(film, t_ns);
    int dropped = film->frame->scene.dropped + film->frame->view.dropped;
    if (dropped > film->most_dropped)
        film->most_dropped = dropped;
    uint64_t hash = cmdlist_hash(&film->frame->scene);
    if (film->has_drawn && hash == film->drawn_hash)
        return;
    surface_draw(film->surface, &film->frame->scene);
    film->drawn_hash = hash;
    film->has_drawn = true;
}

static bool put_frame(struct recording *film, const char *name, char *why) {
    struct sink_frame frame = {.index = film->frames, .name = name};
    frame.bgra = surface_pixels(film->surface, &frame.pitch_bytes);
    if (!sink_put(film->sink, &frame, why))
        return false;
    film->frames++;
    return true;
}

// Frame `n` of the plan: where the three kinds differ.
static bool record_frame(struct recording *film, int64_t n, char *why) {
    const struct record_plan *plan = &film->plan;
    char name[96] = "";
    int64_t t_ns = plan->last_ns;
    if (plan->kind == RECORD_FILM) {
        t_ns = playhead_frame_ns(plan->rate, plan->first_ns, n, plan->fps_num, plan->fps_den);
    } else if (plan->kind == RECORD_STILLS && has_own_steps(film)) {
        film->stage.place.step = (int)n;
        t_ns = lesson_step_ns(film->exhibit.lesson, film->stage.place, film->exhibit.run);
        film->stage.landed_ns = t_ns;
        snprintf(name, sizeof name, "chapter-%d-step-%d", film->stage.place.chapter + 1,
                 (int)n + 1);
    } else if (plan->kind == RECORD_STILLS) {
        int event = plan->first_event + (int)n;
        t_ns = run_event_ns(film->exhibit.run, event);
        film->stage.landed_ns = t_ns;
        record_still_name(name, sizeof name, film->exhibit.run, event);
    }
    draw_moment(film, t_ns);
    return put_frame(film, name[0] ? name : NULL, why);
}

// False: a frame failed. Ends early, and true, when asked to stop.
static bool record_frames(struct recording *film, bool quiet, char *why) {
    struct progress progress = progress_start(quiet);
    int64_t count = film->plan.frame_count;
    int64_t percent = -1;
    bool ok = true;
    for (int64_t n = 0; ok && n < count && !signals_stop_asked(); n++) {
        if (n * 100 / count != percent) {
            percent = n * 100 / count;
            progress_say(&progress, "frame %" PRId64 " of %" PRId64 ", %" PRId64 " %%", n, count,
                         percent);
        }
        ok = record_frame(film, n, why);
    }
    progress_clear(&progress);
    return ok;
}

static void say_saved(const struct recording *film, const struct options *options) {
    const struct record_plan *plan = &film->plan;
    // Standard output may be the film itself.
    FILE *out = strcmp(options->operand, "-") == 0 ? stderr : stdout;
    const char *stopped = film->frames < plan->frame_count ? "; stopped early" : "";
    if (film->most_dropped > 0)
        fprintf(stderr, "tokendrip: note: %d shapes found no room in the busiest frame.\n",
                film->most_dropped);
    if (options->is_quiet)
        return;
    if (plan->kind == RECORD_FILM)
        fprintf(out, "saved %s: %" PRId64 " frames, %.1f s, %dx%d%s\n", options->operand,
                film->frames, (double)film->frames * plan->fps_den / plan->fps_num, plan->width_px,
                plan->height_px, stopped);
    else
        fprintf(out, "saved %s: %" PRId64 " still%s, %dx%d%s\n", options->operand, film->frames,
                film->frames == 1 ? "" : "s", plan->width_px, plan->height_px, stopped);
}

// Closes the sink in every case, keeping what there is unless there is nothing.
static bool finish_film(struct recording *film, const struct options *options, bool ok, char *why) {
    struct sink *sink = film->sink;
    film->sink = NULL;
    if (ok && film->frames == 0) {
        sink_close(sink, false, why);
        return why_set(why, "stopped before the first frame; nothing was saved.");
    }
    // After a failed frame this says where the part file is.
    if (!sink_close(sink, true, why) || !ok)
        return false;
    say_saved(film, options);
    return true;
}

int record_command(const struct options *options, char why[256]) {
    struct recording film = {0};
    bool ok = open_film(&film, options, why);
    if (ok) {
        if (!options->is_quiet && sink_note(film.sink)[0])
            fprintf(stderr, "tokendrip: note: %s\n", sink_note(film.sink));
        set_stage(&film, options);
        ok = record_frames(&film, options->is_quiet, why);
        ok = finish_film(&film, options, ok, why);
    }
    close_film(&film);
    if (signals_stop_asked())
        return EXIT_STOPPED;
    return ok ? EXIT_OK : EXIT_FAILED;
}
