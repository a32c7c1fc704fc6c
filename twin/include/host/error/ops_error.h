/* The operator library's error calls; see log/ops_log.h. */
#pragma once
#include "log/ops_log.h"

#define OPS_REPORT_VECTOR_INNER_ERR(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_REPORT_CUBE_INNER_ERR(name, ...) acraft_ops_log(name, __VA_ARGS__)
#define OPS_ERR_IF(condition, say, act) OPS_CHECK(condition, say, act)
