/* What the files of src/report share. */
#ifndef REPORT_REPORT_INT_H
#define REPORT_REPORT_INT_H

#include "report/report.h"

/* ---- text.c: foreign text as HTML and as JSON inside HTML ---- */

/* Escaped for text and quoted attributes. What is not UTF-8, control characters and marks that
 * turn the direction of writing become U+FFFD. */
void report_text(Buf *out, Str s);
void report_puts(Buf *out, const char *zero_terminated);
/* A JSON document as the content of a script element: nothing in it can end the element. */
void report_script_json(Buf *out, const char *id, Str json);
void report_base64(Buf *out, const void *bytes, size_t len);
/* Four significant digits; null when not finite. */
void report_json_number(Buf *out, double value);
/* "12.3 us", "4.56 ms", "900 ns"; "-" when not known. */
void report_time(Buf *out, double us);
/* "90.4", one decimal; "-" when not known. */
void report_percent(Buf *out, double share);
/* At most `most` bytes of it, whole characters, head and tail with a note between them. */
Str report_cut(Arena *arena, Str s, size_t most);

/* ---- asset.c ---- */

extern const char report_style[], report_style_end[];
extern const char report_code[], report_code_end[];

/* ---- shell.c: what every page has ---- */

/* Up to the opened <main>; `claim` says at the top what kind of figures these are, `live` adds the class that
 * starts polling. */
#define REPORT_PREDICTED "times are predicted, never measured; no board has run any of this"
#define REPORT_MEASURED                                                                         \
    "measured times are of the machine that ran the bench; all others are predicted, no board " \
    "has run any of this"
void report_open(Buf *out, const char *title, const char *claim, bool live);
/* `words`: what the foot says about the words that the page uses. */
#define REPORT_WORDS                                                                             \
    " <em>Checked</em>: by the simulated twin, on the shapes named. <em>Predicted</em>: by the " \
    "cycle model, whose error docs/cycle-model.md states. <em>Measured</em>: nothing here; no "  \
    "board has run it."
void report_close(Buf *out, const char *version, const char *words);

/* ---- pack.c: pieces of text, packed so that a browser unpacks only what it shows ---- */

typedef struct ReportPack ReportPack;

ReportPack *report_pack_open(size_t most);
/* The number of the piece, or -1 when the pack is full. `name` (may be NULL): a piece of the same
 * name is added once. */
int64_t report_pack_add(ReportPack *pack, const char *name, Str text);
bool report_pack_full(const ReportPack *pack);
bool report_pack_find(const ReportPack *pack, const char *name, int64_t *piece);
/* Writes <script> elements: the packed pieces and where each chunk starts; frees the pack. */
void report_pack_close(ReportPack *pack, Buf *out);

/* ---- rows.c: attempts as rows ---- */

typedef struct ReportRow {
    int64_t id;
    uint32_t run, task; /* indices */
    uint32_t sample, turn;
    VerdictStatus status;
    bool last; /* turn of its sample: what counts */
    double predicted_us, bound_us, baseline_us;
    double measured_us, copy_us; /* on this machine */
    double max_rel_err;
    const char *reason;
    int64_t piece; /* its details; -1: left out */
} ReportRow;

typedef struct ReportTask {
    const char *name, *category, *level;
} ReportTask;

typedef struct ReportRows {
    VEC(ReportRow) rows;
    VEC(ReportTask) tasks;
    uint32_t left_out; /* attempts whose details did not fit */
} ReportRows;

/* pack NULL: no details. */
bool report_rows_read(Store *store, Arena *arena, const ReportSpec *spec, ReportPack *pack,
                      ReportRows *rows, Diag *diag);
/* "statuses":[[text, counted, meaning], ...] */
void report_statuses_json(Buf *json);
void report_rows_json(const ReportSpec *spec, const ReportRows *rows, Buf *json);

/* ---- detail.c: everything of one attempt, as JSON ---- */

typedef struct ReportTexts {
    Store *store;
    ReportPack *pack; /* NULL: texts by the names of their blobs */
    size_t most_text;
    bool draw;           /* this attempt's timelines go into the pack */
    size_t drawing_room; /* bytes that are left for timelines there */
    StoreTasks tasks;    /* whose model files are shown, too */
} ReportTexts;

/* Texts are numbers of pieces, names of blobs, or null where there is none. */
void report_detail(ReportTexts *texts, const StoreAttempt *attempt, Buf *json);

/* ---- overview.c, plot.c, compare.c, published.c: sections of the page ---- */

void report_overview(const ReportSpec *spec, const ReportRows *rows, Buf *out);
/* A bar of 0 to 1 with its interval. */
void report_bar(Buf *out, const ReportShare *share);
void report_status_strip(Buf *out, const uint32_t *statuses, uint32_t samples);
void report_roofline(Buf *out, const ReportSpec *spec, const ReportRows *rows);
void report_case_roofline(Buf *out, const ReportKernel *kernel); /* one dot for each case */
void report_errors(Buf *out, const ReportRows *rows);
void report_compare(const ReportSpec *spec, const ReportRows *rows, Buf *out);
void report_published(const ReportSpec *spec, Buf *out);
/* "run 3 · plan · label" */
void report_run_name(Buf *out, const StoreRun *run);

#endif
