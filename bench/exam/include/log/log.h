/* Stands in for the header of this name that the vendor's operators include on the host: messages are
 * dropped, checks keep what they do. Used by bench/exam alone. */
#ifndef EXAM_LOG_H
#define EXAM_LOG_H
#include "exe_graph/runtime/tiling_context.h"
#include <string>
/* Chips that the host code names and the twin does not have. */
#define KIRINX90 ASCEND910_55
#define KIRIN9030 ASCEND910_55
#ifndef likely
#define likely(x) (x)
#define unlikely(x) (x)
#endif

#define OP_LOGD(...) ((void)0)
#define OP_LOGI(...) ((void)0)
#define OP_LOGW(...) ((void)0)
#define OP_LOGE(...) ((void)0)
#define D_OP_LOGD(...) ((void)0)
#define D_OP_LOGI(...) ((void)0)
#define D_OP_LOGW(...) ((void)0)
#define D_OP_LOGE(...) ((void)0)
#define OP_LOGE_WITHOUT_REPORT(...) ((void)0)
#define OP_LOGE_FOR_INVALID_DTYPE(...) ((void)0)
#define OP_LOGE_FOR_INVALID_DTYPES_WITH_REASON(...) ((void)0)
#define OP_LOGE_FOR_INVALID_DTYPE_WITH_REASON(...) ((void)0)
#define OP_LOGE_FOR_INVALID_FORMAT(...) ((void)0)
#define OP_LOGE_FOR_INVALID_FORMATS_WITH_REASON(...) ((void)0)
#define OP_LOGE_FOR_INVALID_FORMAT_WITH_REASON(...) ((void)0)
#define OP_LOGE_FOR_INVALID_SHAPE(...) ((void)0)
#define OP_LOGE_FOR_INVALID_SHAPEDIM(...) ((void)0)
#define OP_LOGE_FOR_INVALID_SHAPEDIMS_WITH_REASON(...) ((void)0)
#define OP_LOGE_FOR_INVALID_SHAPEDIM_WITH_REASON(...) ((void)0)
#define OP_LOGE_FOR_INVALID_SHAPESIZE(...) ((void)0)
#define OP_LOGE_FOR_INVALID_SHAPESIZES_WITH_REASON(...) ((void)0)
#define OP_LOGE_FOR_INVALID_SHAPESIZE_WITH_REASON(...) ((void)0)
#define OP_LOGE_FOR_INVALID_SHAPES_WITH_REASON(...) ((void)0)
#define OP_LOGE_FOR_INVALID_SHAPE_WITH_REASON(...) ((void)0)
#define OP_LOGE_FOR_INVALID_TENSORNUM(...) ((void)0)
#define OP_LOGE_FOR_INVALID_TENSORNUMS_WITH_REASON(...) ((void)0)
#define OP_LOGE_FOR_INVALID_VALUE(...) ((void)0)
#define OP_LOGE_FOR_INVALID_VALUES_WITH_REASON(...) ((void)0)
#define OP_LOGE_FOR_INVALID_VALUE_WITH_REASON(...) ((void)0)
#define OP_LOGE_IF(condition, value, ...)                                                          \
    do {                                                                                           \
        if (condition)                                                                             \
            return value;                                                                          \
    } while (0)
#define OP_CHECK_IF(condition, message, action)                                                    \
    do {                                                                                           \
        if (condition) {                                                                           \
            message;                                                                               \
            action;                                                                                \
        }                                                                                          \
    } while (0)
#define OP_CHECK_NULL_WITH_CONTEXT(context, pointer)                                               \
    do {                                                                                           \
        if ((pointer) == nullptr)                                                                  \
            return ge::GRAPH_FAILED;                                                               \
    } while (0)
#define REPORT_INNER_ERR_MSG(...) ((void)0)
#define REPORT_PREDEFINED_ERR_MSG(...) ((void)0)
#define REPORT_USER_ERR_MSG(...) ((void)0)

namespace Ops { namespace Base {
template <class T> std::string ToString(const T &) { return {}; }
template <class T> const char *GetOpInfo(const T &) { return ""; }
inline const char *GetSafeStr(const char *text) { return text; }
} }
#endif
