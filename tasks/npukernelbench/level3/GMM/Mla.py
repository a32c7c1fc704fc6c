"""Attention of each sequence's queries over its keys in a paged cache, in float32. Query and key
have a part without and a part with rotary position, the values are the first part of the keys;
one head of the cache serves all heads of the query.

in   query_nope    f16 bf16
in   query_rope    f16 bf16
in   kv_nope_cache f16 bf16
in   kv_rope_cache f16 bf16
in   block_tables  i32*2
attr q_seqlen_list ints
attr k_seqlen_list ints
out  out           f16 bf16
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, query_nope, query_rope, kv_nope_cache, kv_rope_cache, block_tables,
                q_seqlen_list, k_seqlen_list):
        query = torch.cat([query_nope, query_rope], dim=-1).float()
        cache = torch.cat([kv_nope_cache, kv_rope_cache], dim=-1).float()
        heads, kv_heads = query.shape[1], cache.shape[2]
        result, first = [], 0
        for i, (q_len, k_len) in enumerate(zip(q_seqlen_list, k_seqlen_list)):
            keys = cache[block_tables[i].long()].flatten(0, 1)[:k_len].permute(1, 0, 2)
            values = keys[:, :, : kv_nope_cache.shape[3]]
            q = query[first : first + q_len].permute(1, 0, 2).reshape(kv_heads, -1, query.shape[2])
            scores = torch.matmul(q, keys.transpose(1, 2)) * (1.0 / keys.shape[2] ** 0.5)
            out = torch.matmul(torch.softmax(scores, dim=-1), values)
            result.append(out.reshape(heads, q_len, -1).permute(1, 0, 2))
            first += q_len
        return torch.cat(result).to(query_nope.dtype)


def get_inputs(case):
    batch, q_len, k_len = case["batch"], case["q_seqlen"], case["kv_seqlen"]
    heads, kv_heads, size, rope = case["heads"], case["kv_heads"], case["head_size"], case["rope"]
    dtype, tokens = getattr(torch, case["dtype"]), batch * q_len
    pages = (k_len + case["block_size"] - 1) // case["block_size"]
    cache = [case["blocks"], case["block_size"], kv_heads]
    return [torch.rand(tokens, heads, size, dtype=dtype) * 2 - 1,
            torch.rand(tokens, heads, rope, dtype=dtype) * 2 - 1,
            torch.rand(cache + [size], dtype=dtype) * 2 - 1,
            torch.rand(cache + [rope], dtype=dtype) * 2 - 1,
            torch.arange(batch * pages, dtype=torch.int32).view(batch, pages), [q_len] * batch,
            [k_len] * batch]
