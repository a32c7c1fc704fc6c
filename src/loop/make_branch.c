/* Sizes for branches of the host function. In: what the judged cases decided. Out: cases at sizes that
 * decide the rest; which launches were run with values.
 *
 * A launch depends on sizes by comparisons with numbers that tiles and the chip give, so sizes are
 * tried on a ladder: one integer of the file (with those that have the same value there) at each rung,
 * the others small, or a few each. The program's host function says which
 * branch a try takes; the smallest try of each is kept. */
#include "loop/make_int.h"

enum { MOST_TRIES = 128, MOST_GROUPS = 5, FEW = 3 };
/* Elements of all values of a case that is judged for its branch alone, and of one at the task's own sizes but
 * for one of them. */
#define MOST_ELEMENTS 0x1p24
#define MOST_KEPT 0x1p26

static const int64_t ladder[] = {1,     2,     7,     33,     65,     129,    257,  513,
                                 1030,  1217,  2050,  2500,   4100,   5000,   8200, 16400,
                                 33000, 66000, 99000, 131100, 300000, 1050000};
enum { RUNGS = sizeof ladder / sizeof *ladder };

double make_elements(const Graph *graph)
{
    double all = 0;
    for (uint32_t i = 0; i < graph->values.len; i++) {
        int64_t count = 0;
        if (!shape_count(graph->values.at[i].shape, &count))
            return 1e300;
        all += (double)count;
    }
    return all;
}

/* ---- launches ---- */

static void find_launches(Arena *arena, const IrProgram *p, const IrBlock *block, IrTurns *launches)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &p->stmts.at[block->at[i]];
        if (s->kind == IR_S_LAUNCH)
            vec_push(arena, launches, ((IrTurn){block->at[i], true}));
        find_launches(arena, p, &s->body, launches);
        find_launches(arena, p, &s->orelse, launches);
    }
}

static Str line_of(Str text, uint32_t number)
{
    Str line = {0};
    for (uint32_t i = 0; i < number && str_next(&text, '\n', &line); i++)
        ;
    return str_trim(line);
}

/* A launch that several paths through the host function share is one branch. */
static MakeBranch *find_branch(MakeResult *result, Str text)
{
    for (uint32_t i = 0; i < result->branches.len; i++)
        if (str_is(text, result->branches.at[i].text))
            return &result->branches.at[i];
    return NULL;
}

void make_branches(Arena *arena, const MakeJob *job, const IrTurns *seen, MakeResult *result)
{
    MakeShipped shipped;
    IrTurns launches = {0}, own = {0};
    result->branches.len = 0;
    if (!make_shipped_read(arena, job, &shipped))
        return;
    find_launches(arena, shipped.ir, &shipped.ir->host, &launches);
    make_shipped_takes(arena, &shipped, shipped.plan, &own);
    for (uint32_t i = 0; i < launches.len; i++) {
        uint32_t line = shipped.ir->stmts.at[launches.at[i].stmt].at.line;
        Str text = line_of(shipped.plan->craft, line);
        MakeBranch *branch = find_branch(result, text);
        if (!branch) {
            vec_push(arena, &result->branches,
                     ((MakeBranch){.line = line, .text = str_dup(arena, text)}));
            branch = &vec_last(&result->branches);
        }
        branch->own = branch->own || ir_turns_have(&own, launches.at[i]);
        branch->ran = branch->ran || ir_turns_have(seen, launches.at[i]);
    }
}

/* ---- sizes ---- */

/* A branch that is wanted, and the smallest sizes found for it. */
typedef struct Wanted {
    IrTurn turn;
    const TorchSet *sets;
    uint32_t n_sets;
    double elements;
} Wanted;

typedef struct Search {
    Arena *arena;
    const MakeJob *job;
    MakeShipped shipped;
    const TorchTask *small;
    VEC(Wanted) wanted;
    VEC(int64_t) groups; /* values that sizes have in the file */
    uint32_t tries;
} Search;

static int64_t in_range(const MakeSpec *spec, const char *name, int64_t value)
{
    for (uint32_t i = 0; i < spec->ranges.len; i++) {
        const MakeRange *r = &spec->ranges.at[i];
        if (str_is(str_from(r->name), name))
            return value < r->lo ? r->lo : value > r->hi ? r->hi : value;
    }
    return value;
}

/* The sizes of the file with one group at `value`; `few`: the other groups at a few each. */
static uint32_t sets_for(const Search *s, int64_t group, int64_t value, bool few, TorchSet *sets)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->small->knobs.len; i++) {
        const TorchKnob *k = &s->small->knobs.at[i];
        bool large = !k->deep && k->original >= 8;
        int64_t to = large && k->original == group ? value : large && few ? FEW : k->value;
        sets[n++] = (TorchSet){k->name, in_range(s->job->spec, k->name, to)};
    }
    return n;
}

static void note_try(Search *s, const IrTurns *turns, const TorchSet *sets, uint32_t n_sets,
                     double elements)
{
    for (uint32_t i = 0; i < s->wanted.len; i++) {
        Wanted *w = &s->wanted.at[i];
        if (!ir_turns_have(turns, w->turn) || (w->sets && w->elements <= elements))
            continue;
        TorchSet *copy = arena_array(s->arena, TorchSet, n_sets + 1);
        for (uint32_t k = 0; k < n_sets; k++)
            copy[k] = sets[k];
        w->sets = copy;
        w->n_sets = n_sets;
        w->elements = elements;
    }
}

