/* The operator library's log calls: silence, but their conditions and what follows from them hold.
 * The first argument of each names the operator. */
#pragma once
#include "toolchain/slog.h"

template <typename... Words> inline void acraft_ops_log(const Words &...) {}

#define OPS_LOG_D(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_LOG_I(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_LOG_W(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_LOG_E(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_LOG_E_WITHOUT_REPORT(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_LOG_EVENT(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_LOG_FULL(level, name, ...) acraft_ops_log(level, name, __VA_ARGS__)
#define OPS_LOG_D_FULL(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_LOG_I_FULL(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_LOG_W_FULL(name, ...) acraft_ops_log(name, __VA_ARGS__)

/* Say something and do something, if. */
#define OPS_CHECK(condition, say, act) \
    do {                               \
        if (condition) {               \
            say;                       \
            act;                       \
        }                              \
    } while (0)
#define OPS_LOG_D_IF(condition, name, act, ...) OPS_CHECK(condition, OPS_LOG_D(name, __VA_ARGS__), act)
#define OPS_LOG_I_IF(condition, name, act, ...) OPS_CHECK(condition, OPS_LOG_I(name, __VA_ARGS__), act)
#define OPS_LOG_W_IF(condition, name, act, ...) OPS_CHECK(condition, OPS_LOG_W(name, __VA_ARGS__), act)
#define OPS_LOG_E_IF(condition, name, act, ...) OPS_CHECK(condition, OPS_LOG_E(name, __VA_ARGS__), act)
#define OPS_LOG_EVENT_IF(condition, name, act, ...) OPS_CHECK(condition, OPS_LOG_EVENT(name, __VA_ARGS__), act)
#define OPS_LOG_E_IF_NULL(name, pointer, act) OPS_CHECK((pointer) == nullptr, (void)0, act)
