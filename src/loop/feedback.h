/* A verdict in the words a model can act on: what class of failure, where, with the source lines,
 * and what to change first. Shortened: the first few things matter, a repeated message does not. */
#ifndef LOOP_FEEDBACK_H
#define LOOP_FEEDBACK_H

#include "eval/candidate.h"

typedef struct Feedback {
    const Verdict *verdict;         /* of the worst case */
    const Diag *diag;               /* the messages of checkers and compilers; NULL: none */
    const EvalCandidate *candidate; /* for its source lines; NULL: none */
    bool cut;                       /* the answer broke off in the middle */
} Feedback;

void feedback_text(Arena *arena, const Feedback *feedback, Buf *out);
/* {"verdict": {...}, "diagnostics": [...], "message": "..."} */
void feedback_json(Arena *arena, const Feedback *feedback, Buf *out);

#endif
