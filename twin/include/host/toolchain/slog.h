/* The toolkit's log calls, as silence: a tiling function's log is not its result. */
#pragma once
#define OP 63
#define GE 45
#define DLOG_DEBUG 0
#define DLOG_INFO 1
#define DLOG_WARN 2
#define DLOG_ERROR 3
inline int CheckLogLevel(int, int) { return 0; }
template <typename... A> inline void DlogRecord(int, int, const char *, A...) {}
#define dlog_error(module, ...) ((void)0)
#define dlog_warn(module, ...) ((void)0)
#define dlog_info(module, ...) ((void)0)
#define dlog_debug(module, ...) ((void)0)
#define dlog_event(module, ...) ((void)0)
#define DlogSub(module, sub, level, ...) ((void)0)
