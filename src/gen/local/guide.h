/* What guides the decoder of a model that writes Craft: which tokens may come, and lines that the front end
 * refuses, taken back.
 *
 *     answer = { schedule line } "```python" program "```"
 *
 * A token may come when all of its bytes may (craft/prefix.h); the tree of the vocabulary's bytes makes the mask
 * of all tokens one walk. Most tokens need no mask: one is drawn from all, and only where it may not come the
 * mask is made and another drawn, which gives the same distribution.
 *
 * When a line ends, the front end reads what there is so far. Where it finds a fault, or where a line does not end
 * (digits that go on and on), the line is drawn again
 * with another token at the place where the model was least sure, then the next such place; after a few tries
 * the line stays as it was first. */
#ifndef GEN_LOCAL_GUIDE_H
#define GEN_LOCAL_GUIDE_H

#include "nn/bpe.h"
#include "nn/infer.h"

typedef struct Guide Guide;

typedef enum GuideLevel {
    GUIDE_MASK,  /* tokens that may not come are not drawn */
    GUIDE_LINES, /* lines with a fault are drawn again, too */
} GuideLevel;

typedef struct GuideSpec {
    const Bpe *bpe;
    uint32_t vocab; /* of the model */
    uint32_t end;   /* the token that ends an answer */
    uint32_t slots;
} GuideSpec;

Guide *guide_open(const GuideSpec *spec);
void guide_close(Guide *guide);

typedef struct GuideJob {
    GuideLevel level;
    NnSampling sampling;
    uint64_t seed;
} GuideJob;
/* Begins answers in all slots; the guide for nn_generate, until the next call. */
const NnGuide *guide_begin(Guide *guide, const GuideJob *job);

/* For tests and benchmarks: the mask of a slot, a bit for every token of the vocabulary; whether a token may
 * come; takes one (false: it may not come). */
const uint64_t *guide_mask(Guide *guide, uint32_t slot);
bool guide_allows(Guide *guide, uint32_t slot, uint32_t token);
bool guide_take(Guide *guide, uint32_t slot, uint32_t token);

#endif
