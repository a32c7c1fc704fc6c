/* Inside the verifier: its state, and what its files give each other. */
#ifndef IR_VERIFY_INT_H
#define IR_VERIFY_INT_H

#include "ir/ir.h"

enum { IR_MAX_NEST = 48, IR_MAX_EXPR_DEPTH = 200, IR_MAX_CHOICES = 256 };

typedef struct Verifier {
    const IrProgram *p;
    Diag *diag;
    Arena scratch;
    bool in_host;
    uint32_t kernel; /* UINT32_MAX: in the host */
    const IrKernel *k;
    bool *defined;   /* per variable: has a value at this place */
    bool *bound;     /* per variable: some loop or share binds it */
    bool *used;      /* per statement: it hangs somewhere in the tree */
    bool *live;      /* per host tensor: a workspace that exists */
    int stage, core; /* -1: in none */
    bool turns;      /* inside a loop whose turns the vector cores of a core take alternately */
    uint32_t depth;
    bool bad;
} Verifier;

/* Adds I010 and gives false, so that callers can return it. */
bool verify_fail(Verifier *v, Span at, const char *format, ...) ATTR_PRINTF(3, 4);

/* An expression of that type, whose variables and tensors exist at this place. */
bool verify_expr(Verifier *v, Span at, IrExprId e, DType type, const char *what);
bool verify_view(Verifier *v, Span at, const IrView *view);
bool verify_access(Verifier *v, const IrStmt *s, bool one_element);
/* A variable that a statement may assign a value of that type. */
bool verify_target(Verifier *v, Span at, IrVarId var, DType type);
bool verify_tensor_decl(Verifier *v, const IrTensor *t);
/* The tensor of this kernel, or of the host; NULL: there is none. */
const IrTensor *verify_tensor(const Verifier *v, uint32_t tensor);
bool verify_op(Verifier *v, const IrStmt *s);
void verify_block(Verifier *v, const IrBlock *block);

bool ir_is_list(const IrTensor *t);

/* The scalar type that holds an element: DT_I64, DT_F32 or DT_BOOL. */
DType ir_scalar_of(DType element);

#endif
