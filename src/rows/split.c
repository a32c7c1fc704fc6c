/* Splits rows in those to learn from and those held out. In: rows.jsonl. Out: four files beside each other.
 *
 *     train.jsonl      what is left
 *     families.jsonl   rows that have a step of a held-out family
 *     longer.jsonl     rows of more operators than those to learn from
 *     unseen.jsonl     a share of the compositions
 *
 * A composition is a question without its numbers and element types: no row to learn from has that of a row of
 * unseen.jsonl, whatever its sizes. */
#include "rows/rows_int.h"

#include "base/file.h"
#include "base/hash.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { PART_TRAIN, PART_FAMILIES, PART_LONGER, PART_UNSEEN, PARTS };
static const char *const part_names[PARTS] = {"train.jsonl", "families.jsonl", "longer.jsonl",
                                              "unseen.jsonl"};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

uint64_t rows_composition(Str question)
{
    Buf out = {0};
    for (size_t i = 0; i < question.len; i++) {
        Str rest = str_slice(question, i, question.len);
        if (str_starts(rest, "assert "))
            break;
        if (str_starts(rest, "bf16[") || str_starts(rest, "f16[") || str_starts(rest, "f32["))
            i += str_starts(rest, "bf16[") ? 3 : 2;
        else if (!is_digit(question.at[i]))
            buf_char(&out, question.at[i]);
        else if (i && question.at[i - 1] == '%') /* the number of a value */
            for (; i < question.len && is_digit(question.at[i]); i++)
                buf_char(&out, question.at[i]);
    }
    uint64_t hash = hash64(out.at, out.len);
    buf_free(&out);
    return hash;
}

static bool has_family(const json_t *row, Str held_out)
{
    const json_t *families = json_object_get(row, "families");
    for (size_t i = 0; i < json_array_size(families); i++) {
        const char *name = json_string_value(json_array_get(families, i));
        Str rest = held_out, one;
        while (name && str_next(&rest, ',', &one))
            if (str_is(one, name))
                return true;
    }
    return false;
}

static int part_of(const RowsSplitSpec *spec, const json_t *row)
{
    const json_t *first = json_array_get(json_object_get(row, "messages"), 0);
    const char *question = json_string_value(json_object_get(first, "content"));
    json_int_t operators = json_integer_value(json_object_get(row, "operators"));
    if (has_family(row, str_from(spec->families ? spec->families : "")))
        return PART_FAMILIES;
    if (spec->operators && operators > spec->operators)
        return PART_LONGER;
    return question && rows_composition(str_from(question)) % 1000 < spec->share ? PART_UNSEEN
                                                                                 : PART_TRAIN;
}

bool rows_split(Arena *arena, const RowsSplitSpec *spec, uint64_t counts[4], Diag *diag)
{
    Str rest, line;
    FILE *out[PARTS] = {0};
    bool ok = file_read(arena, spec->rows, (size_t)16 << 30, &rest, diag) &&
              file_make_dirs(spec->dir, diag);
    for (int i = 0; ok && i < PARTS; i++) {
        out[i] = fopen(path_join(arena, spec->dir, part_names[i]), "wb");
        counts[i] = 0;
        ok = out[i] != NULL;
        if (!ok)
            diag_error(diag, "R001", (Span){0}, "%s: %s cannot be written", spec->dir,
                       part_names[i]);
    }
    for (uint32_t number = 1; ok && str_next(&rest, '\n', &line); number++) {
        json_t *row = json_loadb(line.at, line.len, 0, NULL);
        if (row) {
            int part = part_of(spec, row);
            counts[part]++;
            fprintf(out[part], "%.*s\n", STR_ARG(line));
        } else if (line.len) {
            diag_error(diag, "N005", (Span){0}, "%s:%u: no JSON", spec->rows, number);
            ok = false;
        }
        json_decref(row);
    }
    for (int i = 0; i < PARTS; i++)
        if (out[i] && fclose(out[i]))
            ok = false;
    return ok;
}
