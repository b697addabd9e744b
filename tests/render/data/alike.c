// See alike.h. Tables of fields; a field that holds text ends at its NUL.
#include "tests/render/data/alike.h"

struct field {
    size_t at, bytes;
    bool is_text;
};
#define DATA(type, name)                                                                           \
    { offsetof(struct type, name), sizeof((struct type *)0)->name, false }
#define TEXT(type, name)                                                                           \
    { offsetof(struct type, name), sizeof((struct type *)0)->name, true }

static bool is_field_alike(const char *a, const char *b, const struct field *field) {
    return field->is_text ? strncmp(a + field->at, b + field->at, field->bytes) == 0
                          : memcmp(a + field->at, b + field->at, field->bytes) == 0;
}

// `count` structs of `size` bytes each; the table ends with a field without bytes.
static bool are_alike(const void *a, const void *b, int count, size_t size,
                      const struct field *fields) {
    for (int i = 0; i < count; i++)
        for (const struct field *field = fields; field->bytes > 0; field++)
            if (!is_field_alike((const char *)a + (size_t)i * size,
                                (const char *)b + (size_t)i * size, field))
                return false;
    return true;
}
#define ALIKE(name, count, fields) are_alike(a->name, b->name, count, sizeof a->name[0], fields)

static const struct field TOKEN[] = {TEXT(view_token, text),
                                     DATA(view_token, look),
                                     DATA(view_token, leading_space),
                                     DATA(view_token, is_prefill),
                                     {0}};
static const struct field SPAN[] = {DATA(view_span, from_ppm),
                                    DATA(view_span, to_ppm),
                                    DATA(view_span, is_prefill),
                                    DATA(view_span, is_charged),
                                    {0}};
static const struct field READOUT[] = {TEXT(view_readout, label), TEXT(view_readout, value),
                                       TEXT(view_readout, note),  TEXT(view_readout, formula),
                                       DATA(view_readout, tone),  {0}};
static const struct field VIEW[] = {
    DATA(view, layers),
    DATA(view, prompt_tokens),
    DATA(view, answer_limit),
    DATA(view, columns),
    DATA(view, stage),
    DATA(view, token_count),
    DATA(view, headers),
    DATA(view, full_columns),
    DATA(view, pass.active),
    DATA(view, pass.is_prefill),
    DATA(view, pass.is_charged),
    DATA(view, pass.first_column),
    DATA(view, pass.column_count),
    DATA(view, pass.stage),
    DATA(view, pass.progress_ppm),
    DATA(view, pass.calm_ppm),
    DATA(view, is_finished),
    DATA(view, drop.column),
    DATA(view, drop.is_prefill),
    DATA(view, drop.grown_ppm),
    DATA(view, drop.fallen_ppm),
    DATA(view, trail.column),
    DATA(view, trail.is_prefill),
    DATA(view, trail.light_ppm),
    DATA(view, span_count),
    DATA(view, playhead_ppm),
    TEXT(view, prefill_label),
    TEXT(view, decode_label),
    DATA(view, decode_label_ppm),
    TEXT(view, scale_label),
    DATA(view, guess_ppm),
    TEXT(view, guess_label),
    DATA(view, readout_count),
    TEXT(view, title),
    TEXT(view, headline),
    TEXT(view, caption),
    DATA(view, caption_tone),
    TEXT(view, origin),
    DATA(view, origin_tone),
    TEXT(view, rate),
    TEXT(view, note),
    TEXT(view, note_short),
    DATA(view, dropped),
    {0},
};

bool alike_views(const struct view *a, const struct view *b) {
    return are_alike(a, b, 1, sizeof *a, VIEW) && ALIKE(tokens, a->token_count, TOKEN) &&
           ALIKE(spans, a->span_count, SPAN) && ALIKE(readouts, a->readout_count, READOUT);
}

static const struct field PARTY[] = {TEXT(panel_party, name), TEXT(panel_party, state),
                                     DATA(panel_party, acts), DATA(panel_party, is_well),
                                     DATA(panel_party, tone), {0}};
static const struct field BLOCK[] = {
    TEXT(panel_block, heading), TEXT(panel_block, text), DATA(panel_block, is_optional), {0}};
static const struct field BAR[] = {TEXT(panel_bar, label),      TEXT(panel_bar, value),
                                   TEXT(panel_bar, note),       DATA(panel_bar, first_ppm),
                                   DATA(panel_bar, second_ppm), DATA(panel_bar, before_ppm),
                                   DATA(panel_bar, tone),       {0}};
