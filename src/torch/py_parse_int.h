/* Inside the parser: the state shared by py_parse.c (expressions), py_atom.c and
 * py_stmt.c. */
#ifndef TORCH_PY_PARSE_INT_H
#define TORCH_PY_PARSE_INT_H

#include "torch/py_lex.h"

typedef struct PyParser {
    Arena *arena;
    Diag *diag;
    PyLexer lexer;
    Token token; /* the next one */
    uint32_t depth;
    uint32_t nodes;
    const Span *all_at; /* the place that every node gets; NULL: its own */
    bool failed;        /* after the first error everything returns quickly */
} PyParser;

void py_advance(PyParser *p);
bool py_at_op(const PyParser *p, const char *text);
bool py_at_name(const PyParser *p, const char *text);
bool py_take_op(PyParser *p, const char *text);
bool py_take_name(PyParser *p, const char *text);
void py_expect_op(PyParser *p, const char *text);
void py_error(PyParser *p, const char *format, ...) ATTR_PRINTF(2, 3);
Py *py_node(PyParser *p, PyKind kind, Span at);
void py_add(PyParser *p, Py *parent, Py *kid);
bool py_is_keyword(Str name);
Str py_take_identifier(PyParser *p, const char *what);

Py *py_atom(PyParser *p);
Py *py_named_or_star(PyParser *p);
Py *py_disjunction(PyParser *p);
void py_for_clauses(PyParser *p, Py *comp); /* of a comprehension, into its kids */
Py *py_expression(PyParser *p);             /* conditional, lambda, walrus */
Py *py_star_expressions(PyParser *p);       /* a, *b, c: a TUPLE when there is a comma */
Py *py_target_list(PyParser *p);            /* before `in` */
void py_parameters(PyParser *p, Py *owner, const char *close);
void py_arguments(PyParser *p, Py *call); /* after '(', up to and with ')' */
Py *py_module(PyParser *p);

#endif
