/* What the guide of the decoder costs: processor time of a decoding step of the shipped weights with one
 * thread, beside what is done for each token: trying it, the mask of all tokens (made where a drawn token may
 * not come), taking it, and reading the lines so far when one ends. Over the exemplars, as answers.
 *
 *     bench-guide */
#include "base/file.h"
#include "craft/craft.h"
#include "gen/local/guide.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Costs {
    double step, allow, mask, take, line; /* seconds */
    uint64_t tokens, lines;
} Costs;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One answer through the guide. */
static void follow(Arena *arena, Guide *g, const Bpe *bpe, Str answer, Costs *costs)
{
    TokenList ids = {0};
    GuideJob job = {.level = GUIDE_MASK};
    bpe_encode(bpe, arena, answer, false, &ids);
    guide_begin(g, &job);
    for (uint32_t i = 0; i < ids.len; i++) {
        double t0 = now();
        bool ok = guide_allows(g, 0, ids.at[i]);
        double t1 = now();
        guide_mask(g, 0);
        double t2 = now();
        ok = ok && guide_take(g, 0, ids.at[i]);
        double t3 = now();
        costs->allow += t1 - t0;
        costs->mask += t2 - t1;
        costs->take += t3 - t2;
        costs->tokens++;
        if (!ok) {
            fprintf(stderr, "token %u, '%.*s', of an exemplar may not come after\n%.*s\n", i,
                    STR_ARG(bpe_token(bpe, ids.at[i])), 200, answer.at);
            exit(1);
        }
    }
}

/* The front end on every beginning of a program that ends with a line. */
static void read_lines(Str craft, Costs *costs)
{
    for (size_t i = 0; i < craft.len; i++) {
        if (craft.at[i] != '\n')
            continue;
        Arena arena = {0};
        Str text = str_slice(craft, 0, i + 1);
        Diag diag = diag_make(&arena, "bench", text);
        double start = now();
        craft_check_beginning(&arena, text, &diag);
        costs->line += now() - start;
        costs->lines++;
        arena_drop(&arena);
    }
}

static void decode(NnInfer *model, Costs *costs)
{
    enum { FROM = 400, STEPS = 200 };
    NnPool *pool = nn_pool_open(1);
    NnSession *s = nn_session_open(model, pool, 1, 1024);
    float *logits = nn_floats_new(nn_infer_config(model)->vocab);
    double start = 0;
    for (uint32_t i = 0; i < FROM + STEPS; i++) {
        if (i == FROM)
            start = now();
        NnRow row = {0, i * 7 % 2000, true};
        nn_session_run(s, &row, 1, logits);
    }
    costs->step = (now() - start) / STEPS;
    nn_floats_free(logits);
    nn_session_close(s);
    nn_pool_close(pool);
}

static void show(const char *what, double seconds, double step)
{
    printf("%-42s %8.2f us  %6.2f %% of a step\n", what, 1e6 * seconds, 100 * seconds / step);
}

int main(void)
{
    static const char folder[] = "examples/exemplars";
    Arena arena = {0};
    Costs c = {0};
    NameList files = {0};
    Diag diag = diag_make(&arena, folder, STR(""));
    Bpe *bpe = bpe_open("weights/tokenizer.json", &diag);
    NnInfer *model = nn_infer_open("weights/model.safetensors", &diag);
    GuideSpec spec = {.bpe = bpe, .slots = 1};
    if (!bpe || !model || !bpe_special(bpe, STR("<|endoftext|>"), &spec.end) ||
        !file_list(&arena, folder, &files, &diag)) {
        fprintf(stderr, "run it in the repository: weights/ and %s are needed\n", folder);
        return 2;
    }
    spec.vocab = nn_infer_config(model)->vocab;
    Guide *g = guide_open(&spec);
    for (uint32_t i = 0; i < files.len; i++) {
        Str craft;
        if (!str_ends(str_from(files.at[i]), ".craft") ||
            !file_read(&arena, path_join(&arena, folder, files.at[i]), 0, &craft, &diag))
            continue;
        follow(&arena, g, bpe, str_from(str_format(&arena, "```python\n%.*s```\n", STR_ARG(craft))),
               &c);
        read_lines(craft, &c);
    }
    decode(model, &c);
    double n = (double)c.tokens;
    printf("%llu tokens, %llu lines of %s; one thread, processor time\n",
           (unsigned long long)c.tokens, (unsigned long long)c.lines, folder);
    show("a decoding step", c.step, c.step);
    show("trying a token", c.allow / n, c.step);
    show("taking it", c.take / n, c.step);
    show("the mask of all tokens", c.mask / n, c.step);
    show("reading the lines so far, for each token", c.line / n, c.step);
    show("all, the mask at every token", (c.allow + c.take + c.mask + c.line) / n, c.step);
    guide_close(g);
    nn_infer_close(model);
    bpe_close(bpe);
    arena_drop(&arena);
    return 0;
}
