/* Text of kernels, in whatever language: scopes that values are written into, numbers, forms, files.
 *
 * A value is written once, into the deepest scope whose axes it varies along. A scope's text is added to the one
 * around it when it is closed, after what was written there meanwhile. */
#ifndef GEN_KERNEL_TEXT_H
#define GEN_KERNEL_TEXT_H

#include "emit/emit.h"
#include "gen/kernel/kernel.h"

enum { KERNEL_SCOPES = NEST_MAX_AXES + 8 }; /* nested scopes bind different axes */

/* How a language writes what nests hold. */
typedef struct KernelLanguage {
    const char *nan, *infinity, *minus_infinity;
    const char *suffix;   /* of a number: "f" */
    const char *type_end; /* after the name of a dtype among arguments: "{}" */
    const char *close;    /* the line that closes a scope; NULL: indentation does */
} KernelLanguage;

typedef struct KernelScope {
    uint64_t axes;
    bool lanes;        /* of one element of a vector */
    Buf head, text;    /* head: the line that opens it */
    const char **name; /* per value; NULL: not written here */
    bool *offset;      /* per value: where its access begins is written here */
    uint32_t indent;
} KernelScope;

typedef struct KernelText {
    Arena *arena;
    const Nest *nest;
    const KernelLanguage *language;
    KernelScope scope[KERNEL_SCOPES];
    uint32_t depth; /* number of open scopes */
} KernelText;

/* Lines of the head are indented as those around it; the close adds the text
 * to the scope around it. */
void kernel_open(KernelText *t, uint64_t axes, const char *head, ...) ATTR_PRINTF(3, 4);
void kernel_close(KernelText *t);
void kernel_line_in(KernelText *t, uint32_t scope, const char *text);
void kernel_line(KernelText *t, const char *format, ...) ATTR_PRINTF(2, 3);
void kernel_name(KernelText *t, uint32_t scope, NestId id, const char *name);
/* The deepest open scope whose axes the value varies along. */
uint32_t kernel_scope_of(const KernelText *t, uint64_t axes);

/* Moves the buffer's text to the arena and frees the buffer. */
const char *kernel_take(Arena *arena, Buf *text);
const char *kernel_number(const KernelText *t, double x);
/* Craft text with names in the place of $0, $1, $2: functions are called op_NAME, dtypes as_NAME. */
const char *kernel_form(const KernelText *t, const char *form, const char *const *args);
const char *kernel_join(PrimReduce reduce); /* "sum" */

/* ---- files ---- */

Str kernel_text(Arena *arena, Buf *text); /* the buffer's text, which it loses */
void kernel_file(Arena *arena, EmitFiles *files, const char *path, Str text);
const char *kernel_torch_type(DType dtype); /* "float32" */
/* The parameters of the launcher, and its header in C: `about` its first lines; `last`: the last parameters. */
void kernel_parameters(const KernelTask *task, const char *last, Buf *out);
void kernel_header(const KernelTask *task, const Graph *graph, const char *name, const char *about,
                   const char *last, Buf *out);
/* "4, 8, ": the dimensions of a value. */
void kernel_shape(const Graph *graph, ValueId value, Buf *out);
/* The Python function that kernel_python_operand's text calls. */
extern const char kernel_python_attribute[];

#endif
