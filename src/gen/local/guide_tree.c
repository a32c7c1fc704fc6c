/* The walk of an answer, and the tree of a vocabulary's bytes. */
#include "gen/local/guide_int.h"

#include <stdlib.h>
#include <string.h>

Walk walk_start(void) { return (Walk){.mode = WALK_FORM, .of.form = form_start()}; }

static bool fence_step(Walk *walk)
{
    walk->mode = ++walk->ticks == 3 ? WALK_DONE : WALK_FENCE;
    return true;
}

bool walk_step(CraftPrefix *prefix, Walk *walk, char c, bool first)
{
    switch (walk->mode) {
    case WALK_FORM:
        if (!form_step(&walk->of.form, c))
            return false;
        if (form_is_over(&walk->of.form)) {
            walk->mode = WALK_CRAFT;
            walk->of.point = craft_prefix_point(prefix);
        }
        return true;
    case WALK_CRAFT:
        if (c == '`' && first && craft_prefix_at_line(prefix))
            return craft_prefix_may_end(prefix) && fence_step(walk);
        return craft_prefix_try(prefix, &walk->of.point, c);
    case WALK_FENCE: return c == '`' && fence_step(walk);
    default: return c == '\n';
    }
}

/* ---- the tree ---- */

typedef struct Named {
    Str text;
    uint32_t token;
} Named;

static int by_text(const void *a, const void *b)
{
    const Named *x = a, *y = b;
    int order = str_compare(x->text, y->text);
    return order ? order : (x->token > y->token) - (x->token < y->token);
}

static uint32_t common(Str a, Str b)
{
    uint32_t n = 0;
    while (n < a.len && n < b.len && a.at[n] == b.at[n])
        n++;
    return n;
}

TokenTree token_tree(Arena *arena, const Bpe *bpe)
{
    TokenTree tree = {0};
    VEC(Named) all = {0};
    VEC(uint32_t) open = {0}; /* nodes of the token before, by depth */
    for (uint32_t i = 0; i < bpe_size(bpe); i++)
        if (bpe_token(bpe, i).len)
            vec_push(arena, &all, ((Named){bpe_token(bpe, i), i}));
    qsort(all.at, all.len, sizeof *all.at, by_text);
    for (uint32_t i = 0; i < all.len; i++) {
        Str text = all.at[i].text;
        uint32_t shared = i ? common(all.at[i - 1].text, text) : 0;
        for (; open.len > shared; open.len--)
            tree.nodes.at[vec_last(&open)].end = tree.nodes.len;
        for (uint32_t d = shared; d < text.len; d++) {
            TokenNode n = {.token = UINT32_MAX, .depth = (uint16_t)(d + 1), .byte = text.at[d]};
            vec_push(arena, &open, tree.nodes.len);
            vec_push(arena, &tree.nodes, n);
        }
        TokenNode *last = &tree.nodes.at[vec_last(&open)];
        if (last->token == UINT32_MAX)
            last->token = all.at[i].token;
        tree.deepest = text.len > tree.deepest ? (uint32_t)text.len : tree.deepest;
    }
    for (; open.len; open.len--)
        tree.nodes.at[vec_last(&open)].end = tree.nodes.len;
    return tree;
}
