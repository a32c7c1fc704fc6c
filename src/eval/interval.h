/* The stated error of a prediction: "predicted 101.0 us, 74.7 to 124.2". */
#ifndef EVAL_INTERVAL_H
#define EVAL_INTERVAL_H

#include "base/buf.h"
#include "npu/npu.h"
#include "verdict/verdict.h"

/* By the pipes that worked: a kernel of vector cores, of cube cores, of both. */
NpuTimeClass eval_time_class(const Verdict *verdict);
/* The interval of verdict->predicted_us; low and high are 0 where nothing is predicted. */
NpuInterval eval_interval(const Verdict *verdict);
/* "101.0 us, 74.7 to 124.2" */
void eval_put_predicted(const Verdict *verdict, Buf *out);

#endif
