/* The program's version, and that of what it writes. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define ACRAFT_VERSION "0.2.0"

enum {
    VERDICT_SCHEMA = 2, /* of verdicts, judge lines and export rows (docs/schema) */
    JUDGE_VERSION = 14  /* of the rules that lead to a verdict: others give other verdicts */
};

#endif
