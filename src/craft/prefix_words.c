/* The words of the recogniser: those of the language once, names as they come into scope. */
#include "craft/prefix_int.h"

#include "base/dtype.h"
#include "craft/fn.h"
#include <string.h>

static uint32_t place_of(const CraftPrefix *p, Str text)
{
    uint32_t lo = 0, hi = p->words.len;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (str_compare(p->words.at[mid].text, text) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

PrefixWord *prefix_words_find(CraftPrefix *p, Str text)
{
    uint32_t at = place_of(p, text);
    return at < p->words.len && str_equal(p->words.at[at].text, text) ? &p->words.at[at] : NULL;
}

static PrefixWord *add_word(CraftPrefix *p, Str text)
{
    PrefixWord *found = prefix_words_find(p, text);
    if (found)
        return found;
    uint32_t at = place_of(p, text);
    vec_push(&p->fixed, &p->words, (PrefixWord){0});
    memmove(p->words.at + at + 1, p->words.at + at, (p->words.len - 1 - at) * sizeof *p->words.at);
    p->words.at[at] = (PrefixWord){.text = text, .tok = TOK_NAME};
    return &p->words.at[at];
}

void prefix_words_add(CraftPrefix *p, Str text, uint64_t classes)
{
    PrefixWord *found = prefix_words_find(p, text);
    if (!found)
        found = add_word(p, str_copy(&p->names, text));
    found->classes |= classes;
}

void prefix_words_drop(CraftPrefix *p, uint64_t classes, bool locals_only)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->words.len; i++) {
        PrefixWord w = p->words.at[i];
        if (!locals_only || w.classes & W_LOCAL)
            w.classes &= ~(classes | W_LOCAL);
        if (w.classes)
            p->words.at[kept++] = w;
    }
    p->words.len = kept;
}

static uint64_t class_of(FnKind kind)
{
    switch (kind) {
    case FN_STMT: return W_STMT;
    case FN_COMPACT: return W_COMPACT;
    case FN_BUFFER: return W_BUFFER;
    case FN_LOOP: return W_LOOP;
    case FN_SHARE: return W_SHARE;
    case FN_HOST: return W_HOST;
    case FN_FILE: return W_FILE;
    case FN_STAGE: return W_STAGE;
    default: return W_VALUE;
    }
}

static const struct {
    const char *text;
    uint64_t classes;
} fixed[] = {
    {"inf", W_CONST},       {"nan", W_CONST},    {"chip", W_CHIP},     {"craft", W_CRAFT},
    {"gm", W_TYPE},         {"out", W_TYPE},     {"inout", W_TYPE},    {"opt", W_TYPE},
    {"ws", W_TYPE},         {"gm_list", W_TYPE}, {"out_list", W_TYPE}, {"start", W_RANGE},
    {"size", W_RANGE},      {"stop", W_RANGE},   {"index", W_RANGE},   {"cores", W_FACT},
    {"cube_cores", W_FACT}, {"ub", W_FACT},      {"l1", W_FACT},       {"l0a", W_FACT},
    {"l0b", W_FACT},        {"l0c", W_FACT},     {"l2", W_FACT},       {"depth", W_KEY},
    {"of", W_KEY},          {"pad", W_KEY},      {"init", W_KEY},      {"host", W_DECOR},
    {"kernel", W_DECOR},    {"and", W_AND},      {"or", W_AND},        {"not", W_NOT},
    {"if", W_IF},           {"else", W_ELSE},    {"in", W_IN},         {"for", W_FOR},
    {"with", W_WITH},       {"def", W_DEF},      {"pass", W_PASS},     {"return", W_RETURN},
    {"assert", W_ASSERT},   {"elif", W_ELIF},    {"True", W_CONST},    {"False", W_CONST},
};

void prefix_words_fixed(CraftPrefix *p)
{
    for (Tok k = TOK_AND; k <= TOK_YIELD; k++) {
        PrefixWord *w = add_word(p, str_from(craft_tok_names[k]));
        w->classes = W_KEYWORD;
        w->tok = k;
    }
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        add_word(p, str_from(fixed[i].text))->classes |= fixed[i].classes;
    for (DType d = 0; d < DT_COUNT; d++)
        add_word(p, str_from(dtype_name(d)))->classes |= W_DTYPE;
    for (uint32_t i = 0; i < craft_fn_count; i++) {
        PrefixWord *w = add_word(p, str_from(craft_fns[i].name));
        w->classes |= class_of(craft_fns[i].kind);
        w->fn = (uint16_t)(i + 1);
    }
}
