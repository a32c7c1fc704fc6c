/* What the files of `acraft task` share. */
#ifndef CMD_TASK_H
#define CMD_TASK_H

#include "cmd/cmd.h"
#include "graph/probe.h"
#include "torch/torch.h"

typedef struct TaskOptions {
    bool graph, run, probe, json, all_cases;
    const char *scale_name, *same, *check, *out, *rule_name, *law_name;
    InputLaw law;
    CompareRule rule;
    NameList sets;
    int64_t case_index, seed;
    TorchScale scale;
} TaskOptions;

/* Reads one model file with scale, sets and case applied; NULL with errors in diag. */
TorchTask *task_load(Arena *arena, const char *path, const TaskOptions *options, Diag *diag);
/* A directory: every model file below it. */
int task_suite(Arena *arena, const char *dir, const TaskOptions *options);
/* Two files, or two directories of them: do they mean the same? */
int task_same(Arena *arena, const char *ours, const char *theirs, const TaskOptions *options);
/* Runs, checks or exports the task's values. */
int task_values(Arena *arena, const TorchTask *task, const TaskOptions *options, Diag *diag);
/* What the probe finds under the options' rule; false with the reason in diag. */
bool task_probe(const TorchTask *task, const TaskOptions *options, Probe *probe, Diag *diag);
void task_print_type(const Value *value, Buf *out); /* f32[8,4] */
void task_operands_text(const TorchTask *task, Buf *out);
void task_operands_json(const TorchTask *task, Buf *out);

#endif
