/* Stands in for the header of this name; see log/log.h. */
#pragma once
#include "log/log.h"
#define CUBE_INNER_ERR_REPORT(...) ((void)0)
#define VECTOR_INNER_ERR_REPORT_TILIING(...) ((void)0)
#define OPS_LOG_D(...) ((void)0)
#define OPS_LOG_I(...) ((void)0)
#define OPS_LOG_W(...) ((void)0)
#define OPS_LOG_E(...) ((void)0)
#define OP_TILING_CHECK(condition, message, action)                                                \
    do {                                                                                           \
        if (condition) {                                                                           \
            message;                                                                               \
            action;                                                                                \
        }                                                                                          \
    } while (0)
