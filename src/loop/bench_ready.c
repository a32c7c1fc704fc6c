/* Cases with their right answers, made once for several candidates. In: a task and a case. Out:
 * graph, inputs, reference. The least recently used go when memory runs to its limit. */
#include "loop/bench_judge_int.h"

#include "base/file.h"
#include "base/hash.h"
#include <string.h>

enum { ENTRIES = 16, TASKS = 8 };
static const int64_t most_case = INT64_C(2) << 30, most_kept = INT64_C(512) << 20;

struct JudgeCache {
    CaseReady entries[ENTRIES]; /* without a key: free */
    uint64_t count;
    struct {
        uint64_t task; /* hash of its text; 0: free */
        Strew strew;
    } strewn[TASKS];
    uint32_t strewn_count;
};

JudgeCache *judge_cache_open(void) { return heap_alloc(sizeof(JudgeCache)); }

static void drop(CaseReady *r)
{
    eval_reference_free(&r->ref);
    arena_drop(&r->arena);
    *r = (CaseReady){0};
}

void judge_cache_close(JudgeCache *cache)
{
    for (int i = 0; cache && i < ENTRIES; i++)
        drop(&cache->entries[i]);
    heap_free(cache);
}

static uint64_t task_hash(const JudgeTask *task)
{
    return hash64(task->source.at, task->source.len) | 1;
}

const Strew *case_strew_known(const JudgeCache *cache, const JudgeTask *task)
{
    for (uint32_t i = 0; i < TASKS; i++)
        if (cache->strewn[i].task == task_hash(task))
            return &cache->strewn[i].strew;
    return NULL;
}

void case_strew_keep(JudgeCache *cache, const JudgeTask *task, const Strew *strew)
{
    uint32_t i = 0;
    while (i < TASKS && cache->strewn[i].task != task_hash(task))
        i++;
    i = i < TASKS ? i : cache->strewn_count++ % TASKS;
    cache->strewn[i].task = task_hash(task);
    cache->strewn[i].strew = *strew;
    cache->strewn[i].strew.numbers = NULL; /* they are the text's */
    cache->strewn[i].strew.number_count = 0;
}

void case_forget(JudgeCache *cache, const CaseReady *ready)
{
    for (int i = 0; i < ENTRIES; i++)
        if (&cache->entries[i] == ready)
            drop(&cache->entries[i]);
}

static uint64_t strew_hash(const Strew *s)
{
    return hash64(s->inputs, sizeof s->inputs) ^
           hash64(s->numbers, s->number_count * sizeof *s->numbers);
}

static const char *key_of(Arena *arena, const JudgeSpec *spec, const JudgeTask *task,
                          const CaseSpec *c)
{
    Buf sets = {0};
    for (uint32_t i = 0; i < c->n_sets; i++)
        buf_printf(&sets, " %s=%lld", c->sets[i].name, (long long)c->sets[i].value);
    const char *key = str_format(arena, "%s %016llx %s %llu %d %d %016llx%s", task->path,
                                 (unsigned long long)hash64(task->source.at, task->source.len),
                                 c->name, (unsigned long long)c->seed, (int)spec->rule,
                                 (int)c->float_type, (unsigned long long)strew_hash(&c->strew),
                                 sets.at ? sets.at : "");
    buf_free(&sets);
    return key;
}

static void fail_case(CaseReady *r, VerdictStatus status, const Diag *said, const char *otherwise)
{
    r->status = status;
    r->failed = said && said->items.len ? said->items.at[0].text : otherwise;
}

/* A clone's task says itself how it is compared; otherwise the requested rule holds. */
static CompareRule rule_of(Arena *arena, const JudgeSpec *spec, const char *path,
                           const Graph *graph, CompareSpec *own)
{
    const char *beside = path_join(arena, path_dir(arena, path), "prepare_inputs.py");
    Diag quiet = diag_make(arena, beside, STR(""));
    Str text;
    DType dtype = DT_F16;
    *own = (CompareSpec){0};
    if (spec->rule != RULE_NPUKB || !str_is(path_base(path), "module.py") || !file_exists(beside) ||
        !file_read(arena, beside, 1 << 20, &text, &quiet))
        return spec->rule;
    for (uint32_t i = graph->inputs.len; i-- > 0;)
        if (dtype_is_float(graph_value(graph, graph->inputs.at[i])->dtype))
            dtype = graph_value(graph, graph->inputs.at[i])->dtype;
    own->named = 1 + (int)dtype;
    return checker_rule(text, dtype, &own->bound);
}

static void make(CaseReady *r, const JudgeSpec *spec, const JudgeTask *given, const CaseSpec *c)
{
    Arena *arena = &r->arena;
    JudgeTask task = *given;
    task.path = str_dup(arena, str_from(given->path));
    task.source = str_copy(arena, given->source);
    Diag said = diag_make(arena, task.path, task.source);
    int64_t largest = 0;
    r->shapes = r->failed = "";
    if (!torch_cases(arena, task.path, &r->cases, &said))
        r->cases = (TorchCases){0};
    r->task = case_read(arena, &task, c, &r->cases, &r->options, &said);
    if (!r->task) {
        fail_case(r, VERDICT_UNSCORED, &said, "the case cannot be read");
        return;
    }
    CompareSpec own;
    CompareRule rule = rule_of(arena, spec, task.path, r->task->graph, &own);
    r->shapes = case_shapes(arena, r->task->graph);
    if (!graph_bytes(r->task->graph, &r->bytes, &largest) || r->bytes > most_case) {
        r->bytes = 0;
        fail_case(r, VERDICT_UNSCORED, NULL, "the values of this case need more than 2 GiB");
    } else if (eval_reference_strewn(arena, r->task->graph, c->seed, rule,
                                     c->probe ? &c->probe->law : NULL,
                                     strew_any(&c->strew) ? &c->strew : NULL, &r->ref, &said)) {
        if (c->probe)
            r->ref.probe = *c->probe;
        r->ref.spec.bound = own.bound;
        r->ref.spec.named = own.named;
        eval_reference_model(arena, task.path, task.source, r->task, &r->options, &r->ref);
    } else {
        fail_case(r, VERDICT_UNSCORED, &said, "the reference cannot be computed");
    }
}

static CaseReady *oldest(JudgeCache *cache)
{
    CaseReady *least = &cache->entries[0];
    for (int i = 1; i < ENTRIES; i++)
        if (cache->entries[i].used < least->used)
            least = &cache->entries[i];
    return least;
}

static void make_room(JudgeCache *cache, const CaseReady *keep)
{
    int64_t all = 0;
    for (int i = 0; i < ENTRIES; i++)
        all += cache->entries[i].bytes;
    for (int i = 0; i < ENTRIES && all > most_kept; i++) {
        CaseReady *r = &cache->entries[i];
        if (r == keep)
            continue;
        all -= r->bytes;
        drop(r);
    }
}

const CaseReady *case_ready(JudgeCache *cache, const JudgeSpec *spec, const JudgeTask *task,
                            const CaseSpec *c)
{
    Arena scratch = {0};
    const char *key = key_of(&scratch, spec, task, c);
    CaseReady *r = NULL;
    for (int i = 0; i < ENTRIES && !r; i++)
        if (cache->entries[i].key && !strcmp(cache->entries[i].key, key))
            r = &cache->entries[i];
    if (!r) {
        r = oldest(cache);
        drop(r);
        make(r, spec, task, c);
        r->key = str_dup(&r->arena, str_from(key));
        make_room(cache, r);
    }
    r->used = ++cache->count;
    arena_drop(&scratch);
    return r;
}
