/* Inside the host side: the program and how it is called. */
#ifndef TWIN_HOST_INT_H
#define TWIN_HOST_INT_H

#include "twin/host.h"
#include "twin/rt/host_share.h"
#include "twin/twin_int.h"

struct TwinHost {
    int exe;
    TwinOps ops;
};

/* Runs the host program once. False, with a verdict: it died; an answer with its own error code
 * inside is true. */
bool twin_host_ask(Arena *arena, const TwinHost *host, const char *wanted, Str request,
                   const TwinOptions *options, Str *answer, Verdict *verdict);

#endif
