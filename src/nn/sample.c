/* From logits to tokens, and from a prompt to samples. */
#include "nn/infer.h"

#include "base/rng.h"
#include <math.h>
#include <stdlib.h>

typedef struct Candidate {
    float logit;
    uint32_t token;
} Candidate;

static bool is_allowed(const uint64_t *allowed, uint32_t token)
{
    return !allowed || (allowed[token / 64] >> token % 64 & 1);
}

/* The tokens that may be drawn; returns how many, and the place of the best. */
static uint32_t gather(const float *logits, uint32_t vocab, const uint64_t *allowed, Candidate *out,
                       uint32_t *best)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < vocab; i++) {
        if (!is_allowed(allowed, i) || !isfinite(logits[i]))
            continue;
        if (!count || logits[i] > out[*best].logit)
            *best = count;
        out[count++] = (Candidate){logits[i], i};
    }
    return count;
}

static int by_logit(const void *a, const void *b)
{
    const Candidate *x = a, *y = b;
    if (x->logit != y->logit)
        return x->logit > y->logit ? -1 : 1;
    return x->token < y->token ? -1 : 1;
}

static double weight_of(const Candidate *c, float best, double temperature)
{
    return exp(((double)c->logit - (double)best) / temperature);
}

/* How many of the sorted candidates stay: the first top_k, then the fewest that hold top_p. */
static uint32_t cut(const Candidate *c, uint32_t count, const NnSampling *s)
{
    double all = 0, sum = 0;
    if (s->top_k && s->top_k < count)
        count = s->top_k;
    if (!(s->top_p > 0 && s->top_p < 1))
        return count;
    for (uint32_t i = 0; i < count; i++)
        all += weight_of(&c[i], c[0].logit, s->temperature);
    for (uint32_t i = 0; i < count; i++) {
        sum += weight_of(&c[i], c[0].logit, s->temperature);
        if (sum >= s->top_p * all)
            return i + 1;
    }
    return count;
}

static uint32_t draw(const Candidate *c, uint32_t count, float best, double temperature,
                     double uniform)
{
    double all = 0, sum = 0;
    for (uint32_t i = 0; i < count; i++)
        all += weight_of(&c[i], best, temperature);
    for (uint32_t i = 0; i < count; i++) {
        sum += weight_of(&c[i], best, temperature);
        if (sum > uniform * all)
            return c[i].token;
    }
    return c[count - 1].token;
}

uint32_t nn_sample(const float *logits, uint32_t vocab, const NnSampling *s,
                   const uint64_t *allowed, uint64_t seed, uint64_t stream, uint64_t index)
{
    Candidate *c = heap_alloc(vocab * sizeof *c);
    uint32_t best = 0, count = gather(logits, vocab, allowed, c, &best), token = UINT32_MAX;
    if (count && !(s->temperature > 0)) {
        token = c[best].token;
    } else if (count) {
        float most = c[best].logit;
        if (s->top_k || (s->top_p > 0 && s->top_p < 1)) {
            qsort(c, count, sizeof *c, by_logit);
            count = cut(c, count, s);
        }
        token = draw(c, count, most, s->temperature, rng_uniform(seed, stream, index));
    }
    heap_free(c);
    return token;
}

static bool is_stop(const NnGenerate *job, uint32_t token)
{
    for (uint32_t i = 0; i < job->stop_count; i++)
        if (job->stop[i] == token)
            return true;
    return false;
}

static NnNext draw_next(const NnGenerate *job, uint32_t vocab, const float *logits, uint32_t slot,
                        const NnSample *sample)
{
    if (job->guide)
        return job->guide->next(job->guide->context, slot, sample, logits);
    uint32_t token = nn_sample(logits, vocab, &job->sampling, NULL, job->seed, slot, sample->count);
    return (NnNext){sample->count, token, token == UINT32_MAX || is_stop(job, token)};
}

/* Draws the next token of every sample that goes on; the rows of the next step. */
static uint32_t draw_all(const NnGenerate *job, NnSession *session, const float *logits,
                         NnRow *rows, uint32_t count, NnSample *samples)
{
    uint32_t going = 0, vocab = nn_session_config(session)->vocab;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = rows[i].slot;
        NnSample *out = &samples[slot];
        NnNext next = draw_next(job, vocab, logits + (size_t)i * vocab, slot, out);
        if (next.keep < out->count) {
            out->count = next.keep;
            nn_session_rewind(session, slot, job->prompt_count + next.keep);
        }
        out->stopped = next.stop;
        if (next.stop)
            continue;
        out->tokens[out->count++] = next.token;
        if (out->count < job->most)
            rows[going++] = (NnRow){slot, next.token, true};
    }
    return going;
}

bool nn_generate(Arena *arena, NnSession *session, const NnGenerate *job, NnSample *samples)
{
    uint32_t vocab = nn_session_config(session)->vocab, count = job->samples;
    float *logits = nn_floats_new((uint64_t)vocab * count);
    NnRow *rows = arena_array(arena, NnRow, count);
    bool ok = job->prompt_count &&
              nn_session_feed(session, 0, job->prompt, job->prompt_count, logits);
    for (uint32_t i = 0; ok && i < count; i++) {
        samples[i] = (NnSample){.tokens = arena_array(arena, uint32_t, job->most)};
        rows[i] = (NnRow){i, 0, true};
        nn_session_copy(session, i, 0);
        for (uint32_t k = 0; i && k < vocab; k++)
            logits[(size_t)i * vocab + k] = logits[k];
    }
    uint32_t steps = job->guide && job->most_steps ? job->most_steps : job->most;
    for (uint32_t step = 0; ok && step < steps; step++) {
        count = draw_all(job, session, logits, rows, count, samples);
        if (!count)
            break;
        ok = nn_session_run(session, rows, count, logits);
    }
    nn_floats_free(logits);
    return ok;
}
