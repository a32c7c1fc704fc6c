/* Two versions of a kernel beside each other: what their lines cost, and which findings came and went. */
#ifndef CMD_DIFF_H
#define CMD_DIFF_H

#include "eval/candidate.h"

/* One line's cost in a version; us is 0 where it has none. */
typedef struct DiffSide {
    const char *file;
    uint32_t line; /* 0: the line is not in this version */
    double us;
    uint64_t instructions, bytes;
} DiffSide;

typedef struct DiffLine {
    DiffSide side[2];
    Str text; /* of the line, trimmed */
} DiffLine;

typedef VEC(DiffLine) DiffLines;

/* `costs[i]` is what sim/cycle.h's cycle_costs wrote for version i. Lines of the two kernel files are
 * paired by their text, in order; the greatest change first. */
void diff_lines(Arena *arena, const EvalCandidate versions[2], const Str costs[2], DiffLines *out);

/* For each finding of `of`, whether `other` has one like it: the same code about the same text. */
bool diff_has_finding(const EvalCandidate versions[2], int other, const Verdict *in,
                      const VerdictFinding *finding);

#endif
