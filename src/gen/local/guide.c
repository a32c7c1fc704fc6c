/* The guide of guide.h. */
#include "gen/local/guide_int.h"

#include "craft/craft.h"
#include <math.h>
#include <string.h>

enum {
    LINE_TRIES = 8,
    NEAR = 4,
    LONGEST_LINE = 320 /* tokens: above that a model repeats itself */
};

/* A token that was taken, and the best other one that might have been. */
typedef struct Taken {
    uint32_t token, other; /* UINT32_MAX: no other */
    float lead;            /* how far its logit is above the other's */
} Taken;

typedef struct Slot {
    CraftPrefix *prefix;
    Walk walk;
    VEC(Taken) taken;
    Buf program;         /* as far as accepted */
    uint32_t line;       /* tokens before the line at hand */
    uint32_t tries;      /* of it, that were wrong */
    VEC(Taken) first;    /* the line as it was first, from `line` on */
    VEC(uint32_t) force; /* tokens to take next */
    uint32_t forced;     /* of them, taken */
    bool given_up;       /* a line stays wrong: no further line is looked at */
} Slot;

struct Guide {
    Arena arena;
    GuideSpec spec;
    GuideJob job;
    TokenTree tree;
    Slot *slots;
    Walk *walks; /* by depth, of the tree's walk */
    uint64_t *mask;
    NnGuide nn;
};

/* ---- tokens that may come ---- */

bool guide_allows(Guide *g, uint32_t slot, uint32_t token)
{
    Slot *s = &g->slots[slot];
    Walk walk = s->walk;
    Str text = token < bpe_size(g->spec.bpe) ? bpe_token(g->spec.bpe, token) : (Str){0};
    if (token == g->spec.end)
        return walk.mode == WALK_DONE;
    craft_prefix_forget_tries(s->prefix);
    for (size_t i = 0; i < text.len; i++)
        if (!walk_step(s->prefix, &walk, text.at[i], i == 0))
            return false;
    return text.len > 0;
}

const uint64_t *guide_mask(Guide *g, uint32_t slot)
{
    Slot *s = &g->slots[slot];
    memset(g->mask, 0, (g->spec.vocab + 63) / 64 * sizeof *g->mask);
    craft_prefix_forget_tries(s->prefix);
    g->walks[0] = s->walk;
    for (uint32_t i = 0; i < g->tree.nodes.len;) {
        const TokenNode *n = &g->tree.nodes.at[i];
        Walk *walk = &g->walks[n->depth];
        *walk = g->walks[n->depth - 1];
        if (!walk_step(s->prefix, walk, n->byte, n->depth == 1)) {
            i = n->end;
            continue;
        }
        if (n->token != UINT32_MAX && n->token != g->spec.end)
            g->mask[n->token / 64] |= UINT64_C(1) << n->token % 64;
        i++;
    }
    if (s->walk.mode == WALK_DONE)
        g->mask[g->spec.end / 64] |= UINT64_C(1) << g->spec.end % 64;
    return g->mask;
}

bool guide_take(Guide *g, uint32_t slot, uint32_t token)
{
    Slot *s = &g->slots[slot];
    if (!guide_allows(g, slot, token))
        return false;
    Str text = bpe_token(g->spec.bpe, token);
    craft_prefix_forget_tries(s->prefix);
    for (size_t i = 0; token != g->spec.end && i < text.len; i++) {
        bool fence = text.at[i] == '`' && craft_prefix_at_line(s->prefix);
        if (s->walk.mode != WALK_CRAFT || fence) {
            walk_step(s->prefix, &s->walk, text.at[i], true);
            continue;
        }
        craft_prefix_accept(s->prefix, str_slice(text, i, i + 1));
        s->walk.of.point = craft_prefix_point(s->prefix);
        buf_char(&s->program, text.at[i]);
    }
    return true;
}

/* ---- drawing ---- */

static uint32_t draw(Guide *g, uint32_t slot, uint32_t index, const float *logits)
{
    const GuideJob *job = &g->job;
    bool whole = job->sampling.top_k || (job->sampling.top_p > 0 && job->sampling.top_p < 1);
    uint64_t stream = slot + 1000 * (uint64_t)g->slots[slot].tries;
    uint32_t token = UINT32_MAX;
    if (!whole) {
        token = nn_sample(logits, g->spec.vocab, &job->sampling, NULL, job->seed, stream, index);
        if (token != UINT32_MAX && guide_allows(g, slot, token))
            return token;
    }
    return nn_sample(logits, g->spec.vocab, &job->sampling, guide_mask(g, slot), job->seed + 1,
                     stream, index);
}

/* The best of the few most likely other tokens that may come. */
static Taken with_other(Guide *g, uint32_t slot, uint32_t token, const float *logits)
{
    Taken t = {token, UINT32_MAX, INFINITY};
    uint32_t best[NEAR], count = 0;
    for (uint32_t i = 0; i < g->spec.vocab; i++) {
        if (i == token || (count == NEAR && !(logits[i] > logits[best[NEAR - 1]])))
            continue;
        uint32_t k = count < NEAR ? count++ : NEAR - 1;
        for (; k && logits[best[k - 1]] < logits[i]; k--)
            best[k] = best[k - 1];
        best[k] = i;
    }
    for (uint32_t i = 0; i < count; i++)
        if (guide_allows(g, slot, best[i])) {
            t.other = best[i];
            t.lead = logits[token] - logits[best[i]];
            break;
        }
    return t;
}

/* ---- lines ---- */

