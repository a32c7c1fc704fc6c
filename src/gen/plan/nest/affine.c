/* Affine functions of axes; see affine.h. */
#include "gen/plan/nest/affine.h"

Affine affine_number(int64_t at) { return (Affine){.at = at}; }

Affine affine_axis(uint32_t axis, int64_t by)
{
    Affine a = {.n = by != 0, .term = {{axis, by}}};
    return a;
}

static bool add_term(Affine *a, AffineTerm t)
{
    uint32_t i = 0;
    while (i < a->n && a->term[i].axis < t.axis)
        i++;
    if (i < a->n && a->term[i].axis == t.axis) {
        if (__builtin_add_overflow(a->term[i].by, t.by, &a->term[i].by))
            return false;
        if (a->term[i].by == 0) {
            a->n--;
            for (uint32_t k = i; k < a->n; k++)
                a->term[k] = a->term[k + 1];
        }
        return true;
    }
    if (a->n == AFFINE_TERMS)
        return false;
    for (uint32_t k = a->n; k > i; k--)
        a->term[k] = a->term[k - 1];
    a->term[i] = t;
    a->n++;
    return true;
}

bool affine_add(Affine *a, const Affine *b, int64_t by)
{
    int64_t more;
    if (__builtin_mul_overflow(b->at, by, &more) || __builtin_add_overflow(a->at, more, &a->at))
        return false;
    for (uint32_t i = 0; i < b->n && by; i++) {
        AffineTerm t = b->term[i];
        if (__builtin_mul_overflow(t.by, by, &t.by) || !add_term(a, t))
            return false;
    }
    return true;
}

bool affine_equal(const Affine *a, const Affine *b)
{
    bool same = a->at == b->at && a->n == b->n;
    for (uint32_t i = 0; i < a->n && same; i++)
        same = a->term[i].axis == b->term[i].axis && a->term[i].by == b->term[i].by;
    return same;
}

int64_t affine_by(const Affine *a, uint32_t axis)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (a->term[i].axis == axis)
            return a->term[i].by;
    return 0;
}

void affine_range(const Affine *a, const int64_t *sizes, int64_t *low, int64_t *high)
{
    *low = *high = a->at;
    for (uint32_t i = 0; i < a->n; i++) {
        int64_t end = a->term[i].by * (sizes[a->term[i].axis] - 1);
        *(end < 0 ? low : high) += end;
    }
}
