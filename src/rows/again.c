/* Judges rows of a run once more through the AscendC text. In: the run's directory, how many rows. Out: counts.
 *
 *     row ─id─▶ task, drawn again ─▶ cases         row ─text─▶ programs ─twin at the cases─▶ as the row says, or not
 *
 * The programs are taken from the text of the rows, as a model reads them: a write row has one that is right, an
 * optimise row two, a repair row a broken one and a right one. Rows without a program (choose, explain) are left out.
 * Each row is one request to a worker. */
#include "rows/rows_int.h"

#include "base/file.h"
#include "gen/prompt/prompt.h"
#include "graph/eval.h"
#include "loop/bench_pool.h"
#include <jansson.h>
#include <string.h>

enum { ROW_SECONDS = 600, RECYCLE = 50 };

typedef struct Judged {
    uint32_t right, wrong; /* programs that are as their row says */
    uint32_t unjudged;     /* the twin lacks something, or has no time */
    Buf contradictions;
} Judged;

typedef struct Again {
    Arena *arena;
    const RowsAgainSpec *spec;
    VEC(Str) lines; /* of rows with programs */
} Again;

/* A row's text, read. */
typedef struct Read {
    RowsKind kind;
    const char *id, *prompt, *answer;
    bool brief;
} Read;

static const char *content_of(const json_t *row, size_t message)
{
    const json_t *m = json_array_get(json_object_get(row, "messages"), message);
    return json_string_value(json_object_get(m, "content"));
}

static bool read_row(const json_t *json, Read *row)
{
    const char *kind = json_string_value(json_object_get(json, "kind"));
    int k = 0;
    while (kind && k < ROWS_KINDS && strcmp(kind, rows_kind_name((RowsKind)k)))
        k++;
    *row = (Read){.kind = (RowsKind)k,
                  .id = json_string_value(json_object_get(json, "id")),
                  .prompt = content_of(json, 0),
                  .answer = content_of(json, 1),
                  .brief = json_is_true(json_object_get(json, "brief"))};
    return kind && k < ROWS_KINDS && row->id && row->prompt && row->answer;
}

static bool has_program(RowsKind kind) { return kind != ROWS_CHOOSE && kind != ROWS_EXPLAIN; }

static bool is_ascendc(RowsKind kind)
{
    return kind == ROWS_ASCENDC || kind == ROWS_MEND || rows_kind_is_long(kind);
}

/* ---- one row ---- */

static bool judge_craft(Arena *arena, Str text, const RowsCases *cases, const NpuChip *chip,
                        Verdict *verdict)
{
    Diag diag = diag_make(arena, "kernel.craft", text);
    return rows_judge(arena, prompt_rows_fenced(text), cases, chip, true, verdict, &diag);
}

static bool judge_kernel(Arena *arena, Str text, RowsKind kind, const RowsCases *cases,
                         const NpuChip *chip, Verdict *verdict)
{
    EvalForm form = rows_kind_is_long(kind) ? FORM_NPUKB_FULL : FORM_NPUKB_KERNEL;
    EvalCandidate candidate;
    const char *reason = "";
    bool cut;
    Diag diag;
    if (eval_candidate_extract(arena, text, form, &candidate, &reason, &cut))
        return rows_judge_ascendc(arena, &candidate, rows_kernel_case(cases), chip, verdict, &diag);
    *verdict = verdict_make();
    verdict_fail(verdict, VERDICT_NOT_PARSED, STAGE_CHECK, reason);
    return false;
}

static void judge_text(Arena *arena, const Read *row, const char *text, bool right,
                       const RowsCases *cases, const NpuChip *chip, Judged *judged)
{
    Verdict verdict;
    bool ok = is_ascendc(row->kind)
                  ? judge_kernel(arena, str_from(text), row->kind, cases, chip, &verdict)
                  : judge_craft(arena, str_from(text), cases, chip, &verdict);
    if (!ok && rows_is_unjudged(verdict.status)) {
        judged->unjudged++;
    } else if (ok == right) {
        judged->right += right;
        judged->wrong += !right;
    } else {
        buf_printf(&judged->contradictions, "row %s (%s): a program that is to be %s is %s\n",
                   row->id, rows_kind_name(row->kind), right ? "right" : "wrong",
                   ok ? "right" : "wrong");
        verdict_to_text(&verdict, &judged->contradictions);
    }
}

static bool read_id(const char *id, uint64_t *seed, uint64_t *task)
{
    Str rest = str_from(id), word;
    int64_t s, t;
    if (!str_next(&rest, '-', &word) || !str_to_i64(word, &s) || !str_next(&rest, '-', &word) ||
        !str_to_i64(word, &t) || s < 0 || t < 0)
        return false;
    *seed = (uint64_t)s;
    *task = (uint64_t)t;
    return true;
}

