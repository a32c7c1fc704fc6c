/* The planner against programs that were kept: is anything slower than it was?
 *
 *     bench-baseline [SET...] [--only TEXT] [--budget N]   tune and time kept and present programs
 *     bench-baseline write [SET...] [--to DIR]             keep the present planner's programs
 *     bench-baseline list [SET...]                         what is kept, without timing
 *
 * Sets are the task lists of bench-plan and of the experts:
 *
 *     full     every vector task at its own sizes
 *     eager    the sizes of tasks/kernelbench.tsv
 *     mhc      the hyper-connections at twelve sizes each
 *     experts  NPUKernelBench's levels 1 and 2, the largest listed case of up to 8 M elements
 *
 * bench/baseline/programs.tsv has one row for each task and size: set, task, sizes or case, the
 * file of the program, its operands. A program that several rows share is kept once. Both
 * programs of a row are tuned over the same number of combinations and timed by this build
 * without values, so that a change of the cycle model or of lowering moves both. Flagged: slower
 * by more than 5 % or by more than 0.3 us. The exit status is 1 when a row is flagged. */
#include "base/file.h"
#include "base/map.h"
#include "loop/make.h"
#include "loop/tune.h"
#include "torch/eager.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define HOME "bench/baseline"
#define MOST_SLOWER 0.05
#define MOST_SLOWER_US 0.3
static const int64_t most_elements = INT64_C(8) << 20;

typedef enum Set { SET_FULL, SET_EAGER, SET_MHC, SET_EXPERTS, SETS } Set;
static const char *const set_names[SETS] = {"full", "eager", "mhc", "experts"};

/* One task at one size. */
typedef struct Row {
    Set set;
    const char *task;     /* "activation/relu", of tasks/ */
    const char *size;     /* "BATCH=16 DIM=4", "case 3", "" */
    const char *file;     /* of the program, below HOME; "-": it was not planned */
    const char *operands; /* "i0[16,4] o0[16,4]"; why it was not planned */
    const TorchSet *sets;
    uint32_t n_sets;
    int64_t kase;     /* listed case, counted from 0; -1: none */
    const char *stem; /* of a file of its own */
} Row;
typedef VEC(Row) Rows;

typedef struct Bench {
    Arena *arena;
    bool chosen[SETS];
    const char *only; /* rows whose task contains this; NULL: all */
    uint32_t budget;
    const char *to;
} Bench;

static const NpuChip *chip(void) { return npu_chip_find(STR("910B2")); }

/* ---- the rows of a set ---- */

static const char *sets_text(Arena *arena, const TorchSet *sets, uint32_t n)
{
    Buf out = {0};
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&out, "%s%s=%lld", i ? " " : "", sets[i].name, (long long)sets[i].value);
    const char *text = out.len ? str_dup(arena, buf_view(&out)) : "";
    buf_free(&out);
    return text;
}

static void add_row(const Bench *b, Rows *rows, Row row)
{
    if (!b->chosen[row.set] || (b->only && !strstr(row.task, b->only)))
        return;
    if (!row.size)
        row.size = row.kase >= 0 ? str_format(b->arena, "case %lld", (long long)row.kase)
                                 : sets_text(b->arena, row.sets, row.n_sets);
    vec_push(b->arena, rows, row);
}

static bool add_suite(const Bench *b, Rows *rows, Diag *diag)
{
    static const char *const categories[] = {"activation", "broadcast",     "index",     "loss",
                                             "math",       "normalization", "optimizer", "pooling",
                                             "reduce",     "resize"};
    TorchEagerTable table = {0};
    if (!torch_eager_read(b->arena, "tasks/kernelbench.tsv", &table, diag))
        return false;
    for (size_t c = 0; c < sizeof categories / sizeof *categories; c++) {
        NameList names = {0};
        if (!file_list(b->arena, path_join(b->arena, "tasks", categories[c]), &names, diag))
            return false;
        for (uint32_t i = 0; i < names.len; i++) {
            Str stem = path_stem(names.at[i]);
            const char *task = str_format(b->arena, "%s/%.*s", categories[c], STR_ARG(stem));
            if (!str_ends(str_from(names.at[i]), ".py"))
                continue;
            add_row(b, rows, (Row){.set = SET_FULL, .task = task, .kase = -1, .stem = task});
            for (uint32_t e = 0; e < table.len; e++)
                if (!strcmp(table.at[e].task, task))
                    add_row(b, rows,
                            (Row){.set = SET_EAGER,
                                  .task = task,
                                  .kase = -1,
                                  .sets = table.at[e].sets,
                                  .n_sets = table.at[e].n_sets,
                                  .stem = table.at[e].problem});
        }
    }
    return true;
}

