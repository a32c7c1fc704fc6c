/* Inside the text of kernels: nested scopes that values are written into.
 *
 *     kernel              values that only points decide
 *       pack              loads of several elements
 *         lane            one element
 *           window        the axes of a reduction that the thread takes alone
 *
 * A value is written once, into the deepest scope whose axes it varies along. A scope's text is added to
 * the one around it when it is closed, after what was written there meanwhile. */
#ifndef GEN_CUDA_WRITE_INT_H
#define GEN_CUDA_WRITE_INT_H

#include "gen/cuda/cuda_int.h"
#include "gen/kernel/text.h"

typedef struct Writer {
    KernelText text;
    const CudaKernel *k;
    uint32_t lane;        /* number of the scope of one element; 0: none is open */
    uint32_t vector_axis; /* 0: none */
    uint32_t tall_axis;   /* 0: none */
    bool edge_template;   /* masks are tested only where EDGE says so */
    const bool *kept;     /* per value: loads that registers hold, named before */
} Writer;

/* The name or number that a value has here. */
const char *cuda_value(Writer *w, NestId id);
/* An index as text, at an element, at the begin of its pack, or at the begin of what the thread takes. */
typedef enum IndexAt { AT_ELEMENT, AT_PACK, AT_THREAD } IndexAt;
const char *cuda_index(Writer *w, uint32_t tensor, const Affine *index, IndexAt at);
/* One access of V elements is possible. */
bool cuda_packs(const Writer *w, const NestValue *v);
const char *cuda_join(PrimReduce reduce); /* "Sum" */
/* The coordinates of the axes from a running number; the last axis is `per` elements at once and is
 * called b instead of a, the one before it `tall` and c. */
void cuda_axes(Writer *w, const char *number, bool wide, const uint32_t *axes, uint32_t n,
               uint32_t per, uint32_t tall);

/* Among marked reductions the one that finds the place of this extreme; 0: none. */
NestId cuda_place_beside(const Writer *w, NestId extreme, const bool *now);
/* The place of an element, as a reduction of places has it. */
NestId cuda_place_arg(const Nest *nest, NestId id);

void cuda_write_product(Writer *w); /* the body of a function */
void cuda_write_meet(Writer *w);
/* The loops of a reduction of index writes in a thread whose whole warp meets the same ones; `lanes`: it has several. */
void cuda_meet_beside(Writer *w, const KernelMeet *meet, bool lanes);
/* The loop over what a thread computes at once; nothing where that is one element. */
void cuda_open_lanes(Writer *w);
void cuda_close_lanes(Writer *w);
/* All results of the kernel, in the scope of one element. */
void cuda_write_results(Writer *w);

extern const KernelLanguage cuda_language;

#endif
