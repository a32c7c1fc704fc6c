/* Inside the C target: kernels with their lanes, and the scopes that values are written into.
 *
 *     function            values that nothing decides
 *       unit              a point, or a tile of neighbouring points
 *         tile            of a row: neighbouring elements of it
 *           lanes         one element: the vector loop, always innermost
 *
 * A value is written once into the deepest scope whose axes it varies along. A reduction that varies along the
 * lanes is an array beside the vector loop, filled by vector loops of its own. A scope's text is added to the
 * one around it when it is closed, behind what was written there meanwhile. */
#ifndef GEN_CPU_CPU_INT_H
#define GEN_CPU_CPU_INT_H

#include "gen/cpu/cpu.h"

enum { CPU_SCOPES = NEST_MAX_AXES + 8 };

typedef struct CpuKernel {
    Kernel loops;
    uint32_t lane; /* the axis that the lanes walk; 0: none, one element at a time */
    bool inside;   /* the lanes walk the row, not the points */
    int64_t lanes; /* of a tile, at most */
    int64_t units; /* that threads share */
    bool *
        kept; /* by value: an array of the whole row holds it from the first pass that needs it to the last */
} CpuKernel;

typedef struct CpuScope {
    uint64_t axes;
    bool lanes;        /* the vector loop */
    Buf head, text;    /* head: the line that opens it */
    const char **name; /* per value; NULL: not written here */
    bool *offset;      /* per value: where its access begins is written here, as iN */
    uint32_t indent;
} CpuScope;

typedef struct CpuWriter {
    Arena *arena;
    const Nest *nest;
    const CpuKernel *k;
    CpuScope scope[CPU_SCOPES];
    uint32_t depth; /* number of open scopes */
    bool *held;     /* by value: its array of the row is filled */
} CpuWriter;

void cpu_roles(const Nest *nest, CpuKernel *k);
void cpu_write_kernel(const Nest *nest, const CpuKernel *k, const char *name, Buf *out);

/* Lines of the head are indented as those around it; the close adds the text to the scope around it, with a
 * brace behind. */
void cpu_open(CpuWriter *w, uint64_t axes, const char *head, ...) ATTR_PRINTF(3, 4);
void cpu_open_lanes(CpuWriter *w);
void cpu_close(CpuWriter *w);
void cpu_line(CpuWriter *w, const char *format, ...) ATTR_PRINTF(2, 3);
void cpu_name(CpuWriter *w, uint32_t scope, NestId id, const char *name);
/* The name or number that a value has here. */
const char *cpu_value(CpuWriter *w, NestId id);
/* An affine expression as text. */
const char *cpu_affine(CpuWriter *w, const Affine *index, bool wide, bool base);
/* Where an access of the value is, in the vector loop: an offset that stands outside of it, and the lane. id 0: of the
 * kernel's store of that number, which has its own. */
const char *cpu_index(CpuWriter *w, NestId id, uint32_t store, uint32_t tensor,
                      const Affine *index);
/* The same at the first lane. */
const char *cpu_base(CpuWriter *w, uint32_t tensor, const Affine *index);
/* Coordinates of the axes from a running number, the outermost first; the lane axis in tiles. */
void cpu_axes(CpuWriter *w, const char *number, const uint32_t *axes, uint32_t n);
const char *cpu_axis_type(const CpuWriter *w, uint32_t axis);
const char *cpu_join(PrimReduce reduce); /* "sum" */
const char *cpu_type(DType dtype);       /* NULL: none */
/* The element of a tensor's dtype that a float becomes. */
const char *cpu_store_text(CpuWriter *w, DType dtype, const char *value);

extern const char cpu_prelude[], cpu_prelude_end[];

#endif