static void add_mhc(const Bench *b, Rows *rows)
{
    static const char *const tasks[] = {"mhc/mhc_post", "mhc/mhc_post_grad"};
    static const int64_t streams[] = {4, 8}, widths[] = {1024, 5120}, tokens[] = {1, 2048, 8192};
    for (uint32_t i = 0; i < 2 * 2 * 2 * 3; i++) {
        TorchSet *sets = arena_array(b->arena, TorchSet, 3);
        sets[0] = (TorchSet){"TOKENS", tokens[i % 3]};
        sets[1] = (TorchSet){"STREAMS", streams[i / 6 % 2]};
        sets[2] = (TorchSet){"WIDTH", widths[i / 3 % 2]};
        const char *task = tasks[i / 12];
        add_row(b, rows,
                (Row){.set = SET_MHC,
                      .task = task,
                      .kase = -1,
                      .sets = sets,
                      .n_sets = 3,
                      .stem = str_format(b->arena, "%s_%lld_%lld_%lld", task + strlen("mhc/"),
                                         (long long)sets[1].value, (long long)sets[2].value,
                                         (long long)sets[0].value)});
    }
}

/* Elements of the largest tensor of a graph's inputs and outputs. */
static int64_t largest(const Graph *g)
{
    int64_t most = 0, count = 0;
    for (uint32_t i = 0; i < g->inputs.len + g->outputs.len; i++) {
        ValueId id = i < g->inputs.len ? g->inputs.at[i] : g->outputs.at[i - g->inputs.len];
        if (!shape_count(graph_value(g, id)->shape, &count))
            return INT64_MAX;
        most = count > most ? count : most;
    }
    return most;
}

/* The listed case with the largest tensor of up to 8 M elements; the first of equals. */
static int64_t pick_case(const char *path)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, path, STR(""));
    TorchCases cases = {0};
    int64_t best = -1, most = 0;
    torch_cases(&arena, path, &cases, &diag);
    for (uint32_t i = 0; i < cases.lines.len; i++) {
        TorchOptions options = {.case_index = i};
        TorchTask *task = torch_open(&arena, path, &options, SCALE_FULL, &diag);
        int64_t size = task ? largest(task->graph) : 0;
        if (size > most && size <= most_elements) {
            most = size;
            best = i;
        }
    }
    arena_drop(&arena);
    return best;
}

static bool add_experts(const Bench *b, Rows *rows, Diag *diag)
{
    NameList paths = {0};
    for (int level = 1; level <= 2 && b->chosen[SET_EXPERTS]; level++)
        if (!torch_suite(b->arena, str_format(b->arena, "tasks/npukernelbench/level%d", level),
                         &paths, diag))
            return false;
    for (uint32_t i = 0; i < paths.len; i++) {
        Str path = str_from(paths.at[i]);
        Str task = str_slice(path, strlen("tasks/"), path.len - strlen(".py"));
        const char *stem = str_dup(b->arena, path_stem(paths.at[i]));
        add_row(b, rows,
                (Row){.set = SET_EXPERTS,
                      .task = str_dup(b->arena, task),
                      .kase = b->only && !strstr(paths.at[i], b->only) ? 0 : pick_case(paths.at[i]),
                      .stem = stem});
    }
    return true;
}

/* ---- a row planned by this build ---- */

static TorchTask *read_row(Arena *arena, const Row *row, Diag *diag)
{
    TorchOptions options = {.sets = row->sets, .n_sets = row->n_sets};
    if (row->kase >= 0)
        options.case_index = (uint32_t)row->kase;
    const char *path = str_format(arena, "tasks/%s.py", row->task);
    return torch_open(arena, path, &options, SCALE_FULL, diag);
}

static uint32_t output_place(const Graph *g, ValueId id)
{
    for (uint32_t i = 0; i < g->outputs.len; i++)
        if (g->outputs.at[i] == id)
            return i;
    return UINT32_MAX;
}

/* "i0[16,4] o0[16]": inputs, parameters and constants by graph_place, outputs by number. */
static const char *operands_text(Arena *arena, const Graph *g, const Plan *plan)
{
    Buf out = {0};
    for (uint32_t i = 0; i < plan->operands.len; i++) {
        const PlanOperand *o = &plan->operands.at[i];
        buf_printf(&out, "%s%c%u[", i ? " " : "", o->output ? 'o' : 'i',
                   o->output ? output_place(g, o->value) : graph_place(g, o->value));
        for (int d = 0; d < o->shape.rank; d++)
            buf_printf(&out, "%s%lld", d ? "," : "", (long long)o->shape.dim[d]);
        buf_puts(&out, "]");
    }
    const char *text = str_dup(arena, buf_view(&out));
    buf_free(&out);
    return text;
}

