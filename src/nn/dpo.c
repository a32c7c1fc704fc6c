/* Preferences: read, compared with the start, learnt. */
#include "nn/dpo.h"

#include "base/file.h"
#include "base/map.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

/* ---- reading ---- */

typedef struct PairReader {
    Arena *arena;
    const Bpe *bpe;
    NnPairs *pairs;
    uint32_t end;
    bool has_end;
} PairReader;

/* A string, or the contents of a list of messages joined; false: neither. */
static bool text_of(Arena *arena, const json_t *value, Str *text)
{
    Buf out = {0};
    bool ok = json_is_string(value) || json_is_array(value);
    if (json_is_string(value))
        buf_add(&out, json_string_value(value), json_string_length(value));
    for (size_t i = 0; ok && i < json_array_size(value); i++) {
        const json_t *content = json_object_get(json_array_get(value, i), "content");
        ok = json_is_string(content);
        if (ok)
            buf_add(&out, json_string_value(content), json_string_length(content));
    }
    *text = str_copy(arena, buf_view(&out));
    buf_free(&out);
    return ok;
}

/* False: longer than a window. */
static bool make_sequence(const PairReader *r, Str prompt, Str answer, NnSequence *s)
{
    uint32_t seq = r->pairs->seq;
    TokenList ids = {0};
    bpe_encode(r->bpe, r->arena, prompt, true, &ids);
    uint32_t first = ids.len;
    bpe_encode(r->bpe, r->arena, answer, true, &ids);
    if (r->has_end)
        vec_push(r->arena, &ids, r->end);
    if (ids.len < first + 1 || ids.len > seq + 1)
        return false;
    s->tokens = arena_array(r->arena, int32_t, seq);
    s->targets = arena_array(r->arena, int32_t, seq);
    for (uint32_t i = 0; i < seq; i++) {
        s->tokens[i] = i < ids.len ? (int32_t)ids.at[i] : (int32_t)vec_last(&ids);
        s->targets[i] = i + 1 < ids.len && i + 1 >= first ? (int32_t)ids.at[i + 1] : -1;
    }
    s->learnt = ids.len - (first ? first : 1);
    return true;
}

static void add_pair(const PairReader *r, Str prompt, Str chosen, Str rejected)
{
    NnPair pair = {0};
    if (make_sequence(r, prompt, chosen, &pair.chosen) &&
        make_sequence(r, prompt, rejected, &pair.rejected))
        vec_push(r->arena, &r->pairs->all, pair);
    else
        r->pairs->dropped++;
}

/* A sample of a question; the best so far of each rank, in turn. */
enum { RIGHT, WRONG, REFUSED, RANKS };
typedef struct Asked {
    Str prompt;
    VEC(Str) answers[RANKS];
} Asked;
typedef VEC(Asked) AskedList;

static int rank_of(const json_t *mark)
{
    const char *text = json_string_value(mark);
    return !text ? -1 : !strcmp(text, "right") ? RIGHT : !strcmp(text, "wrong") ? WRONG : REFUSED;
}

static bool add_sample(const PairReader *r, const json_t *row, Map *by_prompt, AskedList *asked)
{
    const json_t *messages = json_object_get(row, "messages");
    Str prompt, answer;
    uint32_t at;
    int rank = rank_of(json_object_get(row, "mark"));
    if (rank < 0 || json_array_size(messages) < 2 ||
        !text_of(r->arena, json_object_get(json_array_get(messages, 0), "content"), &prompt) ||
        !text_of(r->arena, json_object_get(json_array_get(messages, 1), "content"), &answer))
        return false;
    if (!map_get(by_prompt, prompt, &at)) {
        at = asked->len;
        vec_push(r->arena, asked, (Asked){.prompt = prompt});
        map_put(r->arena, by_prompt, prompt, at);
    }
    Asked *a = &asked->at[at];
    for (uint32_t i = 0; i < a->answers[rank].len; i++)
        if (str_equal(a->answers[rank].at[i], answer))
            return true;
    vec_push(r->arena, &a->answers[rank], answer);
    return true;
}

