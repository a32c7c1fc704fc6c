/* Tokens of the rows. In: rows.jsonl, long.jsonl. Out: tokenizer.json, rows.tokens, and both without what is
 * too long. */
#include "rows/rows_int.h"

#include "base/file.h"
#include "nn/bpe.h"
#include "nn/trainer.h"
#include <string.h>

enum { TRAINED_ON = 6 << 20 }; /* bytes of text a tokenizer is trained on */

/* One escaped character of a JSON string that buf_json_str wrote. */
static size_t unescape(Str s, size_t at, Buf *out)
{
    static const char names[] = "nrtbf", bytes[] = "\n\r\t\b\f";
    char c = s.at[at + 1];
    const char *k = memchr(names, c, 5);
    unsigned code = 0;
    if (c == 'u') {
        for (size_t i = at + 2; i < at + 6 && i < s.len; i++) {
            char d = s.at[i];
            code = code * 16 + (unsigned)(d <= '9' ? d - '0' : (d | 32) - 'a' + 10);
        }
        buf_char(out, (char)code); /* control characters alone are written so */
        return 6;
    }
    buf_char(out, k ? bytes[k - names] : c);
    return 2;
}

/* The contents of the messages of a row, one behind the other. */
static void put_contents(Str line, Buf *out)
{
    static const char mark[] = "\"content\": \"";
    for (ptrdiff_t at = str_find(line, str_from(mark)); at >= 0;
         at = str_find(line, str_from(mark))) {
        line = str_slice(line, (size_t)at + sizeof mark - 1, line.len);
        size_t i = 0;
        while (i + 1 < line.len && line.at[i] != '"')
            if (line.at[i] == '\\')
                i += unescape(line, i, out);
            else
                buf_char(out, line.at[i++]);
        line = str_slice(line, i, line.len);
    }
}

static Bpe *train_tokenizer(const RowsSpec *spec, Str rows, Str longer, const char *path,
                            Diag *diag)
{
    static const char *const specials[] = {"<|endoftext|>"};
    Buf text = {0}, json = {0};
    Str rest = rows, line;
    while (text.len < TRAINED_ON && str_next(&rest, '\n', &line))
        put_contents(line, &text);
    while (text.len < TRAINED_ON && str_next(&longer, '\n', &line))
        put_contents(line, &text);
    Str all = buf_view(&text);
    BpeTraining training = {&all, 1, specials, 1, spec->vocab};
    Bpe *bpe = bpe_train(&training, diag);
    if (bpe)
        bpe_print(bpe, &json);
    if (bpe && !file_write(path, buf_view(&json), diag)) {
        bpe_close(bpe);
        bpe = NULL;
    }
    buf_free(&text);
    buf_free(&json);
    return bpe;
}

/* The file without rows of too many tokens. */
static bool drop_long(const Bpe *bpe, Str rows, size_t most, const char *path, RowsCounts *counts,
                      Diag *diag)
{
    Buf kept = {0};
    uint64_t before = counts->over;
    Str rest = rows, line;
    while (str_next(&rest, '\n', &line)) {
        Arena scratch = {0};
        Buf text = {0};
        TokenList ids = {0};
        put_contents(line, &text);
        bpe_encode(bpe, &scratch, buf_view(&text), false, &ids);
        if (ids.len + 1 > most)
            counts->over++;
        else if (line.len)
            buf_printf(&kept, "%.*s\n", STR_ARG(line));
        buf_free(&text);
        arena_drop(&scratch);
    }
    bool ok = counts->over == before || file_write(path, buf_view(&kept), diag);
    buf_free(&kept);
    return ok;
}

bool rows_pack(Arena *arena, const RowsSpec *spec, RowsCounts *counts, Diag *diag)
{
    const char *path = path_join(arena, spec->dir, "rows.jsonl");
    const char *long_path = path_join(arena, spec->dir, "long.jsonl");
    Str rows, longer;
    NnData data;
    if (!file_read(arena, path, 0, &rows, diag) || !file_read(arena, long_path, 0, &longer, diag))
        return false;
    Bpe *bpe = spec->tokenizer
                   ? bpe_open(spec->tokenizer, diag)
                   : train_tokenizer(spec, rows, longer,
                                     path_join(arena, spec->dir, "tokenizer.json"), diag);
    bool ok = bpe && drop_long(bpe, rows, ROWS_TOKENS, path, counts, diag) &&
              drop_long(bpe, longer, ROWS_LONG_TOKENS, long_path, counts, diag) &&
              nn_data_read(arena, path, bpe, &data, diag) &&
              nn_data_write(path_join(arena, spec->dir, "rows.tokens"), &data, bpe_size(bpe), diag);
    if (ok)
        counts->tokens = data.count;
    bpe_close(bpe);
    return ok;
}
