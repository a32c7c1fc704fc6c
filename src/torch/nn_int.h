/* Constructors and calls of the library modules in nn.def, by file. */
#ifndef TORCH_NN_INT_H
#define TORCH_NN_INT_H

#include "torch/nn.h"

NnMake make_batch_norm;
NnMake make_bilinear;
NnMake make_cell;
NnMake make_conv;
NnMake make_conv_transpose;
NnMake make_dict;
NnMake make_embedding;
NnMake make_encoder;
NnMake make_encoder_layer;
NnMake make_group_norm;
NnMake make_instance_norm;
NnMake make_layer_norm;
NnMake make_linear;
NnMake make_list;
NnMake make_mha;
NnMake make_prelu;
NnMake make_rnn;
NnCall nn_batch_norm;
NnCall nn_bilinear;
NnCall nn_cell;
NnCall nn_conv;
NnCall nn_encoder;
NnCall nn_encoder_layer;
NnCall nn_embedding_bag;
NnCall nn_identity;
NnCall nn_instance_norm;
NnCall nn_mha;
NnCall nn_no_forward;
NnCall nn_pad;
NnCall nn_rnn;
NnCall nn_sequential;
NnCall nn_unflatten;

/* Calls the function with the inputs of `call`, its other arguments from attributes. */
PyVal nn_by_function(Args *a, const char *path, const CallArgs *call);
/* A module of a library class as attribute `name`. */
void self_module(Args *a, const char *name, const char *row, uint32_t n, const PyVal *v);

#endif
