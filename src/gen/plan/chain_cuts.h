/* Which cuts of a task take the least time: for chain.c. */
#ifndef GEN_PLAN_CHAIN_CUTS_H
#define GEN_PLAN_CHAIN_CUTS_H

#include "gen/plan/chain.h"

/* The stages that take the least time together, in the order of c->g; *us: how long. False: it is not less
 * than `than`, or some node is in no stage. */
bool chain_cut(Chain *c, double than, double *us);

/* Parts of chain.c. */

/* Plans nodes from..to-1, or finds the plan of a stage that computes the same. */
bool chain_plan_stage(Chain *c, uint32_t from, uint32_t to, ChainStage *stage, Diag *said);
/* Finds it without planning. False: nothing that computes the same was planned. */
bool chain_known_stage(Chain *c, uint32_t from, uint32_t to, ChainStage *stage);
/* Whether these nodes may be a stage at all: not the whole task, and not what has nothing in common. */
bool chain_may_be_stage(const Chain *c, uint32_t from, uint32_t to);
/* Elements in the same order: no kernel is needed. */
bool chain_is_free(const Chain *c, const Node *node);
void chain_take_root(Chain *c, const Node *node);

#endif
