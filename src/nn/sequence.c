/* Texts become windows of tokens; rows become samples. */
#include "nn/sequence.h"

#include "base/file.h"
#include <jansson.h>
#include <string.h>

NnReader nn_reader(Arena *arena, const Bpe *bpe, uint32_t seq)
{
    NnReader r = {.arena = arena, .bpe = bpe, .seq = seq};
    r.has_end = bpe_special(bpe, STR("<|endoftext|>"), &r.end);
    return r;
}

bool nn_sequence_make(const NnReader *r, Str prompt, Str answer, NnSequence *s)
{
    TokenList ids = {0};
    bpe_encode(r->bpe, r->arena, prompt, true, &ids);
    uint32_t first = ids.len;
    bpe_encode(r->bpe, r->arena, answer, true, &ids);
    if (r->has_end)
        vec_push(r->arena, &ids, r->end);
    if (ids.len < first + 1 || ids.len > r->seq + 1)
        return false;
    s->tokens = arena_array(r->arena, int32_t, r->seq);
    s->targets = arena_array(r->arena, int32_t, r->seq);
    for (uint32_t i = 0; i < r->seq; i++) {
        s->tokens[i] = i < ids.len ? (int32_t)ids.at[i] : (int32_t)vec_last(&ids);
        s->targets[i] = i + 1 < ids.len && i + 1 >= first ? (int32_t)ids.at[i + 1] : -1;
    }
    s->learnt = ids.len - (first ? first : 1);
    return true;
}

void nn_sequence_refer(NnSequence *s, const NnDevice *device, void *model)
{
    s->reference = device->evaluate(model, s->tokens, s->targets);
}

bool nn_text_of(Arena *arena, const json_t *value, Str *text)
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

bool nn_rows_read(Arena *arena, const char *path, bool (*take)(void *self, const json_t *),
                  void *self, const char *expected, Diag *diag)
{
    Str text, line;
    if (!file_read(arena, path, (size_t)16 << 30, &text, diag))
        return false;
    for (uint64_t number = 1; str_next(&text, '\n', &line); number++) {
        if (!str_trim(line).len)
            continue;
        json_t *row = json_loadb(line.at, line.len, 0, NULL);
        bool ok = row && take(self, row);
        json_decref(row);
        if (!ok) {
            diag_error(diag, "N005", (Span){0}, "%s:%llu: a row has %s", path,
                       (unsigned long long)number, expected);
            return false;
        }
    }
    return true;
}

static bool read_mark(const json_t *row, NnAnswer *sample)
{
    const char *text = json_string_value(json_object_get(row, "mark"));
    const json_t *reward = json_object_get(row, "reward");
    if (!text || (reward && !json_is_number(reward)))
        return false;
    sample->mark = !strcmp(text, "right")   ? NN_RIGHT
                   : !strcmp(text, "wrong") ? NN_WRONG
                                            : NN_REFUSED;
    sample->reward = reward ? json_number_value(reward) : sample->mark == NN_RIGHT;
    return true;
}

bool nn_answers_add(const NnReader *r, const json_t *row, NnAnswers *samples)
{
    const json_t *messages = json_object_get(row, "messages");
    NnAnswer sample = {0};
    Str prompt;
    uint32_t at;
    if (!read_mark(row, &sample) || json_array_size(messages) < 2 ||
        !nn_text_of(r->arena, json_object_get(json_array_get(messages, 0), "content"), &prompt) ||
        !nn_text_of(r->arena, json_object_get(json_array_get(messages, 1), "content"),
                    &sample.answer))
        return false;
    if (!map_get(&samples->by_prompt, prompt, &at)) {
        at = samples->all.len;
        vec_push(r->arena, &samples->all, (NnAsked){.prompt = prompt});
        map_put(r->arena, &samples->by_prompt, prompt, at);
    }
    vec_push(r->arena, &samples->all.at[at].samples, sample);
    return true;
}
