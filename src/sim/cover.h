/* Which bytes of a large range were touched, for outputs too large to hold: pages of 64 KiB that hold
 * one run of touched bytes or, where there are several, one bit per byte.
 *
 *     | [      ] | [   ]    | 0110.. |          | ...        page by page
 */
#ifndef SIM_COVER_H
#define SIM_COVER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct CoverPage {
    uint64_t *bits;       /* NULL: one run */
    uint32_t from, count; /* the run's begin; bytes touched */
} CoverPage;

typedef struct Cover {
    CoverPage *pages; /* NULL: not kept */
    uint64_t bytes;
} Cover;

void cover_open(Cover *cover, uint64_t bytes);
void cover_close(Cover *cover);
/* [from, to) was touched; what lies outside the range is passed over. */
void cover_add(Cover *cover, uint64_t from, uint64_t to);
/* Bytes nobody touched; *first the offset of the first, or 0. */
uint64_t cover_missing(const Cover *cover, uint64_t *first);

#endif
