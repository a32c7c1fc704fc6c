/* Stands in for the header of this name, which the vendor's operators include on the host. */
#pragma once
#include "log/log.h"
#ifndef likely
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif
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
#define OPS_CHECK_NULL_WITH_CONTEXT(context, pointer) OP_CHECK_NULL_WITH_CONTEXT(context, pointer)
