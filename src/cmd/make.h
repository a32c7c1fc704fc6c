/* What the ways of making a kernel share: the directory that is written. */
#ifndef CMD_MAKE_H
#define CMD_MAKE_H

#include "cmd/generator.h"
#include "verdict/verdict.h"

typedef VEC(const Verdict *) MakeVerdicts;

/* The operator project of a Craft program, the program itself and its verdicts. */
bool make_write(Arena *arena, const char *name, Str craft, const MakeVerdicts *verdicts,
                const NpuChip *chip, const char *dir, Diag *diag);

/* acraft make --gen remote|exec: a model writes the kernel. */
typedef struct MakeAsk {
    GenOptions gen;
    const char *dir;
    int64_t fuzz, samples;
    bool trust;
} MakeAsk;
/* CMD_NO: no answer passed; diagnostics are printed. */
int make_by_model(CmdArgs *args, const MakeAsk *ask);

#endif