static bool ends_line(const Slot *s)
{
    return s->walk.mode == WALK_CRAFT && craft_prefix_at_line(s->prefix);
}

static bool line_is_right(const Slot *s)
{
    Arena arena = {0};
    Str text = buf_view(&s->program);
    Diag diag = diag_make(&arena, "beginning", text);
    bool ok = craft_check_beginning(&arena, text, &diag);
    arena_drop(&arena);
    return ok;
}

static void restart(Slot *s)
{
    craft_prefix_reset(s->prefix);
    s->walk = walk_start();
    s->program.len = 0;
}

/* Back to the first `keep` tokens. */
static void take_back(Guide *g, uint32_t slot, uint32_t keep)
{
    Slot *s = &g->slots[slot];
    restart(s);
    s->taken.len = keep;
    for (uint32_t i = 0; i < keep; i++)
        guide_take(g, slot, s->taken.at[i].token);
}

static NnNext accept_token(Guide *g, uint32_t slot, Taken t)
{
    Slot *s = &g->slots[slot];
    uint32_t keep = s->taken.len;
    if (!guide_take(g, slot, t.token))
        return (NnNext){keep, t.token, true};
    vec_push(&g->arena, &s->taken, t);
    return (NnNext){keep, t.token, t.token == g->spec.end};
}

/* The place of the first try at which the model was least sure and that was not changed yet. */
static uint32_t least_sure(const Slot *s)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < s->first.len; i++)
        if (s->first.at[i].other != UINT32_MAX &&
            (best == UINT32_MAX || s->first.at[i].lead < s->first.at[best].lead))
            best = i;
    return best;
}

static NnNext restore_first(Guide *g, uint32_t slot)
{
    Slot *s = &g->slots[slot];
    s->given_up = true;
    s->force.len = s->forced = 0;
    for (uint32_t i = 1; i < s->first.len; i++)
        vec_push(&g->arena, &s->force, s->first.at[i].token);
    take_back(g, slot, s->line);
    return accept_token(g, slot, s->first.at[0]);
}

static NnNext after_token(Guide *g, uint32_t slot, NnNext next);

/* The line that just ended is wrong. */
static NnNext draw_line_again(Guide *g, uint32_t slot)
{
    Slot *s = &g->slots[slot];
    if (!s->tries++) {
        s->first.len = 0;
        for (uint32_t i = s->line; i < s->taken.len; i++)
            vec_push(&g->arena, &s->first, s->taken.at[i]);
    }
    uint32_t place = s->tries > LINE_TRIES ? UINT32_MAX : least_sure(s);
    if (place == UINT32_MAX)
        return restore_first(g, slot);
    Taken changed = {s->first.at[place].other, UINT32_MAX, INFINITY};
    s->first.at[place].other = UINT32_MAX;
    take_back(g, slot, s->line);
    for (uint32_t i = 0; i < place; i++)
        accept_token(g, slot, s->first.at[i]);
    return after_token(g, slot, accept_token(g, slot, changed));
}

static NnNext after_token(Guide *g, uint32_t slot, NnNext next)
{
    Slot *s = &g->slots[slot];
    if (g->job.level < GUIDE_LINES || s->given_up || next.stop)
        return next;
    if (s->taken.len - s->line > LONGEST_LINE)
        return draw_line_again(g, slot);
    if (!ends_line(s))
        return next;
    if (!line_is_right(s))
        return draw_line_again(g, slot);
    s->line = s->taken.len;
    s->tries = 0;
    return next;
}

static NnNext next_token(void *context, uint32_t slot, const NnSample *sample, const float *logits)
{
    Guide *g = context;
    Slot *s = &g->slots[slot];
    if (s->forced < s->force.len)
        return accept_token(g, slot, (Taken){s->force.at[s->forced++], UINT32_MAX, 0});
    uint32_t token = draw(g, slot, sample->count, logits);
    if (token == UINT32_MAX)
        return (NnNext){sample->count, 0, true};
    Taken t = {token, UINT32_MAX, INFINITY};
    if (g->job.level >= GUIDE_LINES && !s->given_up)
        t = with_other(g, slot, token, logits);
    return after_token(g, slot, accept_token(g, slot, t));
}

/* ---- the whole ---- */

Guide *guide_open(const GuideSpec *spec)
{
    Guide *g = heap_alloc(sizeof *g);
    g->spec = *spec;
    g->tree = token_tree(&g->arena, spec->bpe);
    g->walks = arena_array(&g->arena, Walk, g->tree.deepest + 1);
    g->mask = arena_array(&g->arena, uint64_t, (spec->vocab + 63) / 64);
    g->slots = arena_array(&g->arena, Slot, spec->slots);
    for (uint32_t i = 0; i < spec->slots; i++)
        g->slots[i].prefix = craft_prefix_open();
    g->nn = (NnGuide){g, next_token};
    return g;
}

void guide_close(Guide *g)
{
    if (!g)
        return;
    for (uint32_t i = 0; i < g->spec.slots; i++) {
        craft_prefix_close(g->slots[i].prefix);
        buf_free(&g->slots[i].program);
    }
    arena_drop(&g->arena);
    heap_free(g);
}

const NnGuide *guide_begin(Guide *g, const GuideJob *job)
{
    g->job = *job;
    for (uint32_t i = 0; i < g->spec.slots; i++) {
        Slot *s = &g->slots[i];
        restart(s);
        s->taken.len = s->first.len = s->force.len = s->forced = s->line = s->tries = 0;
        s->given_up = false;
    }
    return &g->nn;
}