static bool place_value(const Graph *g, bool output, uint64_t place, ValueId *value)
{
    uint32_t fixed = g->inputs.len + g->params.len;
    if (output ? place >= g->outputs.len : place >= (uint64_t)fixed + g->values.len)
        return false;
    *value = output                  ? g->outputs.at[place]
             : place < g->inputs.len ? g->inputs.at[place]
             : place < fixed         ? g->params.at[place - g->inputs.len]
                                     : (ValueId)(place - fixed);
    return true;
}

static bool parse_operand(Str text, const Graph *g, EvalOperand *o)
{
    Str head, dim;
    int64_t place = 0;
    *o = (EvalOperand){0};
    if (text.len < 4 || text.at[text.len - 1] != ']')
        return false;
    bool output = text.at[0] == 'o';
    text = str_slice(text, 1, text.len - 1);
    if (!str_next(&text, '[', &head) || !str_to_i64(head, &place) || place < 0 ||
        !place_value(g, output, (uint64_t)place, &o->value))
        return false;
    while (text.len && str_next(&text, ',', &dim))
        if (o->shape.rank == GRAPH_MAX_RANK || !str_to_i64(dim, &o->shape.dim[o->shape.rank++]))
            return false;
    return true;
}

static bool parse_operands(Arena *arena, const char *text, const Graph *g, EvalCraft *c)
{
    VEC(EvalOperand) all = {0};
    Str rest = str_from(text), word;
    while (str_next(&rest, ' ', &word)) {
        EvalOperand o;
        if (!parse_operand(word, g, &o))
            return false;
        vec_push(arena, &all, o);
    }
    c->operands = all.at;
    c->operand_count = all.len;
    return true;
}

/* ---- write ---- */

typedef struct Kept {
    Str text;
    const char *file;
} Kept;
typedef VEC(Kept) KeptList;

/* Names of files are those of the tasks, in one folder for each set. */
static const char *keep_text(const Bench *b, const Row *row, Str craft, KeptList *kept, Diag *diag)
{
    for (uint32_t i = 0; i < kept->len; i++)
        if (str_equal(kept->at[i].text, craft))
            return kept->at[i].file;
    char *file = str_format(b->arena, "%s/%s.craft", set_names[row->set], row->stem);
    for (char *c = file + strlen(set_names[row->set]) + 1; *c; c++)
        *c = *c == '/' ? '-' : *c;
    const char *path = path_join(b->arena, b->to, file);
    if (!file_make_dirs(path_dir(b->arena, path), diag) || !file_write(path, craft, diag))
        return NULL;
    vec_push(b->arena, kept, ((Kept){str_copy(b->arena, craft), file}));
    return file;
}

static bool write_row(const Bench *b, Row *row, KeptList *kept, Buf *table, Diag *diag)
{
    Arena arena = {0};
    Diag own = diag_make(&arena, row->task, STR(""));
    Plan plan = {0};
    TorchTask *task = read_row(&arena, row, &own);
    bool planned = task && plan_make(&arena, task->graph, chip(), 0, &plan, &own);
    row->file = planned ? keep_text(b, row, plan.craft, kept, diag) : "-";
    if (row->file)
        buf_printf(table, "%s\t%s\t%s\t%s\t%s\n", set_names[row->set], row->task, row->size,
                   row->file,
                   planned         ? operands_text(&arena, task->graph, &plan)
                   : own.items.len ? own.items.at[0].text
                                   : "not read");
    arena_drop(&arena);
    return row->file != NULL;
}

static int write_all(const Bench *b, Rows *rows, Diag *diag)
{
    KeptList kept = {0};
    Buf table = {0};
    bool ok = true;
    buf_puts(&table, "# set\ttask\tsizes\tprogram\toperands: i or o, place among inputs and "
                     "parameters or outputs, shape\n");
    for (uint32_t i = 0; ok && i < rows->len; i++)
        ok = write_row(b, &rows->at[i], &kept, &table, diag);
    ok = ok && file_write(path_join(b->arena, b->to, "programs.tsv"), buf_view(&table), diag);
    buf_free(&table);
    if (ok)
        printf("%u rows, %u programs written to %s\n", rows->len, kept.len, b->to);
    return ok ? 0 : 2;
}

/* ---- compare ---- */

