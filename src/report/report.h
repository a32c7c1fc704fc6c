/* The results as a page: one HTML file that asks nothing of a network.
 *
 *     attempts (store) ─┬─▶ rows, plots ─▶ the overview, as HTML and SVG
 *                       └─▶ texts, verdicts, timelines ─▶ packed pieces, unpacked when opened
 *     scores (given) ─────▶ tables, comparison, the papers beside them
 *
 * Everything that is printed is predicted or checked, and every page says so; measured are only times of kernels
 * for this machine (bench --platform cpu), in columns of their own.
 * Text of models is untrusted: it is escaped wherever it is shown, no script but ours may run
 * (the page carries the hash of its own), and a text that does not fit is cut, with a note.
 * The same store gives the same bytes. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "store/store.h"

/* A score with its interval; shares are 0 to 1, NaN when there is none. */
typedef struct ReportShare {
    double share, low, high;
    double of_correct; /* the share among correct answers */
} ReportShare;

enum { REPORT_FAST = 3 }; /* p = 0.2, 0.8, 1.0 */

typedef struct ReportScore {
    uint32_t k;
    ReportShare compile, pass, fast[REPORT_FAST];
    double pass_without; /* Pass@k as if what acraft lacks had never been sampled */
} ReportScore;

/* One line of a table: a category, a level, all. */
typedef struct ReportGroup {
    const char *title;
    bool total;
    uint32_t tasks, unsupported; /* unsupported: samples that are acraft's own failure */
    ReportShare bound;           /* mean of bound / predicted time */
    VEC(ReportScore) scores;     /* one for each k */
} ReportGroup;

typedef struct ReportRun {
    StoreRun run;
    VEC(ReportGroup) groups; /* the last one is all of it */
    uint32_t statuses[VERDICT_STATUS_COUNT];
    uint32_t samples, repaired;
    uint32_t with_baseline;                /* tasks */
    double level_score, level_score_cases; /* NaN: no levels */
} ReportRun;

/* What one file keeps of texts unless told otherwise, in KiB. */
enum { REPORT_TEXT_KIB = 128, REPORT_ALL_KIB = 16 << 10 };

typedef struct ReportSpec {
    const ReportRun *runs;
    uint32_t count;
    const char *version;
    bool live;        /* details are fetched from the server that gave the page */
    size_t most_text; /* bytes of one text, longer ones are cut; 0: REPORT_TEXT_KIB */
    size_t most_all;  /* bytes of all packed details, then no more are added; 0: REPORT_ALL_KIB */
} ReportSpec;

bool report_page(Store *store, const ReportSpec *spec, Buf *html, Diag *diag);

/* One attempt as a live page asks for it: JSON whose texts are names of blobs. */
bool report_attempt(Store *store, int64_t attempt, Buf *json, Diag *diag);
/* A trace (sim/trace.h) as the page draws it; false when it is none. */
bool report_timeline(Str trace, Buf *json);

/* One kernel, as `acraft make` writes it. */
typedef struct ReportFile {
    const char *path;
    Str text;
} ReportFile;

typedef struct ReportKernel {
    const char *name, *chip, *version;
    const char *task;          /* path of the model file; "" */
    const char *dtypes;        /* "f32 and f16"; "" */
    bool several;              /* the verdicts are those of several dtypes */
    const char *summary;       /* a few lines, shown as they are */
    double unfused_us;         /* predicted, operator by operator; 0: not known */
    double eager_us;           /* measured, of PyTorch eager; 0: not known */
    double low_us, high_us;    /* between which the time of report_timed lies; 0: not known */
    VEC(const char *) reasons; /* why it was planned so, one line each */
    VEC(ReportFile) files;     /* the Craft text first, then AscendC, then others */
    VEC(const Verdict *) verdicts;
    VEC(const Verdict *) written; /* of the files, read back: each form at each of their cases */
    Str trace; /* of the last verdict, or of a run without one; empty: pipes are drawn instead */
    Str timed_trace; /* of the case that the headline is about; empty: none */
} ReportKernel;

void report_kernel(const ReportKernel *kernel, Buf *html);
/* The verdict that the headline is about: the largest case that was timed; NULL: none. */
const Verdict *report_timed(const ReportKernel *kernel);

/* What `acraft train` writes about a run, a line a step (docs/training.md). */
typedef struct ReportCurve {
    const char *name;
    Str lines;
} ReportCurve;

void report_curves(const ReportCurve *given, uint32_t count, const char *version, Buf *html);

#endif
