/* Shared by the files that write AscendC: a writer that knows its line, names, expressions. */
#ifndef EMIT_ASCENDC_INT_H
#define EMIT_ASCENDC_INT_H

#include "emit/emit.h"

/* Output line and the Craft line it comes from. */
typedef struct LineMark {
    uint32_t line, craft;
} LineMark;

/* A line as the compiler sees it: of the Craft file, or of the text itself before the first
 * mark. */
typedef struct LineAt {
    uint32_t line;
    bool text;
} LineAt;

/* Which line each part of a kernel's text has, where lines are marked: emit/sim says the same of
 * its records. Functions that come out the same stand in the text once. */
typedef struct LineKernel {
    LineAt *function, *buffer;   /* by number */
    uint32_t functions, buffers; /* how many */
    const uint32_t *same;        /* the function whose text serves each; NULL: not printed */
} LineKernel;

typedef struct LineNotes {
    LineAt *stmt;       /* by AscStmtId */
    LineKernel *kernel; /* by number */
    uint32_t stmt_count, kernel_count;
    LineAt entry;
    uint32_t order; /* line of the text where Order's SetFlag stands; 0: there is no Order */
    uint32_t
        cube[ASC_CUBE_OPS]; /* ... where a helper of the cube makes its call; 0: there is none */
} LineNotes;

/* A text being written, line by line. */
typedef struct Pen {
    Buf *out;
    int depth;     /* of indentation, four blanks each */
    uint32_t line; /* the one being written, from 1 */
    VEC(LineMark) marks;
    Arena *arena;
    LineNotes *notes; /* NULL: nobody asks */
} Pen;

void pen_line(Pen *pen, const char *format, ...) ATTR_PRINTF(2, 3);
void pen_blank(Pen *pen);
void pen_open(Pen *pen, const char *format, ...) ATTR_PRINTF(2, 3); /* a line and " {" */
void pen_close(Pen *pen, const char *after);                        /* "}" and `after` */
void pen_mark(Pen *pen, Span at); /* the next line comes from there */
LineAt pen_at(const Pen *pen);    /* of the next line */

/* ---- names and expressions ---- */

typedef struct Printer Printer;

/* Who writes: a kernel (members, GetBlockIdx) or the host (platform facts). */
struct Printer {
    Arena *arena;
    const EmitInput *in;
    const AscProgram *p;
    const AscKernel *k; /* NULL: host */
    Pen *pen;
    const char **names; /* of each variable in this function; NULL: its own */
    uint32_t name_count;
    bool direct;          /* launched with <<<>>>: the workspace is the user's from its start */
    bool bare;            /* no comments: texts of functions are compared */
    const uint32_t *same; /* the first function with the same text; NULL: each is its own */
};

/* Expression text in the arena. `want` is the type the place needs. */
const char *print_expr(const Printer *pr, IrExprId e);
const char *print_as(const Printer *pr, IrExprId e, DType want);
const char *cxx_type(DType dtype);           /* of tensors: bool is uint8_t */
const char *cxx_scalar(DType dtype);         /* of variables: int64_t, float, bool */
char *camel(Arena *arena, const char *name); /* in C++: t.start is tStart, int is int_ */
bool name_is_reserved(const char *name);
bool name_is_symbol(const char *name); /* that an operator cannot have */
/* The operator: softmax and Softmax, softmax_custom and SoftmaxCustom; `log` is log_op and
 * LogOp. */
const char *op_name(Arena *arena, const EmitInput *in, const AscProgram *p);
const char *op_type(Arena *arena, const EmitInput *in, const AscProgram *p);
const char *craft_name(const EmitInput *in);        /* "softmax.craft" */
Str craft_line(const EmitInput *in, uint32_t line); /* its text, trimmed */
/* Small functions an expression may call; those that occur in `text`. */
void print_helpers(Pen *pen, Str text, const char *prefix);

/* ---- scopes: where scalars are declared, what functions take ---- */

typedef struct Declared {
    AscStmtId at;     /* the statement that declares it by assigning; 0: none */
    AscStmtId before; /* declared as zero before this statement; 0: none */
    bool param;       /* comes in from Process */
    bool by_ref;      /* and goes out again */
} Declared;

typedef struct FunctionScope {
    Declared *vars;        /* beside the program's variables */
    VEC(IrVarId) params;   /* in order of first use */
    VEC(uint32_t) tensors; /* local tensors that come in */
    VEC(uint32_t) tbufs;   /* local tensors got from a TBuf */
} FunctionScope;

/* One for each function of the kernel. */
FunctionScope *scope_kernel(Arena *arena, const AscProgram *p, const AscKernel *k);

/* ---- the parts ---- */

void print_body(Printer *pr, const FunctionScope *scopes, uint32_t function);
void print_class(Printer *pr, LowerPass upto);
void print_kernel_file(Arena *arena, const EmitInput *in, Pen *pen);
void print_lined(const Pen *pen, const char *file, Buf *out); /* the pen's text with #line */
Printer printer_for(Arena *arena, const EmitInput *in, const AscProgram *p, Pen *pen);
void print_classes(Printer *pr, LowerPass upto);
void print_path(Printer *pr, const AscPath *path);
void print_with_helpers(Pen *pen, const Pen *body);
bool operand_is_input(const IrTensor *t);
bool operand_is_output(const IrTensor *t); /* one that is updated in place is both */
/* The rank on the operator's host side, where a last axis of f32 pairs is one complex number and
 * no axis. */
uint32_t operand_rank(const IrTensor *t);
DType operand_dtype(const IrTensor *t);
/* Fills the notes of a text with marked lines; the text itself is dropped. */
void print_lines(Arena *arena, const EmitInput *in, LineNotes *notes);
bool gm_param_used(const AscProgram *p, const AscKernel *k, uint32_t tensor);
const char *task_type(const AscProgram *p); /* KERNEL_TYPE_... */
void print_cube_helpers(Pen *pen, Str text);
enum { MMAD_TO_BARRIER = 2 }; /* lines between the two calls in the helper Multiply */
void print_cube(const Printer *pr, const AscStmt *s, const char *dst, const char *a, const char *b);
bool path_syncs(const AscProgram *p); /* some cores wait for others: a mixed kernel type */
const char *param_gm_name(const Printer *pr, uint32_t tensor);

#endif
