/* Is a drawn task one of a suite, or near one? In: the suites' files. Out: yes by its graph, yes by its
 * words, no. */
#include "rows/rows_int.h"

#include "base/file.h"
#include "base/hash.h"
#include <ctype.h>
#include <string.h>

enum { GRAM = 13 };

/* ---- graphs without sizes ---- */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The normal form with "f32[16,1000]" as "T2", without attributes that hold sizes. */
static Str sizeless(Arena *arena, const Graph *graph)
{
    Buf all = {0}, out = {0};
    graph_print(graph_normal(arena, graph_plain(arena, graph, true)), &all);
    for (size_t i = 0; i < all.len; i++) {
        size_t word = i;
        bool starts = i == 0 || !is_word(all.at[i - 1]);
        while (starts && word < all.len && is_word(all.at[word]))
            word++;
        Str name = {all.at + i, word - i};
        DType dtype;
        size_t close = word;
        while (close < all.len && all.at[close] != ']' && all.at[close] != '\n')
            close++;
        bool type = starts && word < all.len && all.at[word] == '[' &&
                    dtype_from_name(name, &dtype);
        bool size = starts && word < all.len && all.at[word] == '=' &&
                    (str_is(name, "shape") || str_is(name, "start") || str_is(name, "end"));
        if (type) {
            int rank = close > word + 1;
            for (size_t k = word; k < close; k++)
                rank += all.at[k] == ',';
            buf_printf(&out, "T%d", rank);
            i = close;
        } else if (size) {
            while (word < all.len && !strchr("}\n", all.at[word]) &&
                   !(all.at[word] == ',' && all.at[word + 1] == ' '))
                word++;
            i = word - 1;
        } else {
            buf_char(&out, all.at[i]);
        }
    }
    Str text = str_from(buf_take(&out, arena));
    ptrdiff_t source = str_find(text, STR("\nsource"));
    buf_free(&all);
    buf_free(&out);
    return source < 0 ? text : str_slice(text, 0, (size_t)source);
}

/* ---- words ---- */

static Str next_token(Str *rest)
{
    while (rest->len && isspace((unsigned char)rest->at[0]))
        *rest = str_slice(*rest, 1, rest->len);
    size_t n = rest->len ? 1 : 0;
    while (n && n < rest->len && is_word(rest->at[0]) && is_word(rest->at[n]))
        n++;
    Str token = str_slice(*rest, 0, n);
    *rest = str_slice(*rest, n, rest->len);
    return token;
}

typedef bool GramSeen(void *context, Str gram);

/* Every run of 13 tokens, one blank between them; false: `seen` stopped it. */
static bool walk_grams(Arena *arena, Str text, GramSeen *seen, void *context)
{
    VEC(Str) tokens = {0};
    for (Str token = next_token(&text); token.len; token = next_token(&text))
        vec_push(arena, &tokens, token);
    for (uint32_t i = 0; i + GRAM <= tokens.len; i++) {
        Buf gram = {0};
        for (uint32_t k = 0; k < GRAM; k++)
            buf_printf(&gram, "%.*s ", STR_ARG(tokens.at[i + k]));
        Str hash = str_from(
            str_format(arena, "%016llx", (unsigned long long)hash64(gram.at, gram.len)));
        buf_free(&gram);
        if (!seen(context, hash))
            return false;
    }
    return true;
}

/* What forward does: imports, class and inputs are in every file. */
static Str forward_body(Str file)
{
    ptrdiff_t at = str_find(file, STR("def forward"));
    Str rest = at < 0 ? (Str){0} : str_slice(file, (size_t)at, file.len);
    ptrdiff_t colon = str_find(rest, STR(":\n"));
    rest = colon < 0 ? rest : str_slice(rest, (size_t)colon + 2, rest.len);
    ptrdiff_t end = str_find(rest, STR("\ndef "));
    return end < 0 ? rest : str_slice(rest, 0, (size_t)end);
}

static bool add_gram(void *context, Str gram)
{
    RowsSuites *suites = context;
    map_put(&suites->arena, &suites->grams, gram, 1);
    return true;
}

static bool is_new(void *context, Str gram)
{
    uint32_t found;
    return !map_get(&((const RowsSuites *)context)->grams, gram, &found);
}

/* ---- suites ---- */

void rows_suites_add(RowsSuites *suites, const char *dir)
{
    Arena *arena = &suites->arena;
    NameList paths = {0};
    Diag quiet = diag_make(arena, dir, STR(""));
    if (!torch_suite(arena, dir, &paths, &quiet))
        return;
    for (uint32_t i = 0; i < paths.len; i++) {
        Str text;
        TorchOptions options = {.no_data = true};
        Diag own = diag_make(arena, paths.at[i], STR(""));
        suites->files++;
        if (file_read(arena, paths.at[i], 0, &text, &own))
            walk_grams(arena, text, add_gram, suites);
        TorchTask *task = torch_open(arena, paths.at[i], &options, SCALE_TINY, &own);
        if (task)
            map_put(arena, &suites->graphs, sizeless(arena, task->graph), 1);
        else
            suites->unread++;
    }
}

RowsNear rows_near(Arena *arena, const RowsSuites *suites, const RowsTask *task)
{
    uint32_t found;
    if (map_get(&suites->graphs, sizeless(arena, task->read->graph), &found))
        return NEAR_GRAPH;
    RowsSuites *context = (RowsSuites *)(uintptr_t)suites;
    return walk_grams(arena, forward_body(task->model), is_new, context) ? NEAR_NOT : NEAR_WORDS;
}
