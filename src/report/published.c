/* The papers' figures beside ours. In: runs with their scores. Out: one folded table for each
 * paper, with its source and what does not compare. */
#include "report/report_int.h"

#include <string.h>

typedef struct Paper {
    const char *suite;
    bool levels; /* figures of levels, never of all */
    const char *title, *source, *differs;
} Paper;

typedef struct Figure {
    const char *suite, *who;
    uint32_t tasks, k;
    double compile, pass, fast;
} Figure;

static const Paper papers[] = {
#define PAPER(suite, levels, title, source, differs) {#suite, levels, title, source, differs},
#define FIGURE(...)
#include "report/published.def"
#undef PAPER
#undef FIGURE
};

static const Figure figures[] = {
#define PAPER(...)
#define FIGURE(suite, who, tasks, k, compile, pass, fast) \
    {#suite, who, tasks, k, compile, pass, fast},
#include "report/published.def"
#undef PAPER
#undef FIGURE
};

enum { PAPERS = sizeof papers / sizeof *papers, FIGURES = sizeof figures / sizeof *figures };

/* Shares that compiled stand on wide pages alone. */
#define COMPILED " narrow-off"

static void put_cell(Buf *out, const char *more, double percent)
{
    if (percent < 0)
        buf_printf(out, "<td class=\"n%s\">-</td>", more);
    else
        buf_printf(out, "<td class=\"n%s\">%.1f</td>", more, percent);
}

static void put_theirs(Buf *out, const Figure *f)
{
    buf_puts(out, "<tr><td>");
    report_puts(out, f->who);
    if (f->tasks)
        buf_printf(out, "</td><td class=\"n narrow-off\">%u</td>", f->tasks);
    else
        buf_puts(out, "</td><td class=\"n narrow-off\">-</td>");
    buf_printf(out, "<td class=\"n\">%u</td>", f->k);
    put_cell(out, COMPILED, f->compile);
    put_cell(out, "", f->pass);
    put_cell(out, "", f->fast);
}

static void put_ours_cell(Buf *out, const char *more, double share)
{
    buf_printf(out, "<td class=\"n ours%s\">", more);
    report_percent(out, share);
    buf_puts(out, "</td>");
}

static void put_ours_cells(Buf *out, const ReportScore *s)
{
    put_ours_cell(out, COMPILED, s->compile.share);
    put_ours_cell(out, "", s->pass.share);
    put_ours_cell(out, "", s->fast[REPORT_FAST - 1].share);
}

static const ReportScore *score_at(const ReportGroup *g, uint32_t k)
{
    for (uint32_t i = 0; i < g->scores.len; i++)
        if (g->scores.at[i].k == k)
            return &g->scores.at[i];
    return NULL;
}

static const ReportGroup *group_named(const ReportRun *run, const char *title)
{
    for (uint32_t i = 0; i < run->groups.len; i++)
        if (!strcmp(run->groups.at[i].title, title))
            return &run->groups.at[i];
    return NULL;
}

static bool is_of(const ReportRun *run, const char *suite)
{
    return !strcmp(run->run.suite, suite);
}

/* The last run of the suite: its categories stand in the same line where both have them. */
static const ReportRun *ours_of(const ReportSpec *spec, const char *suite)
{
    for (uint32_t i = spec->count; i-- > 0;)
        if (is_of(&spec->runs[i], suite) && spec->runs[i].groups.len)
            return &spec->runs[i];
    return NULL;
}

static void put_beside(Buf *out, const ReportRun *ours, const Figure *f)
{
    const ReportGroup *g = ours ? group_named(ours, f->who) : NULL;
    const ReportScore *s = g ? score_at(g, f->k) : NULL;
    if (!s) {
        buf_puts(out, "<td class=\"narrow-off\"></td><td></td><td></td></tr>\n");
        return;
    }
    put_ours_cells(out, s);
    buf_puts(out, "</tr>\n");
}

static void put_our_line(Buf *out, const StoreRun *run, const ReportGroup *g, const ReportScore *s)
{
    buf_puts(out, "<tr class=\"total\"><td>ours: ");
    report_run_name(out, run);
    buf_puts(out, ", ");
    report_puts(out, g->title);
    buf_printf(out,
               "</td><td class=\"n narrow-off\">%u</td><td class=\"n\">%u</td>"
               "<td class=\"narrow-off\"></td><td></td><td></td>",
               g->tasks, s->k);
    put_ours_cells(out, s);
    buf_puts(out, "</tr>\n");
}

/* Runs as lines of their own, where the paper's lines are models and not categories. */
static void put_our_lines(Buf *out, const Paper *paper, const ReportRun *run)
{
    for (uint32_t i = 0; i < run->groups.len; i++) {
        const ReportGroup *g = &run->groups.at[i];
        bool level = str_starts(str_from(g->title), "level ");
        for (uint32_t j = 0; (g->total || (level && paper->levels)) && j < g->scores.len; j++)
            put_our_line(out, &run->run, g, &g->scores.at[j]);
    }
}

static void put_paper(const ReportSpec *spec, const Paper *paper, Buf *out)
{
    const ReportRun *ours = ours_of(spec, paper->suite);
    buf_printf(out,
               "<details class=\"paper\"%s><summary>%s <span class=\"soft\">%s%s</span></summary>\n"
               "<p class=\"note\"><b>What does not compare.</b> %s</p>\n<div class=\"wide\"><table>"
               "<thead><tr><th></th><th class=\"narrow-off\"></th><th></th>"
               "<th class=\"narrow-off\"></th><th colspan=\"2\">published, measured on boards</th>"
               "<th class=\"narrow-off\"></th><th colspan=\"2\">ours, checked and predicted</th>"
               "</tr><tr><th></th><th class=\"narrow-off\">tasks</th><th>k</th><th "
               "class=\"narrow-off\">Compile</th><th>Pass</th><th>Fast<sub>1.0</sub></th><th "
               "class=\"narrow-off\">Compile</th><th>Pass</th><th>Fast<sub>1.0</sub></th></tr>"
               "</thead>\n<tbody>\n",
               ours ? " open" : "", paper->title, paper->source,
               ours ? "" : "; no run of this suite here", paper->differs);
    for (size_t i = 0; i < FIGURES; i++)
        if (!strcmp(figures[i].suite, paper->suite)) {
            put_theirs(out, &figures[i]);
            put_beside(out, ours, &figures[i]);
        }
    for (uint32_t i = 0; i < spec->count; i++)
        if (is_of(&spec->runs[i], paper->suite))
            put_our_lines(out, paper, &spec->runs[i]);
    buf_puts(out, "</tbody></table></div></details>\n");
}

void report_published(const ReportSpec *spec, Buf *out)
{
    buf_puts(out, "<section id=\"published\"><h2>Beside the papers</h2>\n");
    for (size_t i = 0; i < PAPERS; i++)
        put_paper(spec, &papers[i], out);
    buf_puts(out, "</section>\n");
}
