/* Inputs and parameters of a task, and inputs that tell right answers from trivial ones.
 *
 * Values come from the graph's source graph under a seed: the same for reference and candidate, on
 * every machine. Some tasks, on the inputs their file asks for, cannot tell a kernel from one that
 * returns zeros, ones, a constant or its input: relu on numbers in [0, 1) is the identity. The
 * probe finds that out, and picks another law for the random numbers under which none of those
 * passes, while every value stays finite.
 */
#ifndef GRAPH_INPUTS_H
#define GRAPH_INPUTS_H

#include "graph/compare.h"
#include "graph/eval.h"

typedef enum InputLaw {
    LAW_GIVEN,    /* as the file says */
    LAW_SIGNED,   /* uniform becomes normal(0, 1), scaled to the range; constant parameters vary */
    LAW_WIDE,     /* normal(0, 4): both tails of saturating functions */
    LAW_NEAR_ONE, /* +-(1 + 0.01 normal): products neither vanish nor explode */
    LAW_POSITIVE, /* 0.5 + uniform(0, 2): away from 0, for logarithms and roots */
    LAW_EDGE,     /* normal with zeros, repeats, tiny and large values strewn in */
    LAW_COUNT
} InputLaw;

const char *input_law_name(InputLaw law);
bool input_law_from_name(Str name, InputLaw *law);

typedef struct TaskInputs {
    Tensor **inputs, **params; /* as graph_eval takes them */
    uint32_t n_inputs, n_params;
} TaskInputs;

/* Fills `out`; false with the reason in diag. */
bool graph_inputs(const Graph *graph, uint64_t seed, InputLaw law, TaskInputs *out, Diag *diag);
void graph_inputs_free(TaskInputs *in);

/* Answers that cost nothing. */
typedef enum Trivial {
    TRIVIAL_ZEROS,
    TRIVIAL_ONES,
    TRIVIAL_CONSTANT, /* the best constant: the middle of the reference's range */
    TRIVIAL_INPUT,    /* an input of the output's shape and dtype */
    TRIVIAL_COUNT
} Trivial;

const char *trivial_name(Trivial t);

typedef struct Probe {
    InputLaw law;            /* the one to use */
    unsigned passed_given;   /* bit per Trivial: passes under LAW_GIVEN */
    unsigned passed;         /* ... under `law`; not 0: no law tells it apart */
    uint32_t trivial_input;  /* which input, where TRIVIAL_INPUT is set */
} Probe;

/* Which trivial answers pass all outputs of one evaluation. */
unsigned probe_outputs(Tensor *const *want, uint32_t n, const CompareSpec *spec, const TaskInputs *in,
                       uint32_t *which);
/* Evaluates the graph under one law after the other until none passes. */
bool graph_probe(const Graph *graph, const CompareSpec *spec, const EvalOptions *options, Probe *probe,
                 Diag *diag);

#endif
