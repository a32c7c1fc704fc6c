/* Shared by the commands that make a kernel: the summary, and the directory that is written. */
#ifndef CMD_MAKE_H
#define CMD_MAKE_H

#include "cmd/generator.h"
#include "loop/make.h"
#include "loop/make_sample.h"
#include "loop/make_written.h"
#include "verdict/verdict.h"

typedef VEC(const Verdict *) MakeVerdicts;

/* Everything that goes into the directory of a made kernel. */
typedef struct MakeFiles {
    const char *name;   /* of the operator */
    const char *task;   /* path of the model file */
    const char *dtypes; /* of each program in it: "f32 and f16" */
    bool several;       /* programs, one for each --dtype */
    Str craft;
    MakeVerdicts verdicts;
    MakeVerdicts written;        /* of the files, read back */
    const char *operands;        /* "`x0` is x, ..."; NULL: not known */
    const char *sizes;           /* "`n0` is axis 0 of x (2048), ..."; NULL: not known */
    Str summary;                 /* for the page; empty: none is written */
    Str trace;                   /* of the small case; empty: none */
    Str timed_trace;             /* of the task's own size, its first cores; empty: none */
    double unfused_us, eager_us; /* what the page compares with; 0: not known */
    const NpuChip *chip;
    const EmitFiles *forms; /* all forms, as they were judged; NULL: the project alone is written */
    const char *type;       /* of the operator, where the task names it; NULL: from its name */
    MakeSamples samples;    /* cases to store */
    const Graph *
        graph; /* where the project alone is written: of the task, for its PyTorch module; NULL: none */
    Str source; /* of the model file, with the graph */
} MakeFiles;

/* The operator project, the Craft program, verdicts.jsonl, report.html, trace.json. The same input
 * writes the same bytes: how long judging took is left out. */
bool make_write(Arena *arena, const MakeFiles *files, const char *dir, Diag *diag);

/* Writes a candidate that is no Craft program: its texts as they came, verdicts.jsonl and
 * report.html. */
bool make_write_texts(Arena *arena, const MakeFiles *files, const EvalCandidate *candidate,
                      const char *dir, Diag *diag);

/* A kernel for one dtype. */
typedef struct MakeMade {
    DType dtype;
    bool ok;
    MakeResult result;
} MakeMade;

/* What is proved, checked, predicted and measured; of a case that failed its sizes and the command that
 * judges it alone. */
typedef struct MakeManner {
    bool interp;
    const char *listed; /* cases of a list, at this size; NULL: cases that were drawn */
    const char *again;  /* the command without its case: "acraft make relu.py --dtype f16" */
} MakeManner;
/* "f16", "f16, f32": of the inputs, as the file has them once --dtype is taken. */
void make_put_dtypes(const TorchTask *task, Buf *out);
void make_show(const MakeMade *made, const MakeManner *manner, Buf *out);

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