static void judge_row(const Again *a, Arena *arena, const Read *row, Judged *judged)
{
    const NpuChip *chip = a->spec->chip;
    RowsMaker maker = {.chip = chip, .brief = row->brief};
    RowsTask task;
    RowsCases cases = {0};
    uint64_t number;
    bool repair = row->kind == ROWS_REPAIR || row->kind == ROWS_MEND || row->kind == ROWS_MEND_FULL;
    if (!read_id(row->id, &maker.seed, &number) ||
        !rows_prepare(arena, &maker, number, &task, &cases)) {
        buf_printf(&judged->contradictions, "row %s: its task is not drawn again\n", row->id);
    } else {
        judge_text(arena, row, row->answer, true, &cases, chip, judged);
        if (repair || row->kind == ROWS_OPTIMISE)
            judge_text(arena, row, row->prompt, !repair, &cases, chip, judged);
    }
    rows_cases_free(&cases);
}

/* Numbers, then the contradictions. */
static void work(void *context, Str request, Buf *reply)
{
    const Again *a = context;
    Arena arena = {0};
    Judged judged = {0};
    int64_t index;
    Read row;
    graph_eval_threads(1);
    if (str_to_i64(request, &index)) {
        Str line = a->lines.at[index];
        json_t *json = json_loadb(line.at, line.len, 0, NULL);
        if (json && read_row(json, &row))
            judge_row(a, &arena, &row, &judged);
        json_decref(json);
    }
    buf_printf(reply, "%u %u %u\n", judged.right, judged.wrong, judged.unjudged);
    buf_str(reply, buf_view(&judged.contradictions));
    buf_free(&judged.contradictions);
    arena_drop(&arena);
}

/* ---- the sample ---- */

static bool read_lines(Again *a, const char *name, bool must, Diag *diag)
{
    const char *path = path_join(a->arena, a->spec->dir, name);
    Str text, line;
    if (!must && !file_exists(path))
        return true;
    if (!file_read(a->arena, path, ROWS_BYTES, &text, diag))
        return false;
    while (str_next(&text, '\n', &line)) {
        json_t *json = line.len ? json_loadb(line.at, line.len, 0, NULL) : NULL;
        Read row;
        bool ok = !line.len || (json && read_row(json, &row));
        if (json && ok && has_program(row.kind))
            vec_push(a->arena, &a->lines, line);
        json_decref(json);
        if (!ok) {
            diag_error(diag, "R001", (Span){0}, "%s is damaged", name);
            return false;
        }
    }
    return true;
}

/* The first `rows` lines are drawn from all of them. */
static void draw_lines(Again *a)
{
    Dice dice = {a->spec->seed, 0x616761696eu, 0};
    for (uint32_t i = 0; i < a->lines.len && i < a->spec->rows; i++) {
        uint32_t k = i + (uint32_t)dice_below(&dice, a->lines.len - i);
        Str drawn = a->lines.at[k];
        a->lines.at[k] = a->lines.at[i];
        a->lines.at[i] = drawn;
    }
    if (a->lines.len > a->spec->rows)
        a->lines.len = a->spec->rows;
}

static void take_reply(Again *a, const PoolReply *reply, RowsAgain *again)
{
    Str rest = reply->text, line, word;
    int64_t n[3] = {0};
    if (reply->end != POOL_DONE || !str_next(&rest, '\n', &line)) {
        again->unjudged++;
        return;
    }
    for (int i = 0; i < 3 && str_next(&line, ' ', &word); i++)
        str_to_i64(word, &n[i]);
    again->right += (uint64_t)n[0];
    again->wrong += (uint64_t)n[1];
    again->unjudged += (uint64_t)n[2];
    for (Str said = rest; said.len && str_next(&said, '\n', &line);)
        again->contradictions += str_starts(line, "row ");
    buf_str(&again->said, rest);
    if (a->spec->progress)
        a->spec->progress(a->spec->context, again->rows, a->lines.len, -1);
}

bool rows_again(Arena *arena, const RowsAgainSpec *spec, RowsAgain *again, Diag *diag)
{
    Again a = {.arena = arena, .spec = spec};
    *again = (RowsAgain){0};
    if (!read_lines(&a, "rows.jsonl", true, diag) || !read_lines(&a, "long.jsonl", false, diag) ||
        !read_lines(&a, "twins.jsonl", false, diag))
        return false;
    draw_lines(&a);
    PoolSpec pool_spec = {.jobs = spec->jobs,
                          .seconds = ROW_SECONDS,
                          .recycle = RECYCLE,
                          .work = work,
                          .context = &a};
    Pool *pool = pool_open(&pool_spec);
    uint32_t next = 0;
    while (pool && (next < a.lines.len || pool_busy(pool))) {
        PoolReply reply;
        while (next < a.lines.len && pool_busy(pool) < pool_jobs(pool)) {
            const char *request = str_format(arena, "%u", next);
            if (!pool_send(pool, next, str_from(request)))
                break;
            next++;
        }
        if (pool_next(pool, 1, -1, &reply)) {
            again->rows++;
            take_reply(&a, &reply, again);
        }
    }
    if (pool)
        pool_close(pool);
    if (again->rows && !again->right && !again->wrong && !again->contradictions)
        diag_error(diag, "R003", (Span){0},
                   "no program was judged: the twin needs clang and its headers");
    return pool && diag_ok(diag);
}
