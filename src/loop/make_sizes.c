/* Sizes of cases; see make_sizes.h. In: a model file's integers. Out: what to set them to. */
#include "loop/make_sizes.h"

#include "base/rng.h"
#include <math.h>
#include <string.h>

enum { SMALL_MOST = 128, FUZZ_MOST = 4096, RANGE_STREAM = 71, LARGE = 8 };

bool sizes_range(Arena *arena, Str text, MakeRange *range)
{
    ptrdiff_t equal = str_find(text, STR("=")), dots = str_find(text, STR(".."));
    if (equal <= 0 || dots < equal)
        return false;
    range->name = str_dup(arena, str_slice(text, 0, (size_t)equal));
    return str_to_i64(str_slice(text, (size_t)equal + 1, (size_t)dots), &range->lo) &&
           str_to_i64(str_slice(text, (size_t)dots + 2, text.len), &range->hi) && range->lo >= 1 &&
           range->lo <= range->hi;
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi) { return v < lo ? lo : v > hi ? hi : v; }

static int64_t own_value(const TorchTask *task, const char *name, int64_t otherwise)
{
    for (uint32_t i = 0; task && i < task->knobs.len; i++)
        if (!strcmp(task->knobs.at[i].name, name))
            return task->knobs.at[i].value;
    return otherwise;
}

static int64_t log_uniform(uint64_t seed, uint32_t stream, int64_t lo, int64_t hi)
{
    double u = rng_uniform(seed, RANGE_STREAM, stream);
    return clamp((int64_t)llround((double)lo * pow((double)hi / (double)lo, u)), lo, hi);
}

static int64_t drawn(const MakeRange *r, uint64_t seed, uint32_t stream, uint32_t draw)
{
    int64_t most = clamp(FUZZ_MOST, r->lo, r->hi);
    return draw == 0 ? r->lo : draw == 1 ? most : log_uniform(seed, stream, r->lo, most);
}

void sizes_in_ranges(Arena *arena, const MakeRanges *ranges, const TorchTask *own, TorchScale scale,
                     uint64_t seed, uint32_t draw, TorchOptions *options)
{
    TorchSet *sets = arena_array(arena, TorchSet, ranges->len + 1);
    for (uint32_t i = 0; i < ranges->len; i++) {
        const MakeRange *r = &ranges->at[i];
        int64_t value = own_value(own, r->name, r->hi);
        sets[i] = (TorchSet){r->name, clamp(value, r->lo, r->hi)};
        if (scale == SCALE_SMALL || scale == SCALE_TINY)
            sets[i].value = clamp(value < SMALL_MOST ? value : SMALL_MOST, r->lo, r->hi);
        if (scale == SCALE_FUZZ)
            sets[i].value = drawn(r, seed, i, draw);
    }
    options->sets = sets;
    options->n_sets = ranges->len;
}

void sizes_single(Arena *arena, const TorchTask *own, uint32_t which, TorchOptions *options)
{
    TorchSet *sets = arena_array(arena, TorchSet, options->n_sets + 1);
    for (uint32_t i = 0; i < options->n_sets; i++)
        sets[i] = options->sets[i];
    for (uint32_t i = 0; i < own->knobs.len; i++) {
        if (own->knobs.at[i].original < LARGE || which--)
            continue;
        sets[options->n_sets++] = (TorchSet){own->knobs.at[i].name, 1};
        options->sets = sets;
        return;
    }
}

bool sizes_keep(Arena *arena, const TorchTask *own, uint32_t which, TorchOptions *options)
{
    uint32_t count = own->knobs.len;
    TorchSet *sets = arena_array(arena, TorchSet, options->n_sets + count + 1);
    uint32_t n = options->n_sets;
    if (which >= 2 * count)
        return false;
    for (uint32_t i = 0; i < n; i++)
        sets[i] = options->sets[i];
    for (uint32_t i = 0; i < count; i++) {
        bool kept = which < count ? i == which : i != which - count;
        if (kept && !own->knobs.at[i].deep)
            sets[n++] = (TorchSet){own->knobs.at[i].name, own->knobs.at[i].value};
    }
    options->sets = sets;
    options->n_sets = n;
    return true;
}

bool sizes_few(Arena *arena, const TorchTask *own, uint32_t which, int64_t few,
               TorchOptions *options)
{
    TorchSet *sets = arena_array(arena, TorchSet, own->knobs.len + 1);
    options->sets = sets;
    options->n_sets = 0;
    if (which >= own->knobs.len || own->knobs.at[which].deep || own->knobs.at[which].value <= few)
        return false;
    for (uint32_t i = 0; i < own->knobs.len; i++)
        if (!own->knobs.at[i].deep)
            sets[options->n_sets++] = (TorchSet){own->knobs.at[i].name,
                                                 i == which ? few : own->knobs.at[i].value};
    return true;
}

TorchTask *sizes_between(Arena *arena, const char *path, Str source, const TorchOptions *options,
                         const TorchTask *small, const TorchTask *large, const double *share,
                         Diag *diag)
{
    uint32_t n = small->knobs.len < large->knobs.len ? small->knobs.len : large->knobs.len;
    TorchSet *sets = arena_array(arena, TorchSet, n + 1);
    TorchOptions between = *options;
    between.sets = sets;
    between.n_sets = 0;
    for (uint32_t i = 0; i < n; i++) {
        const TorchKnob *a = &small->knobs.at[i], *b = &large->knobs.at[i];
        if (a->value == b->value && a->value == a->original)
            continue;
        double value = (double)a->value;
        if (a->value > 0 && b->value > 0)
            value *= pow((double)b->value / (double)a->value, share[i]);
        sets[between.n_sets++] = (TorchSet){a->name, llround(value)};
    }
    return torch_read(arena, path, source, &between, diag);
}