static void try_sets(Search *s, Arena *scratch, const TorchSet *sets, uint32_t n_sets, double most)
{
    const MakeSpec *spec = s->job->spec;
    Diag said = diag_make(scratch, spec->path, spec->source);
    TorchOptions options = make_options(s->job, spec->seed);
    IrTurns turns = {0};
    Plan plan;
    options.sets = sets;
    options.n_sets = n_sets;
    TorchTask *task = torch_read(scratch, spec->path, spec->source, &options, &said);
    double elements = task ? make_elements(task->graph) : 0;
    most /= spec->engine == EVAL_TWIN ? 1 : 16;
    bool fits = task && elements <= most && task->in_range && !graph_any_empty(task->graph);
    s->tries += fits;
    if (fits && make_shipped_serves(scratch, s->job, &s->shipped, task->graph, &plan, &turns))
        note_try(s, &turns, sets, n_sets, elements);
}

static void try_sizes(Search *s, int64_t group, int64_t value, bool few)
{
    Arena scratch = {0};
    TorchSet *sets = arena_array(&scratch, TorchSet, s->small->knobs.len + 1);
    try_sets(s, &scratch, sets, sets_for(s, group, value, few, sets), MOST_ELEMENTS);
    arena_drop(&scratch);
}

/* A program that fixes most sizes takes the task's own with a few samples of what it leaves free. */
static void try_kept(Search *s)
{
    static const int64_t few[] = {FEW, 2, 1};
    const TorchTask *own = s->job->result->task;
    for (uint32_t k = 0; k < own->knobs.len; k++)
        for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
            Arena scratch = {0};
            TorchOptions options = {.hf32 = s->job->spec->hf32};
            int64_t value = in_range(s->job->spec, own->knobs.at[k].name, few[i]);
            if (s->tries < MOST_TRIES && sizes_few(&scratch, own, k, value, &options))
                try_sets(s, &scratch, options.sets, options.n_sets, MOST_KEPT);
            arena_drop(&scratch);
        }
}

static bool any_missing(const Search *s)
{
    for (uint32_t i = 0; i < s->wanted.len; i++)
        if (!s->wanted.at[i].sets)
            return true;
    return false;
}

static void find_groups(Search *s)
{
    for (uint32_t i = 0; i < s->small->knobs.len; i++) {
        const TorchKnob *k = &s->small->knobs.at[i];
        bool known = k->deep || k->original < 8 || s->groups.len == MOST_GROUPS;
        for (uint32_t g = 0; g < s->groups.len && !known; g++)
            known = s->groups.at[g] == k->original;
        if (!known)
            vec_push(s->arena, &s->groups, k->original);
    }
}

static void climb(Search *s)
{
    for (uint32_t r = 0; r < RUNGS; r++)
        for (uint32_t g = 0; g < s->groups.len; g++)
            for (int few = 0; few < 2; few++)
                if (s->tries < MOST_TRIES && any_missing(s))
                    try_sizes(s, s->groups.at[g], ladder[r], few);
}

/* What the task's own sizes decide comes first, then the other launches. */
static void list_wanted(Search *s, const IrTurns *seen)
{
    IrTurns own = {0}, launches = {0};
    make_shipped_takes(s->arena, &s->shipped, s->shipped.plan, &own);
    find_launches(s->arena, s->shipped.ir, &s->shipped.ir->host, &launches);
    const IrTurns *both[] = {&own, &launches};
    for (int b = 0; b < 2; b++)
        for (uint32_t i = 0; i < both[b]->len; i++) {
            bool known = ir_turns_have(seen, both[b]->at[i]) ||
                         (b && ir_turns_have(&own, both[b]->at[i]));
            if (!known)
                vec_push(s->arena, &s->wanted, ((Wanted){.turn = both[b]->at[i]}));
        }
}

static bool same_sets(const Wanted *a, const Wanted *b)
{
    bool same = a->n_sets == b->n_sets;
    for (uint32_t i = 0; same && i < a->n_sets; i++)
        same = a->sets[i].value == b->sets[i].value;
    return same;
}

static uint32_t cases_of(const Search *s, MakeCase *cases)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->wanted.len && count < MAKE_BRANCH_CASES; i++) {
        const Wanted *w = &s->wanted.at[i];
        bool known = !w->sets;
        for (uint32_t k = 0; k < i && !known; k++)
            known = s->wanted.at[k].sets && same_sets(w, &s->wanted.at[k]);
        if (known)
            continue;
        cases[count] = (MakeCase){.name = str_format(s->arena, "branch%u", count),
                                  .scale = SCALE_FULL,
                                  .seed = s->job->spec->seed,
                                  .values = true,
                                  .sets = w->sets,
                                  .n_sets = w->n_sets};
        count++;
    }
    return count;
}

uint32_t make_branch_cases(Arena *arena, const MakeJob *job, const IrTurns *seen, MakeCase *cases)
{
    const MakeSpec *spec = job->spec;
    Search s = {.arena = arena, .job = job};
    TorchOptions options = make_options(job, spec->seed);
    Diag said = diag_make(arena, spec->path, spec->source);
    if (!make_shipped_read(arena, job, &s.shipped))
        return 0;
    list_wanted(&s, seen);
    if (!s.wanted.len)
        return 0;
    s.small = torch_read_scaled(arena, spec->path, spec->source, &options, SCALE_SMALL, &said);
    if (!s.small)
        return 0;
    find_groups(&s);
    climb(&s);
    if (any_missing(&s))
        try_kept(&s);
    return cases_of(&s, cases);
}
