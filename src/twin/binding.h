/* Host code that launches: a PyTorch binding, or a program with its own main. It is compiled against
 * tensors without elements (twin/include/acraft/bind) and run in the box; what it does comes back as
 * a list of events in order, and nothing has been computed yet.
 *
 *     TwinBinding *b = twin_binding_compile(arena, files, n, &options, &verdict, &diag);
 *     twin_binding_call(arena, b, &call, &options, &done, &verdict);
 *     ... execute done.events; call.answers grows while done.waits ...
 *     twin_binding_release(b);
 *
 * Events are foreign bytes: the decoder believes none of them. */
#ifndef TWIN_BINDING_H
#define TWIN_BINDING_H

#include "twin/host.h"
#include "twin/rt/bind_share.h"

typedef struct TwinBinding TwinBinding;

/* A tensor as host code sees it: elements lie at address + offset * size of one. */
typedef struct TwinView {
    uint64_t address; /* of its storage */
    int64_t offset;   /* elements */
    DType dtype;
    uint32_t rank;
    int64_t size[BIND_MOST_RANK], stride[BIND_MOST_RANK];
} TwinView;

typedef struct TwinValue TwinValue;
struct TwinValue {
    enum BindValue kind;
    const char *name; /* of an argument given by keyword; "" else */
    int64_t i;        /* BIND_INT, BIND_BOOL */
    double f;
    Str text;
    TwinView view;
    const TwinValue *list;
    uint32_t count;
};

typedef struct TwinEvent {
    enum BindEvent kind;
    const char *name; /* operator, kernel, file, error */
    uint64_t address, from, bytes;
    uint32_t blocks;
    uint8_t fill;
    double value;
    TwinView to, of; /* copy and fill */
    TwinValue *args; /* operator; kernel: BIND_INT is an address, BIND_TEXT bytes by value;
                      * function: names of its parameters */
    uint32_t count;
    uint32_t arity; /* of a function */
    Str data;       /* written bytes */
} TwinEvent;

typedef VEC(TwinEvent) TwinEvents;

typedef struct TwinBindCall {
    const char *function; /* "": which functions there are */
    const TwinValue *args;
    uint32_t arg_count;
    uint64_t first_address; /* device memory from here on is free */
    VEC(Str) answers;       /* to its reads, in order */
    bool twice;             /* called many times in one process, and heard the last time */
    uint64_t memory;        /* most bytes it may have, four times what it may report; 0: 1 GiB */
} TwinBindCall;

typedef struct TwinBindDone {
    TwinEvents events;
    TwinValue result;
    bool waits;  /* the last event wants elements */
    bool counts; /* whether a later call with the same arguments compares other numbers */
    Str printed; /* to its standard output and error */
} TwinBindDone;

TwinBinding *twin_binding_compile(Arena *arena, const TwinHostFile *files, uint32_t count,
                                  const TwinOptions *options, Verdict *verdict, Diag *diag);
void twin_binding_release(TwinBinding *binding);
/* False: it died, raised an error or lacks something; the verdict says which. */
bool twin_binding_call(Arena *arena, const TwinBinding *binding, const TwinBindCall *call,
                       const TwinOptions *options, TwinBindDone *done, Verdict *verdict);

/* Elements of a view in C order, from or to the bytes of its storage. False: outside of them. */
bool twin_view_gather(const TwinView *view, const void *storage, size_t bytes, void *to);
bool twin_view_scatter(const TwinView *view, void *storage, size_t bytes, const void *from);
bool twin_view_count(const TwinView *view, uint64_t *count); /* elements; false: too many */
bool twin_view_dense(const TwinView *view);

#endif