static bool parse_sets(Arena *arena, Str text, Row *row)
{
    VEC(TorchSet) sets = {0};
    Str word, name;
    while (text.len && str_next(&text, ' ', &word)) {
        int64_t value = 0;
        if (!str_next(&word, '=', &name) || !str_to_i64(word, &value))
            return false;
        vec_push(arena, &sets, ((TorchSet){str_dup(arena, name), value}));
    }
    row->sets = sets.at;
    row->n_sets = sets.len;
    return true;
}

static bool parse_row(Arena *arena, Str line, Row *row)
{
    Str field[5];
    int n = 0;
    *row = (Row){.kase = -1};
    while (n < 5 && str_next(&line, '\t', &field[n]))
        n++;
    if (n < 5)
        return false;
    while (row->set < SETS && !str_is(field[0], set_names[row->set]))
        row->set++;
    row->task = str_dup(arena, field[1]);
    row->size = str_dup(arena, field[2]);
    row->file = str_dup(arena, field[3]);
    row->operands = str_dup(arena, field[4]);
    if (str_starts(field[2], "case "))
        return row->set < SETS &&
               str_to_i64(str_slice(field[2], strlen("case "), field[2].len), &row->kase);
    return row->set < SETS && parse_sets(arena, field[2], row);
}

static bool read_rows(const Bench *b, Rows *rows, Diag *diag)
{
    Str text, line;
    const char *path = HOME "/programs.tsv";
    if (!file_read(b->arena, path, 0, &text, diag))
        return false;
    for (uint32_t number = 1; str_next(&text, '\n', &line); number++) {
        Row row;
        if (!line.len || line.at[0] == '#')
            continue;
        if (!parse_row(b->arena, line, &row)) {
            diag_error(diag, "B004", (Span){0}, "%s:%u: not a row of five columns", path, number);
            return false;
        }
        add_row(b, rows, row);
    }
    return true;
}

typedef struct Timed {
    double us; /* negative: not timed */
    const char *why;
} Timed;

static Timed time_program(Arena *arena, const Bench *b, const Graph *graph, EvalCraft *c)
{
    EvalConfig config = {
        .chip = chip(), .trust = true, .seconds = 600, .only_time = true, .straight = true};
    TuneSpec spec = {.candidate = c, .graph = graph, .config = &config, .budget = b->budget};
    TuneResult result;
    Diag diag = diag_make(arena, c->file, c->text);
    if (tune_program(arena, &spec, &result, &diag))
        return (Timed){result.rows.at[result.best].us, NULL};
    const char *why = result.verdict.reason;
    return (Timed){-1, why && *why ? why : diag.items.len ? diag.items.at[0].text : "not timed"};
}

typedef struct Tally {
    uint32_t rows, same, timed, flagged, above_two, untimed;
    double logs; /* of old / new, over those timed and those that are the same */
} Tally;

static bool is_slower(double old_us, double new_us)
{
    return new_us > old_us * (1 + MOST_SLOWER) || new_us > old_us + MOST_SLOWER_US;
}

static void print_row(const Row *row)
{
    printf("%-8s %-44s %-28s ", set_names[row->set], row->task, row->size);
    fflush(stdout);
}

static void compare_times(Timed old, Timed now, Tally *t)
{
    if (old.us < 0 || now.us < 0) {
        bool lost = old.us >= 0;
        t->untimed++;
        t->flagged += lost;
        printf("%s: %s%s\n", old.us < 0 ? "kept program not timed" : "present program not timed",
               old.us < 0 ? old.why : now.why, lost ? "  FLAGGED" : "");
        return;
    }
    bool slower = is_slower(old.us, now.us);
    t->timed++;
    t->flagged += slower;
    t->above_two += now.us > old.us * 1.02;
    t->logs += log(old.us / now.us);
    printf("kept %10.2f us  present %10.2f us  kept / present %.3f%s\n", old.us, now.us,
           old.us / now.us, slower ? "  FLAGGED" : "");
}

