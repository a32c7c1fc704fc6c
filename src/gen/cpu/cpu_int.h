/* Inside the C target: kernels with their lanes, and the scopes that values are written into.
 *
 *     function            values that nothing decides
 *       unit              a point, or a tile of neighbouring points
 *         tile            of a row: neighbouring elements of it
 *           lanes         one element: the vector loop, always innermost
 *
 * A value is written once into the deepest scope whose axes it varies along. A reduction that varies along the
 * lanes is an array beside the vector loop, filled by vector loops of its own. A scope's text is added to the
 * one around it when it is closed, after what was written there meanwhile. */
#ifndef GEN_CPU_CPU_INT_H
#define GEN_CPU_CPU_INT_H

#include "gen/cpu/cpu.h"
#include "gen/kernel/text.h"

typedef struct CpuKernel {
    Kernel loops;
    uint32_t lane;         /* the axis that the lanes walk; 0: none, one element at a time */
    bool inside;           /* the lanes walk the row, not the points */
    int64_t lanes;         /* of a tile, at most */
    int64_t units;         /* that threads share */
    int64_t rows, columns; /* PRODUCT: of a block */
    bool *
        kept; /* by value: an array of the whole row holds it from the first pass that needs it to the last */
} CpuKernel;

typedef struct CpuWriter {
    KernelText text;
    const CpuKernel *k;
    bool *held; /* by value: its array of the row is filled */
} CpuWriter;

void cpu_roles(const Nest *nest, CpuKernel *k);
void cpu_write_kernel(const Nest *nest, const CpuKernel *k, const char *name, Buf *out);

void cpu_product_roles(CpuKernel *k);
void cpu_write_product(CpuWriter *w); /* inside the loop over units */

void cpu_open_lanes(CpuWriter *w); /* the vector loop */
/* The name or number that a value has here. */
const char *cpu_value(CpuWriter *w, NestId id);
/* An affine expression as text. */
const char *cpu_affine(CpuWriter *w, const Affine *index, bool wide, bool base);
/* Where an access of the value is, in the vector loop: an offset that stands outside of it, and the lane. id 0: of the
 * kernel's store of that number, which has its own. */
const char *cpu_index(CpuWriter *w, NestId id, uint32_t store, uint32_t tensor,
                      const Affine *index);
/* The address of the access at the first lane. */
const char *cpu_base(CpuWriter *w, uint32_t tensor, const Affine *index);
/* Coordinates of the axes from a running number, the outermost first; the lane axis in tiles. */
void cpu_axes(CpuWriter *w, const char *number, const uint32_t *axes, uint32_t n);
const char *cpu_axis_type(const CpuWriter *w, uint32_t axis);
const char *cpu_type(DType dtype); /* NULL: none */
/* The element of a tensor's dtype that a float becomes. */
const char *cpu_store_text(CpuWriter *w, DType dtype, const char *value);

extern const KernelLanguage cpu_language;
extern const char cpu_prelude[], cpu_prelude_end[];

#endif
