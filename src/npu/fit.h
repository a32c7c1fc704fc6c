/* Constants from outside, for tools/fit_costs alone (make CFLAGS_npu=-DNPU_FIT): before main the environment's
 * ACRAFT_COSTS, "FLAG=50,isa:EXP=2,tail:EXP=18", replaces values of cost.def and cycles of isa.def. A program
 * that is built without the flag has constant tables and reads nothing. Included by npu.c alone. */
#ifndef NPU_FIT_H
#define NPU_FIT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool set_constant(const char *name, double value)
{
    for (uint32_t i = 0; i < NPU_CONSTANT_COUNT; i++)
        if (!strcmp(npu_fit_constants[i].name, name)) {
            npu_fit_constants[i].value = value;
            return true;
        }
    return false;
}

static bool set_instruction(const char *part, const char *op, double value)
{
    for (uint32_t i = 1; i < NPU_OP_COUNT; i++) {
        NpuIsa *row = &npu_fit_isa[i];
        if (strcmp(row->name, op) != 0)
            continue;
        double *to = !strcmp(part, "isa")    ? &row->per_repeat
                     : !strcmp(part, "head") ? &row->head
                     : !strcmp(part, "tail") ? &row->tail
                                             : NULL;
        if (to)
            *to = value;
        return to;
    }
    return false;
}

__attribute__((constructor)) static void set_costs(void)
{
    const char *text = getenv("ACRAFT_COSTS");
    char copy[8192], *rest = copy, *item;
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    while ((item = strsep(&rest, ","))) {
        char *value = strchr(item, '='), *op = strchr(item, ':');
        if (!value)
            continue;
        *value++ = 0;
        if (op)
            *op++ = 0;
        double number = strtod(value, NULL);
        if (!(op ? set_instruction(item, op, number) : set_constant(item, number))) {
            fprintf(stderr, "ACRAFT_COSTS: no constant %s\n", item);
            exit(2);
        }
    }
}
#endif