static const struct field CONTROL[] = {DATA(panel_control, kind),
                                       DATA(panel_control, target),
                                       DATA(panel_control, tone),
                                       DATA(panel_control, is_focused),
                                       DATA(panel_control, is_off),
                                       TEXT(panel_control, label),
                                       TEXT(panel_control, value),
                                       DATA(panel_control, ppm),
                                       DATA(panel_control, mark_ppm),
                                       TEXT(panel_control, mark_label),
                                       {0}};
static const struct field LINE[] = {TEXT(panel_line, time),
                                    TEXT(panel_line, text),
                                    DATA(panel_line, tone),
                                    DATA(panel_line, is_past),
                                    {0}};
static const struct field PANEL[] = {TEXT(panel, title),
                                     DATA(panel, title_tone),
                                     DATA(panel, party_count),
                                     DATA(panel, block_count),
                                     DATA(panel, block_scroll),
                                     DATA(panel, bar_count),
                                     DATA(panel, control_count),
                                     DATA(panel, has_field),
                                     DATA(panel, line_count),
                                     DATA(panel, line_first),
                                     DATA(panel, line_focus),
                                     TEXT(panel, foot),
                                     {0}};
static const struct field FIELD[] = {TEXT(panel, field),       DATA(panel, field_cursor),
                                     DATA(panel, field_mark),  DATA(panel, tile_count),
                                     TEXT(panel, tiles_label), {0}};

static bool is_field_same(const struct panel *a, const struct panel *b) {
    return !a->has_field ||
           (are_alike(a, b, 1, sizeof *a, FIELD) && ALIKE(tiles, a->tile_count, TOKEN));
}

bool alike_panels(const struct panel *a, const struct panel *b) {
    return are_alike(a, b, 1, sizeof *a, PANEL) && ALIKE(parties, a->party_count, PARTY) &&
           ALIKE(blocks, a->block_count, BLOCK) && ALIKE(bars, a->bar_count, BAR) &&
           ALIKE(controls, a->control_count, CONTROL) && ALIKE(lines, a->line_count, LINE) &&
           is_field_same(a, b);
}

static const struct field SERIES[] = {DATA(plot_series, look),  DATA(plot_series, tone),
                                      DATA(plot_series, first), DATA(plot_series, count),
                                      TEXT(plot_series, label), {0}};
static const struct field PIN[] = {
    DATA(plot_pin, x), DATA(plot_pin, y), TEXT(plot_pin, label), {0}};
static const struct field POINT[] = {{0, sizeof(struct plot_point), false}, {0}};
static const struct field ROW[] = {{0, sizeof(int) * PLOT_MAX_COLUMNS, false}, {0}};
static const struct field PLOT[] = {TEXT(plot, title),        TEXT(plot, origin),
                                    DATA(plot, origin_tone),  TEXT(plot, caption),
                                    TEXT(plot, message),      TEXT(plot, x.label),
                                    DATA(plot, x.from),       DATA(plot, x.to),
                                    DATA(plot, x.is_log),     DATA(plot, x.unit),
                                    TEXT(plot, y.label),      DATA(plot, y.from),
                                    DATA(plot, y.to),         DATA(plot, y.is_log),
                                    DATA(plot, y.unit),       DATA(plot, point_count),
                                    DATA(plot, series_count), DATA(plot, columns),
                                    DATA(plot, rows),         DATA(plot, pin_count),
                                    DATA(plot, dropped),      {0}};

static bool are_plots_alike(const struct plot *a, const struct plot *b) {
    return are_alike(a, b, 1, sizeof *a, PLOT) && ALIKE(points, a->point_count, POINT) &&
           ALIKE(series, a->series_count, SERIES) && ALIKE(cells_ppm, a->rows, ROW) &&
           ALIKE(pins, a->pin_count, PIN);
}

static const struct field LANE[] = {
    TEXT(lab_lane, label), TEXT(lab_lane, value), DATA(lab_lane, span_count), {0}};
static const struct field LAB[] = {
    DATA(lab, lane_count),  DATA(lab, playhead_ppm),  DATA(lab, scale_ns),
    TEXT(lab, scale_label), TEXT(lab, clock_note),    DATA(lab, page),
    DATA(lab, pages),       DATA(lab, control_count), {0}};

bool alike_labs(const struct lab *a, const struct lab *b) {
    if (!are_alike(a, b, 1, sizeof *a, LAB) || !ALIKE(lanes, a->lane_count, LANE) ||
        !ALIKE(controls, a->control_count, CONTROL))
        return false;
    for (int i = 0; i < a->lane_count; i++)
        if (!are_alike(a->lanes[i].spans, b->lanes[i].spans, a->lanes[i].span_count,
                       sizeof(struct view_span), SPAN))
            return false;
    return are_plots_alike(&a->plots[0], &b->plots[0]) &&
           are_plots_alike(&a->plots[1], &b->plots[1]);
}
