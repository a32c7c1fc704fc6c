/* Tokens of the rows. In: rows.jsonl, twins.jsonl, long.jsonl of a run's directory. Out, in its folder packed/:
 * tokenizer.json, rows.tokens, and these files without what is too long; kernels in AscendC that are go to long.jsonl.
 * Files are read line by line: 100,000 rows with their twins have some 2 GB. */
#include "rows/rows_int.h"

#include "base/file.h"
#include "nn/bpe.h"
#include "nn/trainer.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

static bool fail_packing(Diag *diag, const char *path)
{
    diag_error(diag, "R001", (Span){0}, "%s: %s", path, errno ? strerror(errno) : "a write failed");
    return false;
}

/* False: the end of the file. */
static bool read_row(FILE *in, char **line, size_t *room, Str *row)
{
    ssize_t n = getline(line, room, in);
    *row = (Str){*line, n > 0 ? (size_t)n : 0};
    if (row->len && row->at[row->len - 1] == '\n')
        row->len--;
    return n > 0;
}

/* Text of the file's first rows. */
static bool take_text(const char *path, Buf *text, Diag *diag)
{
    FILE *in = fopen(path, "rb");
    char *line = NULL;
    size_t room = 0;
    Str row;
    while (in && text->len < TRAINED_ON && read_row(in, &line, &room, &row))
        put_contents(row, text);
    bool ok = in && !ferror(in);
    if (!ok)
        fail_packing(diag, path);
    if (in)
        fclose(in);
    free(line);
    return ok;
}

static Bpe *train_tokenizer(Arena *arena, const RowsSpec *spec, const char *to, Diag *diag)
{
    static const char *const specials[] = {"<|endoftext|>"};
    Buf text = {0}, json = {0};
    if (!take_text(path_join(arena, spec->dir, "rows.jsonl"), &text, diag) ||
        !take_text(path_join(arena, spec->dir, "long.jsonl"), &text, diag)) {
        buf_free(&text);
        return NULL;
    }
    Str all = buf_view(&text);
    BpeTraining training = {&all, 1, specials, 1, spec->vocab};
    Bpe *bpe = bpe_train(&training, diag);
    if (bpe)
        bpe_print(bpe, &json);
    if (bpe && !file_write(path_join(arena, to, "tokenizer.json"), buf_view(&json), diag)) {
        bpe_close(bpe);
        bpe = NULL;
    }
    buf_free(&text);
    buf_free(&json);
    return bpe;
}

static size_t count_tokens(const Bpe *bpe, Str row)
{
    Arena scratch = {0};
    Buf text = {0};
    TokenList ids = {0};
    put_contents(row, &text);
    bpe_encode(bpe, &scratch, buf_view(&text), false, &ids);
    buf_free(&text);
    arena_drop(&scratch);
    return ids.len + 1;
}

typedef struct Packing {
    Arena *arena;
    const char *from, *to; /* directories */
    const Bpe *bpe;
    RowsCounts *counts;
    Diag *diag;
} Packing;

/* Rows with kernels in AscendC, whose texts are long. */
static bool is_ascendc(Str row)
{
    static const char mark[] = "\"kind\": \"";
    static const RowsKind kinds[] = {ROWS_ASCENDC, ROWS_MEND, ROWS_FULL, ROWS_MEND_FULL};
    ptrdiff_t at = str_find(row, str_from(mark));
    Str rest = str_slice(row, at < 0 ? row.len : (size_t)at + sizeof mark - 1, row.len), kind;
    bool any = false;
    str_next(&rest, '"', &kind);
    for (int i = 0; i < 4; i++)
        any = any || str_is(kind, rows_kind_name(kinds[i]));
    return any;
}

/* AscendC of more than ROWS_TOKENS tokens goes to `longer`; other rows of more than `most`, and all of more than
 * ROWS_LONG_TOKENS, go nowhere. */
static bool sort_rows(const Packing *p, const char *name, size_t most, FILE *out, FILE *longer,
                      uint64_t *over)
{
    const char *path = path_join(p->arena, p->from, name);
    FILE *in = fopen(path, "rb");
    char *line = NULL;
    size_t room = 0;
    Str row;
    while (in && read_row(in, &line, &room, &row)) {
        size_t tokens = row.len ? count_tokens(p->bpe, row) : 0;
        FILE *to = tokens <= most                                  ? out
                   : tokens <= ROWS_LONG_TOKENS && is_ascendc(row) ? longer
                                                                   : NULL;
        if (to && row.len)
            fprintf(to, "%.*s\n", STR_ARG(row));
        *over += !to;
    }
    bool ok = in && !ferror(in);
    if (!ok)
        fail_packing(p->diag, path);
    if (in)
        fclose(in);
    free(line);
    return ok;
}

static bool end_file(const Packing *p, FILE *file, const char *name)
{
    bool failed = file && ferror(file);
    errno = 0;
    if (file && fclose(file) == 0 && !failed)
        return true;
    return fail_packing(p->diag, path_join(p->arena, p->to, name));
}

static bool sort_files(const Packing *p)
{
    static const char *const names[] = {"rows.jsonl", "twins.jsonl", "long.jsonl"};
    FILE *out[3] = {0};
    bool ok = true;
    for (int i = 0; i < 3; i++) {
        out[i] = fopen(path_join(p->arena, p->to, names[i]), "wb");
        ok = ok && out[i];
    }
    if (!ok)
        fail_packing(p->diag, p->to);
    ok = ok && sort_rows(p, names[0], ROWS_TOKENS, out[0], out[2], &p->counts->over) &&
         sort_rows(p, names[2], ROWS_LONG_TOKENS, out[2], NULL, &p->counts->long_over) &&
         sort_rows(p, names[1], ROWS_TOKENS, out[1], out[2], &p->counts->long_over);
    for (int i = 0; i < 3; i++)
        ok = end_file(p, out[i], names[i]) && ok;
    return ok;
}

bool rows_pack(Arena *arena, const RowsSpec *spec, const char *to, RowsCounts *counts, Diag *diag)
{
    NnData data;
    Packing p = {.arena = arena, .from = spec->dir, .to = to, .counts = counts, .diag = diag};
    Bpe *bpe = spec->tokenizer ? bpe_open(spec->tokenizer, diag)
                               : train_tokenizer(arena, spec, to, diag);
    p.bpe = bpe;
    bool ok = bpe && sort_files(&p) &&
              nn_data_read(arena, path_join(arena, to, "rows.jsonl"), bpe, &data, diag) &&
              nn_data_write(path_join(arena, to, "rows.tokens"), &data, bpe_size(bpe), diag);
    if (ok)
        counts->tokens = data.count;
    bpe_close(bpe);
    return ok;
}
