/* Views: strided elements in a storage. In: foreign sizes and strides. Out: dense bytes; nothing is
 * touched outside the storage. */
#include "twin/binding.h"

#include <string.h>

bool twin_view_count(const TwinView *v, uint64_t *count)
{
    *count = 1;
    for (uint32_t d = 0; d < v->rank; d++)
        if (v->size[d] < 0 || __builtin_mul_overflow(*count, (uint64_t)v->size[d], count) ||
            *count > 1ull << 40)
            return false;
    return true;
}

bool twin_view_dense(const TwinView *v)
{
    int64_t want = 1;
    for (uint32_t d = v->rank; d-- > 0;) {
        if (v->size[d] != 1 && v->stride[d] != want)
            return false;
        if (v->size[d] < 0 || __builtin_mul_overflow(want, v->size[d], &want))
            return false;
    }
    return true;
}

/* First and last element of the view lie in the storage, so all do. */
static bool inside(const TwinView *v, size_t bytes, uint64_t count)
{
    int64_t low = v->offset, high = v->offset;
    for (uint32_t d = 0; d < v->rank && count; d++) {
        int64_t reach;
        if (__builtin_mul_overflow(v->stride[d], v->size[d] - 1, &reach))
            return false;
        int64_t *end = reach < 0 ? &low : &high;
        if (__builtin_add_overflow(*end, reach, end))
            return false;
    }
    uint64_t elements = bytes / dtype_bytes(v->dtype);
    return !count || (low >= 0 && high >= low && (uint64_t)high < elements);
}

/* Calls for each element: its place in the storage and in C order. */
static bool walk(const TwinView *v, uint8_t *storage, size_t bytes, uint8_t *dense, bool gather)
{
    uint64_t count;
    size_t one = dtype_bytes(v->dtype);
    int64_t at[BIND_MOST_RANK] = {0}, step[BIND_MOST_RANK] = {0}, place = v->offset;
    if (!twin_view_count(v, &count) || !inside(v, bytes, count))
        return false;
    for (uint32_t d = 0; d < v->rank; d++)
        step[d] = v->size[d] > 1 ? v->stride[d] : 0; /* one element is never stepped over */
    for (uint64_t i = 0; i < count; i++) {
        uint8_t *element = storage + (size_t)place * one;
        if (gather)
            memcpy(dense + i * one, element, one);
        else
            memcpy(element, dense + i * one, one);
        for (uint32_t d = v->rank; d-- > 0;) {
            place += step[d];
            if (++at[d] < v->size[d])
                break;
            place -= step[d] * v->size[d];
            at[d] = 0;
        }
    }
    return true;
}

bool twin_view_gather(const TwinView *v, const void *storage, size_t bytes, void *to)
{
    return walk(v, (uint8_t *)storage, bytes, to, true);
}

bool twin_view_scatter(const TwinView *v, void *storage, size_t bytes, const void *from)
{
    return walk(v, storage, bytes, (uint8_t *)from, false);
}
