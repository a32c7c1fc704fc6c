/* The model of local.h as a generator. */
#include "gen/local/local_int.h"

#include "base/file.h"
#include "craft/craft.h"
#include "gen/local/guide.h"
#include "gen/prompt/prompt.h"
#include "ir/prove.h"
#include "lower/lower.h"
#include "nn/bpe.h"
#include "nn/infer.h"
#include <math.h>
#include <time.h>

enum { TOGETHER = 16, LEAST_ANSWER = 32, AGAIN = 8, AGAIN_SEED = 500, STEPS_EACH = 3 };
#define AGAIN_TEMPERATURE 0.7

typedef struct Local {
    LocalSpec spec;
    NnInfer *model;
    Bpe *bpe;
    NnPool *pool;       /* from the first question on */
    NnSession *session; /* likewise */
    Guide *guide;       /* likewise; NULL: answers are drawn freely */
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

bool local_passes(const NpuChip *chip, Str answer)
{
    Arena arena = {0};
    Str craft = prompt_rows_fenced(answer);
    Diag diag = diag_make(&arena, "kernel.craft", craft);
    CraftFile *file = craft_read(&arena, "kernel.craft", craft, &diag);
    IrProgram *p = file && diag_ok(&diag) ? craft_program(&arena, file, 0, &diag) : NULL;
    IrReport report;
    if (p)
        ir_prove(&arena, p, chip, &report, &diag);
    bool ok = p && diag_ok(&diag) && lower_program(&arena, p, chip, LOWER_ALIGN, &diag) &&
              diag_ok(&diag);
    arena_drop(&arena);
    return ok;
}

/* One question. */
typedef struct Question {
    TokenList ids;
    uint64_t seed;
    double temperature;
} Question;

static bool draw(Local *l, Arena *arena, const Question *q, uint32_t count, NnSample *samples)
{
    uint32_t left = nn_infer_config(l->model)->context - q->ids.len;
    for (uint32_t i = 0; i < TOGETHER; i++)
        nn_session_rewind(l->session, i, 0);
    NnGenerate job = {.prompt = q->ids.at,
                      .prompt_count = q->ids.len,
                      .samples = count,
                      .most = l->spec.most && l->spec.most < left ? l->spec.most : left,
                      .stop = &l->end,
                      .stop_count = l->has_end,
                      .sampling = {.temperature = q->temperature, .top_p = l->spec.top_p},
                      .seed = q->seed};
    GuideJob guided = {l->spec.decode >= LOCAL_LINES ? GUIDE_LINES : GUIDE_MASK, job.sampling,
                       q->seed};
    if (l->guide) {
        job.guide = guide_begin(l->guide, &guided);
        job.most_steps = STEPS_EACH * job.most;
    }
    return nn_generate(arena, l->session, &job, samples);
}

static ChatChoice choice_of(const Local *l, Arena *arena, const NnSample *sample)
{
    Buf text = {0};
    bpe_decode(l->bpe, sample->tokens, sample->count, false, &text);
    ChatChoice choice = {.text = str_copy(arena, buf_view(&text)),
                         .end = sample->stopped ? CHAT_STOPPED : CHAT_CUT};
    buf_free(&text);
    return choice;
}

/* The first of a few further answers that passes, in place of one that does not. */
static void draw_again(Local *l, Arena *arena, const Question *first, ChatReply *reply)
{
    Question q = *first;
    NnSample samples[AGAIN];
    q.seed += AGAIN_SEED;
    q.temperature = q.temperature > AGAIN_TEMPERATURE ? q.temperature : AGAIN_TEMPERATURE;
    if (!draw(l, arena, &q, AGAIN, samples))
        return;
    for (uint32_t i = 0; i < AGAIN; i++) {
        ChatChoice choice = choice_of(l, arena, &samples[i]);
        reply->usage.completion += samples[i].count;
        if (local_passes(l->spec.chip, choice.text)) {
            reply->choices.at[0] = choice;
            return;
        }
    }
}

/* `count` answers to a question. */
static void answer(Local *l, Arena *arena, const Question *q, ChatReply *replies, uint32_t count)
{
    double start = clock_seconds();
    uint32_t context = nn_infer_config(l->model)->context;
    for (uint32_t i = 0; i < count; i++)
        replies[i] = (ChatReply){
            .usage = {q->ids.len, -1, -1}, .model = l->name, .error = "", .tries = 1};
    if (q->ids.len + LEAST_ANSWER > context) {
        for (uint32_t i = 0; i < count; i++)
            replies[i].error = str_format(arena,
                                          "the question has %u tokens; the model's context is %u",
                                          q->ids.len, context);
        return;
    }
    NnSample samples[TOGETHER];
    bool ok = draw(l, arena, q, count, samples);
    for (uint32_t i = 0; i < count; i++) {
        ChatReply *reply = &replies[i];
        if (!ok) {
            reply->error = "the tokenizer has tokens that the model does not have";
            continue;
        }
        reply->usage.completion = samples[i].count;
        vec_push(arena, &reply->choices, choice_of(l, arena, &samples[i]));
    }
    bool again = l->spec.decode >= LOCAL_AGAIN && l->spec.chip;
    for (uint32_t i = 0; ok && again && i < count; i++) {
        Question other = {q->ids, q->seed + 17 * (uint64_t)i, q->temperature};
        if (!local_passes(l->spec.chip, replies[i].choices.at[0].text))
            draw_again(l, arena, &other, &replies[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        replies[i].seconds = clock_seconds() - start;
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
        if (l->spec.decode > LOCAL_FREE && l->has_end)
            l->guide = guide_open(&(GuideSpec){.bpe = l->bpe,
                                               .vocab = nn_infer_config(l->model)->vocab,
                                               .end = l->end,
                                               .slots = TOGETHER});
    }
    Str *prompt = arena_array(arena, Str, count + 1);
    for (uint32_t i = 0; i < count; i++)
        prompt[i] = prompt_rows_of(arena, &asks[i].messages);
    for (uint32_t i = 0, n; i < count; i += n) {
        bool likely = l->spec.likely_first && asks[i].sample == 0;
        for (n = 1;
             !likely && n < TOGETHER && i + n < count && str_equal(prompt[i], prompt[i + n]);)
            n++;
        Question q = {.seed = l->spec.seed + 1000 * (uint64_t)asks[i].sample + asks[i].turn,
                      .temperature = likely ? 0 : l->spec.temperature};
        bpe_encode(l->bpe, arena, prompt[i], false, &q.ids);
        answer(l, arena, &q, replies + i, n);
    }
    return true;
}

static void close_local(void *self)
{
    Local *l = self;
    guide_close(l->guide);
    if (l->session)
        nn_session_close(l->session);
    if (l->pool)
        nn_pool_close(l->pool);
    nn_infer_close(l->model);
    bpe_close(l->bpe);
}

const char *const local_decode_names[] = {"free", "mask", "lines", "again", NULL};

bool local_decode_find(const char *name, LocalDecode *decode)
{
    for (uint32_t i = 0; local_decode_names[i]; i++)
        if (str_is(str_from(name), local_decode_names[i])) {
            *decode = (LocalDecode)i;
            return true;
        }
    return false;
}

/* Random weights in the place of those read. */
static void forget_weights(Local *l)
{
    Arena arena = {0};
    NnModel model = nn_open(&arena, nn_infer_config(l->model));
    nn_init(&model, l->spec.seed);
    nn_infer_close(l->model);
    l->model = nn_infer_make(&model);
    nn_close(&model);
    arena_drop(&arena);
    l->name = "untrained";
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
    if (l->model && spec->untrained)
        forget_weights(l);
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

void local_sampling(Generator *generator, const LocalSampling *sampling)
{
    LocalSpec *spec = &((Local *)generator->self)->spec;
    spec->temperature = sampling->temperature;
    spec->top_p = sampling->top_p;
    spec->likely_first = sampling->likely_first;
    spec->most = sampling->most;
    spec->seed = sampling->seed;
}
