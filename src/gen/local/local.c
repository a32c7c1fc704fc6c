/* The model of local.h as a generator. */
#include "gen/local/local.h"

#include "base/file.h"
#include "gen/prompt/prompt.h"
#include "nn/bpe.h"
#include "nn/infer.h"
#include <math.h>
#include <time.h>

enum { TOGETHER = 16, LEAST_ANSWER = 32 };

typedef struct Local {
    LocalSpec spec;
    NnInfer *model;
    Bpe *bpe;
    NnPool *pool;       /* from the first question on */
    NnSession *session; /* likewise */
    const char *name;
    uint32_t end;
    bool has_end;
} Local;

static double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One question, `count` answers. */
static void answer(Local *l, Arena *arena, Str prompt, uint64_t seed, ChatReply *replies,
                   uint32_t count)
{
    TokenList ids = {0};
    double start = clock_seconds();
    uint32_t context = nn_infer_config(l->model)->context;
    bpe_encode(l->bpe, arena, prompt, false, &ids);
    for (uint32_t i = 0; i < count; i++)
        replies[i] = (ChatReply){
            .usage = {ids.len, -1, -1}, .model = l->name, .error = "", .tries = 1};
    if (ids.len + LEAST_ANSWER > context) {
        for (uint32_t i = 0; i < count; i++)
            replies[i].error = str_format(
                arena, "the question has %u tokens; the model's context is %u", ids.len, context);
        return;
    }
    uint32_t left = context - ids.len;
    NnSample samples[TOGETHER];
    for (uint32_t i = 0; i < TOGETHER; i++)
        nn_session_rewind(l->session, i, 0);
    NnGenerate job = {.prompt = ids.at,
                      .prompt_count = ids.len,
                      .samples = count,
                      .most = l->spec.most && l->spec.most < left ? l->spec.most : left,
                      .stop = &l->end,
                      .stop_count = l->has_end,
                      .sampling = {.temperature = l->spec.temperature, .top_p = l->spec.top_p},
                      .seed = seed};
    bool ok = nn_generate(arena, l->session, &job, samples);
    for (uint32_t i = 0; i < count; i++) {
        ChatReply *reply = &replies[i];
        Buf text = {0};
        reply->seconds = clock_seconds() - start;
        if (!ok) {
            reply->error = "the tokenizer has tokens that the model does not have";
            continue;
        }
        bpe_decode(l->bpe, samples[i].tokens, samples[i].count, false, &text);
        ChatChoice choice = {.text = str_copy(arena, buf_view(&text)),
                             .end = samples[i].stopped ? CHAT_STOPPED : CHAT_CUT};
        reply->usage.completion = samples[i].count;
        vec_push(arena, &reply->choices, choice);
        buf_free(&text);
    }
}

static bool ask(void *self, Arena *arena, const ChatAsk *asks, uint32_t count, ChatReply *replies,
                Diag *diag)
{
    Local *l = self;
    (void)diag;
    if (!l->session) {
        l->pool = nn_pool_open(l->spec.threads);
        l->session = nn_session_open(l->model, l->pool, TOGETHER,
                                     nn_infer_config(l->model)->context);
    }
    Str *prompt = arena_array(arena, Str, count + 1);
    for (uint32_t i = 0; i < count; i++)
        prompt[i] = prompt_rows_of(arena, &asks[i].messages);
    for (uint32_t i = 0, n; i < count; i += n) {
        for (n = 1; n < TOGETHER && i + n < count && str_equal(prompt[i], prompt[i + n]);)
            n++;
        uint64_t seed = l->spec.seed + 1000 * (uint64_t)asks[i].sample + asks[i].turn;
        answer(l, arena, prompt[i], seed, replies + i, n);
    }
    return true;
}

static void close_local(void *self)
{
    Local *l = self;
    if (l->session)
        nn_session_close(l->session);
    if (l->pool)
        nn_pool_close(l->pool);
    nn_infer_close(l->model);
    bpe_close(l->bpe);
}

bool local_open(Arena *arena, const LocalSpec *spec, Generator *g, Diag *diag)
{
    Local *l = arena_new(arena, Local);
    *l = (Local){.spec = *spec, .name = str_format(arena, "local %s", spec->weights)};
    if (!file_exists(spec->weights)) {
        diag_error(diag, "N008", (Span){0}, "there are no weights at '%s'", spec->weights);
        diag_hint(diag, "docs/training.md says how they are trained; --weights FILE names them");
        return false;
    }
    const char *dir = file_is_dir(spec->weights) ? spec->weights : path_dir(arena, spec->weights);
    const char *beside = path_join(arena, dir, "tokenizer.json");
    l->model = nn_infer_open(spec->weights, diag);
    l->bpe = l->model ? bpe_open(spec->tokenizer ? spec->tokenizer : beside, diag) : NULL;
    if (l->bpe && bpe_size(l->bpe) > nn_infer_config(l->model)->vocab) {
        diag_error(diag, "N008", (Span){0},
                   "the tokenizer has %u tokens, the model only %u: they do not belong together",
                   bpe_size(l->bpe), nn_infer_config(l->model)->vocab);
        bpe_close(l->bpe);
        l->bpe = NULL;
    }
    if (!l->bpe) {
        if (l->model)
            nn_infer_close(l->model);
        return false;
    }
    l->has_end = bpe_special(l->bpe, STR("<|endoftext|>"), &l->end);
    *g = (Generator){.name = l->name, .self = l, .ask = ask, .close = close_local};
    return true;
}
