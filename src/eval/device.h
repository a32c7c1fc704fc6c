/* Inside the evaluation: device memory as host code addresses it, and the events that work on it. */
#ifndef EVAL_DEVICE_H
#define EVAL_DEVICE_H

#include "eval/candidate_int.h"
#include "twin/binding.h"

/* One allocation. */
typedef struct EvalRoom {
    uint64_t address;
    TwinTensor memory; /* bytes without a shape */
    bool known;        /* something has been written to it */
    bool by_kernel;    /* by a kernel, or copied from where one has written */
    bool by_host;      /* host code has written to it */
    bool is_result;    /* host code gives it back */
    bool is_part;      /* what it gives back is not all of it: a padded buffer, a slice */
    bool given;        /* an argument of the call */
    bool holds;    /* without values: what it holds is there all the same (indices, tiling data) */
    bool lent;     /* its memory is a sample's (eval/sample.h) */
    bool sampled;  /* a launch of a sample has written it as an output */
    uint32_t uses; /* launches that were handed it */
} EvalRoom;

typedef struct EvalDevice {
    VEC(EvalRoom) rooms;
    uint64_t next; /* the first free address */
} EvalDevice;

/* The compiled parts of a candidate with host code of its own. */
typedef struct EvalHost {
    EvalJudge *j;
    TwinBinding *binding;
    TwinProject project;
    TwinOpened *opened; /* NULL: no op_host */
    struct {
        const char *name;
        TwinKernel *kernel;
    } kernels[32];
    uint32_t kernel_count;
    uint32_t launches;
    bool computes; /* some launch wrote other bytes than those it was given */
    Buf printed;   /* by kernels */
} EvalHost;

void eval_device_open(EvalDevice *d);
void eval_device_close(EvalDevice *d);
/* Memory at the next address; NULL with a verdict when there is none. */
EvalRoom *eval_device_add(EvalJudge *j, EvalDevice *d, uint64_t bytes);
EvalRoom *eval_device_at(EvalDevice *d, uint64_t address); /* the allocation around it, or NULL */
/* The host code is a benchmark's own, not the candidate's, or there is no task: it may do as it
 * likes. */
bool eval_host_is_theirs(const EvalJudge *j);
/* What host code gives back a kernel has written; false with a verdict. */
bool eval_device_made(EvalJudge *j, EvalDevice *d, uint64_t address);
/* A dense copy of what a view shows; NULL with a verdict. */
Tensor *eval_device_get(EvalJudge *j, EvalDevice *d, const TwinView *view);

/* Executes events [from, to) in order. */
bool eval_device_run(EvalHost *host, EvalDevice *d, const TwinEvents *events, uint32_t from,
                     uint32_t to);

/* launch.c */
bool eval_launch_operator(EvalHost *host, EvalDevice *d, const TwinEvent *e);
bool eval_launch_kernel(EvalHost *host, EvalDevice *d, const TwinEvent *e);

/* Compiles binding, host side and kernels. False: the verdict says why (host.c). */
bool eval_host_open(EvalHost *host, EvalJudge *j);
void eval_host_close(EvalHost *host);
/* Calls a function of the binding; replayed until it waits for nothing. `device` holds the
 * arguments' memory and everything the call made; events are executed only where elements are
 * asked for. *done_events: how many of them were. */
bool eval_host_call(EvalHost *host, EvalDevice *d, TwinBindCall *call, TwinBindDone *done,
                    uint32_t *done_events);
/* A path that the program names, below its directory. NULL: the verdict says why (program.c). */
const char *eval_program_file(EvalJudge *j, const char *name);
/* Checks that a second call in one process does what the first did. False: the verdict says why
 * (forget.c). */
bool eval_host_forgets(EvalHost *host, EvalDevice *d, const TwinBindCall *call,
                       const TwinBindDone *done);
/* Checks that kernels compute. False, with a verdict: all of them only copy, and the task does
 * more (launch.c). */
bool eval_host_computes(EvalHost *host);
/* Whether the task itself writes into what it is given. */
bool eval_task_in_place(const EvalJudge *j);
/* Checks that host code does not compute what kernels should. It is called once more where it
 * has read elements. False: the verdict says why (carry.c). */
bool eval_host_carries(EvalHost *host, EvalDevice *d, const TwinBindCall *call,
                       const TwinBindDone *done);

#endif