static void compare_row(const Bench *b, const Row *row, Tally *t)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, row->task, STR(""));
    Plan plan = {0};
    EvalCraft old = {.file = "kept.craft"}, now = {.file = "plan.craft"};
    t->rows++;
    print_row(row);
    TorchTask *task = read_row(&arena, row, &diag);
    bool planned = task && plan_make(&arena, task->graph, chip(), 0, &plan, &diag);
    bool kept = strcmp(row->file, "-") != 0;
    if (!kept) {
        printf("not planned before%s\n", planned ? ", planned now" : ", nor now");
    } else if (!task ||
               !file_read(&arena, path_join(&arena, HOME, row->file), 0, &old.text, &diag) ||
               !parse_operands(&arena, row->operands, task->graph, &old)) {
        t->flagged++;
        printf("the kept program cannot be read: %s  FLAGGED\n",
               diag.items.len ? diag.items.at[0].text : "its operands are not the task's");
    } else if (!planned) {
        t->flagged++;
        printf("no longer planned: %s  FLAGGED\n",
               diag.items.len ? diag.items.at[0].text : "no reason given");
    } else if (str_equal(old.text, plan.craft)) {
        t->same++;
        printf("the same program\n");
    } else {
        now.text = plan.craft;
        now.operands = make_operands(&arena, &plan);
        now.operand_count = plan.operands.len;
        compare_times(time_program(&arena, b, task->graph, &old),
                      time_program(&arena, b, task->graph, &now), t);
    }
    fflush(stdout);
    arena_drop(&arena);
}

static void print_tally(const char *name, const Tally *t)
{
    if (t->rows)
        printf("%s: %u rows, %u the same program, %u timed, %u not timed; flagged (slower by more "
               "than 5 %% or 0.3 us, or lost) %u; slower by more than 2 %%: %u; kept / present: "
               "geometric mean %.4f (predicted, not measured)\n",
               name, t->rows, t->same, t->timed, t->untimed, t->flagged, t->above_two,
               t->same + t->timed ? exp(t->logs / (t->same + t->timed)) : NAN);
}

static int compare_all(const Bench *b, const Rows *rows)
{
    Tally all = {0};
    for (Set s = 0; s < SETS; s++) {
        Tally t = {0};
        for (uint32_t i = 0; i < rows->len; i++)
            if (rows->at[i].set == s)
                compare_row(b, &rows->at[i], &t);
        print_tally(set_names[s], &t);
        all.rows += t.rows, all.same += t.same, all.timed += t.timed, all.flagged += t.flagged;
        all.above_two += t.above_two, all.untimed += t.untimed, all.logs += t.logs;
    }
    print_tally("all", &all);
    return all.flagged ? 1 : 0;
}

/* ---- the command ---- */

static int list_all(const Rows *rows)
{
    for (uint32_t i = 0; i < rows->len; i++) {
        print_row(&rows->at[i]);
        printf("%s\n", rows->at[i].file);
    }
    return 0;
}

static bool choose_set(Bench *b, const char *word)
{
    for (Set s = 0; s < SETS; s++)
        if (!strcmp(word, set_names[s]))
            return b->chosen[s] = true;
    return false;
}

int main(int argc, char **argv)
{
    Arena arena = {0};
    Diag diag = diag_make(&arena, HOME, STR(""));
    Bench b = {.arena = &arena, .budget = 16, .to = HOME};
    Rows rows = {0};
    bool write = false, list = false, any = false, ok = true;
    if (argc == 1) { /* `make bench` calls it so: all of it takes hours */
        printf("usage: bench-baseline [write|list] [full|eager|mhc|experts]... [--only TEXT] "
               "[--budget N] [--to DIR]\n");
        return 0;
    }
    for (int i = 1; i < argc && ok; i++) {
        bool more = i + 1 < argc;
        int64_t n = 0;
        if (!strcmp(argv[i], "write"))
            write = true;
        else if (!strcmp(argv[i], "list"))
            list = true;
        else if (!strcmp(argv[i], "--only") && more)
            b.only = argv[++i];
        else if (!strcmp(argv[i], "--to") && more)
            b.to = argv[++i];
        else if (!strcmp(argv[i], "--budget") && more)
            ok = str_to_i64(str_from(argv[++i]), &n) && n >= 0 && (b.budget = (uint32_t)n, true);
        else
            any = ok = choose_set(&b, argv[i]);
    }
    for (Set s = 0; s < SETS && !any; s++)
        b.chosen[s] = true;
    if (!ok) {
        fprintf(stderr, "usage: bench-baseline [write|list] [full|eager|mhc|experts]... "
                        "[--only TEXT] [--budget N] [--to DIR]\n");
        return 2;
    }
    int status = 2;
    if (!write)
        status = !read_rows(&b, &rows, &diag) ? 2 : list ? list_all(&rows) : compare_all(&b, &rows);
    else if (add_suite(&b, &rows, &diag) && (add_mhc(&b, &rows), add_experts(&b, &rows, &diag)))
        status = write_all(&b, &rows, &diag);
    if (diag.items.len)
        fprintf(stderr, "bench-baseline: %s\n", diag.items.at[0].text);
    arena_drop(&arena);
    return status;
}
