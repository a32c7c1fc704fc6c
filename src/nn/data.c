/* Training data: packed tokens in and out, and JSON Lines through a tokenizer. */
#include "nn/trainer.h"

#include "base/file.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* "ACTOKENS", u32 bytes per token (2 or 4), u32 vocabulary, then the tokens; little-endian, the top
 * bit of a token set where it is not learnt. */
enum { HEADER = 16 };
static const char magic[8] = {'A', 'C', 'T', 'O', 'K', 'E', 'N', 'S'};

static uint32_t read_bytes(const uint8_t *at, uint32_t bytes)
{
    uint32_t value = 0;
    for (uint32_t i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static bool fail_data(Diag *diag, const char *path, uint64_t line, const char *why)
{
    if (line)
        diag_error(diag, "N005", (Span){0}, "%s:%llu: %s", path, (unsigned long long)line, why);
    else
        diag_error(diag, "N005", (Span){0}, "'%s': %s", path, why);
    return false;
}

static bool read_packed(Arena *arena, const char *path, Str text, NnData *data, Diag *diag)
{
    const uint8_t *at = (const uint8_t *)text.at;
    if (text.len < HEADER || memcmp(at, magic, sizeof magic))
        return fail_data(diag, path, 0, "no packed tokens (and JSON Lines are named .jsonl)");
    uint32_t bytes = read_bytes(at + 8, 4), vocab = read_bytes(at + 12, 4);
    if ((bytes != 2 && bytes != 4) || (text.len - HEADER) % bytes)
        return fail_data(diag, path, 0, "tokens are of 2 or 4 bytes; the file is damaged");
    uint32_t top = bytes == 2 ? 0x8000 : NN_MASKED;
    data->count = (text.len - HEADER) / bytes;
    data->tokens = arena_array(arena, uint32_t, data->count);
    for (uint64_t i = 0; i < data->count; i++) {
        uint32_t token = read_bytes(at + HEADER + i * bytes, bytes);
        if ((token & ~top) >= vocab)
            return fail_data(diag, path, 0, "holds a token that its vocabulary does not have");
        data->tokens[i] = (token & ~top) | (token & top ? NN_MASKED : 0);
    }
    return true;
}

typedef struct RowReader {
    Arena *arena;
    const Bpe *bpe;
    TokenList tokens;
    uint32_t end;
    bool has_end;
} RowReader;

/* A string, or a list of chat messages whose contents are joined in order. */
static bool add_text(RowReader *r, const json_t *value, uint32_t mask)
{
    Arena scratch = {0};
    TokenList ids = {0};
    bool ok = json_is_string(value) || json_is_array(value);
    if (json_is_string(value))
        bpe_encode(r->bpe, &scratch, (Str){json_string_value(value), json_string_length(value)},
                   true, &ids);
    for (size_t i = 0; ok && i < json_array_size(value); i++) {
        const json_t *content = json_object_get(json_array_get(value, i), "content");
        ok = json_is_string(content) && add_text(r, content, mask);
    }
    for (uint32_t i = 0; i < ids.len; i++)
        vec_push(r->arena, &r->tokens, ids.at[i] | mask);
    arena_drop(&scratch);
    return ok;
}

/* A conversation: what the assistant says is learnt. */
static bool add_messages(RowReader *r, const json_t *messages)
{
    bool ok = json_is_array(messages) && json_array_size(messages) > 0;
    for (size_t i = 0; ok && i < json_array_size(messages); i++) {
        const json_t *message = json_array_get(messages, i);
        const json_t *role = json_object_get(message, "role");
        const json_t *content = json_object_get(message, "content");
        bool own = json_is_string(role) && !strcmp(json_string_value(role), "assistant");
        ok = json_is_string(role) && json_is_string(content) &&
             add_text(r, content, own ? 0 : NN_MASKED);
    }
    return ok;
}

static bool add_row(RowReader *r, const json_t *row)
{
    const json_t *messages = json_object_get(row, "messages");
    const json_t *text = json_object_get(row, "text"), *prompt = json_object_get(row, "prompt");
    const json_t *completion = json_object_get(row, "completion");
    bool ok = messages ? add_messages(r, messages)
              : text   ? add_text(r, text, 0)
                       : prompt && completion && add_text(r, prompt, NN_MASKED) &&
                           add_text(r, completion, 0);
    if (ok && r->has_end)
        vec_push(r->arena, &r->tokens, r->end);
    return ok;
}

static bool read_lines(Arena *arena, const char *path, Str text, const Bpe *bpe, NnData *data,
                       Diag *diag)
{
    RowReader r = {.arena = arena, .bpe = bpe};
    r.has_end = bpe_special(bpe, STR("<|endoftext|>"), &r.end);
    Str line;
    for (uint64_t number = 1; str_next(&text, '\n', &line); number++) {
        json_error_t error;
        if (!str_trim(line).len)
            continue;
        json_t *row = json_loadb(line.at, line.len, 0, &error);
        bool ok = row && add_row(&r, row);
        bool parsed = row != NULL;
        json_decref(row);
        if (!ok)
            return fail_data(
                diag, path, number,
                parsed ? "a row has \"text\", \"messages\", or \"prompt\" and \"completion\""
                       : error.text);
    }
    *data = (NnData){r.tokens.at, r.tokens.len};
    return true;
}

bool nn_data_read(Arena *arena, const char *path, const Bpe *bpe, NnData *data, Diag *diag)
{
    Str text;
    if (!file_read(arena, path, (size_t)16 << 30, &text, diag))
        return false;
    *data = (NnData){0};
    if (!str_ends(str_from(path), ".jsonl"))
        return read_packed(arena, path, text, data, diag);
    if (!bpe)
        return fail_data(diag, path, 0,
                         "JSON Lines need a tokenizer: --tokenizer FILE; the shipped one is "
                         "weights/tokenizer.json");
    return read_lines(arena, path, text, bpe, data, diag);
}

bool nn_data_write(const char *path, const NnData *data, uint32_t vocab, Diag *diag)
{
    uint32_t bytes = vocab <= 0x8000 ? 2 : 4;
    Buf out = {0};
    buf_add(&out, magic, sizeof magic);
    const uint32_t header[2] = {bytes, vocab};
    for (int i = 0; i < 8; i++)
        buf_char(&out, (char)(header[i / 4] >> i % 4 * 8 & 0xFF));
    for (uint64_t i = 0; i < data->count; i++) {
        uint32_t token = data->tokens[i], plain = token & ~(uint32_t)NN_MASKED;
        if (bytes == 2 && token & NN_MASKED)
            plain |= 0x8000;
        else if (token & NN_MASKED)
            plain = token;
        for (uint32_t k = 0; k < bytes; k++)
            buf_char(&out, (char)(plain >> 8 * k & 0xFF));
    }
    bool ok = file_write(path, buf_view(&out), diag);
    buf_free(&out);
    return ok;
}
