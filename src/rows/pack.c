/* Tokens of the rows. In: rows.jsonl, twins.jsonl, long.jsonl. Out: tokenizer.json, rows.tokens, and the files
 * without what is too long; twins that are go to long.jsonl. */
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

/* The file without rows of too many tokens, which go to `longer`; NULL: they are dropped. */
static bool take_out_long(const Bpe *bpe, Str rows, size_t most, const char *path, Buf *longer,
                          RowsCounts *counts, Diag *diag)
{
    Buf kept = {0};
    bool changed = false;
    Str rest = rows, line;
    while (str_next(&rest, '\n', &line)) {
        Arena scratch = {0};
        Buf text = {0};
        TokenList ids = {0};
        put_contents(line, &text);
        bpe_encode(bpe, &scratch, buf_view(&text), false, &ids);
        bool over = ids.len + 1 > most;
        counts->over += over && !longer;
        changed = changed || over;
        if (line.len && (!over || longer))
            buf_printf(over ? longer : &kept, "%.*s\n", STR_ARG(line));
        buf_free(&text);
        arena_drop(&scratch);
    }
    bool ok = !changed || file_write(path, buf_view(&kept), diag);
    buf_free(&kept);
    return ok;
}

bool rows_pack(Arena *arena, const RowsSpec *spec, RowsCounts *counts, Diag *diag)
{
    const char *path = path_join(arena, spec->dir, "rows.jsonl");
    const char *long_path = path_join(arena, spec->dir, "long.jsonl");
    const char *twins_path = path_join(arena, spec->dir, "twins.jsonl");
    Str rows, longer, twins;
    NnData data;
    if (!file_read(arena, path, 0, &rows, diag) || !file_read(arena, long_path, 0, &longer, diag) ||
        !file_read(arena, twins_path, 0, &twins, diag))
        return false;
    Bpe *bpe = spec->tokenizer
                   ? bpe_open(spec->tokenizer, diag)
                   : train_tokenizer(spec, rows, longer,
                                     path_join(arena, spec->dir, "tokenizer.json"), diag);
    Buf all_long = {0};
    buf_str(&all_long, longer);
    bool ok = bpe && take_out_long(bpe, rows, ROWS_TOKENS, path, NULL, counts, diag) &&
              take_out_long(bpe, twins, ROWS_TOKENS, twins_path, &all_long, counts, diag) &&
              file_write(long_path, buf_view(&all_long), diag) &&
              take_out_long(bpe, buf_view(&all_long), ROWS_LONG_TOKENS, long_path, NULL, counts,
                            diag) &&
              nn_data_read(arena, path, bpe, &data, diag) &&
              nn_data_write(path_join(arena, spec->dir, "rows.tokens"), &data, bpe_size(bpe), diag);
    if (ok)
        counts->tokens = data.count;
    buf_free(&all_long);
    bpe_close(bpe);
    return ok;
}