/* Answers of a better rank beside those of a worse one, one by one. */
static void pair_samples(const PairReader *r, const AskedList *asked)
{
    for (uint32_t i = 0; i < asked->len; i++) {
        const Asked *a = &asked->at[i];
        for (int better = RIGHT; better < REFUSED; better++)
            for (int worse = better + 1; worse < RANKS; worse++) {
                uint32_t n = a->answers[better].len, m = a->answers[worse].len;
                for (uint32_t k = 0; k < n && k < m; k++)
                    add_pair(r, a->prompt, a->answers[better].at[k], a->answers[worse].at[k]);
            }
    }
}

static bool add_row(const PairReader *r, const json_t *row, Map *by_prompt, AskedList *asked)
{
    Str prompt, chosen, rejected;
    if (json_object_get(row, "mark"))
        return add_sample(r, row, by_prompt, asked);
    if (!text_of(r->arena, json_object_get(row, "prompt"), &prompt) ||
        !text_of(r->arena, json_object_get(row, "chosen"), &chosen) ||
        !text_of(r->arena, json_object_get(row, "rejected"), &rejected))
        return false;
    add_pair(r, prompt, chosen, rejected);
    return true;
}

bool nn_pairs_read(Arena *arena, const char *path, const Bpe *bpe, uint32_t seq, NnPairs *pairs,
                   Diag *diag)
{
    PairReader r = {.arena = arena, .bpe = bpe, .pairs = pairs};
    Map by_prompt = {0};
    AskedList asked = {0};
    Str text, line;
    *pairs = (NnPairs){.seq = seq, .beta = 0.1, .nll = 1};
    if (!file_read(arena, path, (size_t)16 << 30, &text, diag))
        return false;
    r.has_end = bpe_special(bpe, STR("<|endoftext|>"), &r.end);
    for (uint64_t number = 1; str_next(&text, '\n', &line); number++) {
        if (!str_trim(line).len)
            continue;
        json_t *row = json_loadb(line.at, line.len, 0, NULL);
        bool ok = row && add_row(&r, row, &by_prompt, &asked);
        json_decref(row);
        if (!ok) {
            diag_error(
                diag, "N005", (Span){0},
                "%s:%llu: a row has \"prompt\", \"chosen\" and \"rejected\", or \"mark\" and "
                "\"messages\"",
                path, (unsigned long long)number);
            return false;
        }
    }
    pair_samples(&r, &asked);
    if (!pairs->all.len)
        diag_error(diag, "N005", (Span){0},
                   "'%s' has no pair of a better and a worse answer within %u tokens", path, seq);
    return pairs->all.len > 0;
}

/* ---- learning ---- */

void nn_pairs_refer(NnPairs *pairs, const NnDevice *device, void *model)
{
    for (uint32_t i = 0; i < pairs->all.len; i++) {
        NnPair *p = &pairs->all.at[i];
        p->chosen.reference = device->evaluate(model, p->chosen.tokens, p->chosen.targets);
        p->rejected.reference = device->evaluate(model, p->rejected.tokens, p->rejected.targets);
    }
}

NnPairLoss nn_pair_loss(const NnPairs *pairs, const NnPair *pair, double chosen, double rejected,
                        double *chosen_weight, double *rejected_weight)
{
    const NnSequence *c = &pair->chosen, *r = &pair->rejected;
    double z = pairs->beta * ((c->reference - chosen) - (r->reference - rejected));
    double doubt = 1 / (1 + exp(z)); /* sigmoid(-z) */
    double softplus = z > 0 ? log1p(exp(-z)) : -z + log1p(exp(z));
    *chosen_weight = pairs->beta * doubt + pairs->nll / c->learnt;
    *rejected_weight = -pairs->beta * doubt;
    return (NnPairLoss){softplus + pairs->nll * chosen / c->learnt, z};
}

NnPairLoss nn_pair_learn(const NnPairs *pairs, const NnPair *pair, const NnDevice *device,
                         void *model, double share)
{
    const NnSequence *c = &pair->chosen, *r = &pair->rejected;
    double up, down, chosen = device->evaluate(model, c->tokens, c->targets);
    double rejected = device->evaluate(model, r->tokens, r->targets);
    NnPairLoss loss = nn_pair_loss(pairs, pair, chosen, rejected, &up, &down);
    device->learn(model, c->tokens, c->targets, (float)(share * up));
    device->learn(model, r->tokens, r->targets, (float)(share * down));
    return loss;
}
