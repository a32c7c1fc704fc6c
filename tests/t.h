/* The test harness: what every tests/FOLDER/NAME_test.c includes. tests/t.c holds main().
 *
 *     T_TEST(vec_grows)
 *     {
 *         CHECK(v.len == 3);
 *         CHECK_EQ_INT(v.at[0], 7);
 *     }
 *
 * Each test runs in a child process of its own, so that a crash or a hang costs only that test.
 * A failed CHECK prints its place and the test goes on; REQUIRE ends the test. Only failures are
 * printed, then one line `N passed, N failed`.
 *
 *     T_FILTER=a,b    only the tests whose name contains one of the texts
 *     T_SKIP=a,b      without these
 *     T_SECONDS=n     processor time of one test and of each process it starts (60); by the clock it
 *                     may take six times as long. 0: no limit; under a debugger there is none
 *     T_TIMES=file    adds a line to the file for each test: its processor seconds and name
 *     T_NOFORK=1      everything in one process, for a debugger
 */
#ifndef TESTS_T_H
#define TESTS_T_H

#include "base/attr.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

typedef void TestFunction(void);

void t_register(const char *name, const char *file, TestFunction *function);
/* These return whether the check held. */
bool t_check(const char *file, int line, bool held, const char *text);
bool t_check_msg(const char *file, int line, bool held, const char *format, ...) ATTR_PRINTF(4, 5);
bool t_check_int(const char *file, int line, const char *text, long long got, long long want);
bool t_check_str(const char *file, int line, const char *text, const char *got, const char *want);
bool t_check_slice(const char *file, int line, const char *text, Str got, const char *want);
bool t_check_near(const char *file, int line, const char *text, double got, double want,
                  double tolerance);
ATTR_NORETURN void t_stop(void);
/* Ends the test and counts it as neither passed nor failed; says why. */
ATTR_NORETURN void t_skip(const char *why);

#define T_TEST(name)                                                                          \
    static void name(void);                                                                   \
    ATTR_CONSTRUCTOR static void register_##name(void) { t_register(#name, __FILE__, name); } \
    static void name(void)

#define CHECK(cond) t_check(__FILE__, __LINE__, (cond), #cond)
#define CHECK_MSG(cond, ...) t_check_msg(__FILE__, __LINE__, (cond), __VA_ARGS__)
#define CHECK_EQ_INT(got, want) \
    t_check_int(__FILE__, __LINE__, #got, (long long)(got), (long long)(want))
/* Zero-terminated text; on a mismatch of long text the first differing line is shown. */
#define CHECK_EQ_STR(got, want) t_check_str(__FILE__, __LINE__, #got, (got), (want))
#define CHECK_EQ_SLICE(got, want) t_check_slice(__FILE__, __LINE__, #got, (got), (want))
#define CHECK_NEAR(got, want, tolerance) \
    t_check_near(__FILE__, __LINE__, #got, (double)(got), (double)(want), (tolerance))
#define REQUIRE(cond) ((void)(t_check(__FILE__, __LINE__, (cond), #cond) || (t_stop(), 0)))

#endif
