#!/usr/bin/env python3
"""Draws answers of a checkpoint on a GPU, many at once, or says which kinds of tokens it gets wrong.

    tools/nn_sample.py draw RUN tokenizer.json QUESTIONS.jsonl SAMPLES.jsonl [-n 8] [--most 500] [--temperature 0.8]
    tools/nn_sample.py check RUN tokenizer.json ROWS.jsonl [--most 256]

RUN holds config.json and model.safetensors as `acraft train sft` writes them. `acraft data score --gen file
--from SAMPLES.jsonl` judges what was drawn. Needs torch, safetensors and tokenizers."""
import argparse
import collections
import json
import re
import time

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DTYPE = torch.bfloat16 if DEVICE == "cuda" else torch.float32
PREFILL = 64  # prompts that are read together


class Model:
    """Qwen3 dense in bf16 with a cache of fixed length."""

    def __init__(self, run):
        self.c = c = json.load(open(f"{run}/config.json"))
        w = load_file(f"{run}/model.safetensors")
        self.w = {k: v.to(DEVICE, DTYPE) for k, v in w.items()}
        self.layers, self.heads, self.kv = c["num_hidden_layers"], c["num_attention_heads"], c["num_key_value_heads"]
        self.dim = c.get("head_dim") or c["hidden_size"] // self.heads
        self.eps = c["rms_norm_eps"]
        theta = c.get("rope_theta") or c["rope_parameters"]["rope_theta"]
        inv = theta ** (-torch.arange(0, self.dim, 2, device=DEVICE).float() / self.dim)
        angles = torch.arange(c["max_position_embeddings"], device=DEVICE).float()[:, None] * inv
        self.cos = torch.cat([angles.cos()] * 2, 1)
        self.sin = torch.cat([angles.sin()] * 2, 1)

    def norm(self, x, w):
        x = x.float()
        return (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps)).to(DTYPE) * w

    def turn(self, x, cos, sin):
        half = self.dim // 2
        other = torch.cat([-x[..., half:], x[..., :half]], -1)
        return (x.float() * cos + other.float() * sin).to(DTYPE)

    def attend_one(self, q, k, v, mask):
        """One query a head, [B, heads, 1, dim]: those that share keys stand beside each other, nothing is repeated."""
        B = q.shape[0]
        q = q.reshape(B, self.kv, self.heads // self.kv, self.dim)
        z = (q @ k.transpose(2, 3)).float() * self.dim ** -0.5
        z = torch.softmax(z.masked_fill(~mask, float("-inf")), -1).to(DTYPE)
        return (z @ v).reshape(B, self.heads, 1, self.dim)

    def run(self, ids, position, cache, mask, at):
        """ids [B, T], position [B, T]; keys and values go to column `at` .. of the cache."""
        B, T = ids.shape
        x = self.w["model.embed_tokens.weight"][ids]
        cos, sin = self.cos[position][:, None], self.sin[position][:, None]
        for i in range(self.layers):
            p = f"model.layers.{i}."
            h = self.norm(x, self.w[p + "input_layernorm.weight"])
            q = F.linear(h, self.w[p + "self_attn.q_proj.weight"]).view(B, T, self.heads, self.dim)
            k = F.linear(h, self.w[p + "self_attn.k_proj.weight"]).view(B, T, self.kv, self.dim)
            v = F.linear(h, self.w[p + "self_attn.v_proj.weight"]).view(B, T, self.kv, self.dim)
            q = self.turn(self.norm(q, self.w[p + "self_attn.q_norm.weight"]).transpose(1, 2), cos, sin)
            k = self.turn(self.norm(k, self.w[p + "self_attn.k_norm.weight"]).transpose(1, 2), cos, sin)
            v = v.transpose(1, 2)
            if cache is not None:
                cache[i][0][:, :, at:at + T] = k
                cache[i][1][:, :, at:at + T] = v
                k, v = cache[i][0][:, :, :at + T], cache[i][1][:, :, :at + T]
            if T == 1:
                y = self.attend_one(q, k, v, mask)
            else:
                y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
            x = x + F.linear(y.transpose(1, 2).reshape(B, T, -1), self.w[p + "self_attn.o_proj.weight"])
            h = self.norm(x, self.w[p + "post_attention_layernorm.weight"])
            h = F.silu(F.linear(h, self.w[p + "mlp.gate_proj.weight"])) * F.linear(h, self.w[p + "mlp.up_proj.weight"])
            x = x + F.linear(h, self.w[p + "mlp.down_proj.weight"])
        return self.norm(x, self.w["model.norm.weight"])

    def logits(self, x):
        return F.linear(x, self.w.get("lm_head.weight", self.w["model.embed_tokens.weight"])).float()


def rows_of(path, most):
    rows = []
    for line in open(path):
        row = json.loads(line)
        if row["kind"] == "write":
            rows.append(row)
        if len(rows) == most:
            break
    return rows


@torch.no_grad()
def draw_batch(model, prompts, longest, temperature, end, generator):
    """Prompts are padded on the left, so that all answers grow in one column."""
    B, T = len(prompts), max(map(len, prompts))
    pad = torch.tensor([T - len(p) for p in prompts], device=DEVICE)
    ids = torch.tensor([[0] * (T - len(p)) + p for p in prompts], device=DEVICE)
    full = T + longest
    cache = [[torch.zeros(B, model.kv, full, model.dim, device=DEVICE, dtype=DTYPE) for _ in "kv"]
             for _ in range(model.layers)]
    column = torch.arange(full, device=DEVICE)
    seen = column[None] >= pad[:, None]
    causal = column[:T, None] >= column[None, :T]
    diagonal = torch.eye(T, device=DEVICE, dtype=torch.bool)
    position = (column[None, :T] - pad[:, None]).clamp(min=0)
    last = []
    for i in range(0, B, PREFILL):  # the masks of many prompts at once would fill the memory
        part = slice(i, i + PREFILL)
        mask = (seen[part, None, None, :T] & causal) | diagonal
        last.append(model.run(ids[part], position[part], [[t[part] for t in c] for c in cache], mask, 0)[:, -1])
    x = torch.cat(last)
    answers = torch.full((B, longest), end, device=DEVICE)
    done = torch.zeros(B, device=DEVICE, dtype=torch.bool)
    for k in range(longest):
        z = model.logits(x)
        if temperature > 0:
            token = torch.multinomial(torch.softmax(z / temperature, -1), 1, generator=generator)[:, 0]
        else:
            token = z.argmax(-1)
        token = torch.where(done, end, token)
        done |= token == end
        answers[:, k] = token
        if k + 1 == longest or (k % 32 == 31 and bool(done.all())):
            break
        x = model.run(token[:, None], (T + k - pad)[:, None], cache, seen[:, None, None, :T + k + 1], T + k)[:, 0]
    return answers.tolist()


def draw(a):
    model, tokenizer = Model(a.run), Tokenizer.from_file(a.tokenizer)
    end = tokenizer.token_to_id("<|endoftext|>")
    rows = rows_of(a.rows, a.most)
    ids = [[tokenizer.encode(m["content"]).ids for m in r["messages"][:2]] for r in rows]
    jobs = [(r, q, len(s)) for r, (q, s) in zip(rows, ids) for _ in range(a.n)]
    jobs.sort(key=lambda j: j[2])  # by the rows' own answers, so that answers of a batch end at about the same time
    generator = torch.Generator(DEVICE).manual_seed(a.seed)
    start, drawn = time.time(), 0
    with open(a.out, "w") as out:
        for i in range(0, len(jobs), a.batch):
            part = jobs[i:i + a.batch]
            longest = min(a.longest, 2 * max(n for _, _, n in part) + 64)
            longest = min(longest, model.c["max_position_embeddings"] - max(len(p) for _, p, _ in part))
            drawn_ids = draw_batch(model, [p for _, p, _ in part], longest, a.temperature, end, generator)
            for (row, _, _), ids in zip(part, drawn_ids):
                ids = ids[:ids.index(end)] if end in ids else ids
                drawn += len(ids)
                text = tokenizer.decode(ids).replace("\0", "\ufffd")  # readers of JSON refuse it
                question, row = row["messages"][0], {k: v for k, v in row.items() if k != "messages"}
                row["messages"] = [question, {"role": "assistant", "content": text}]
                out.write(json.dumps(row) + "\n")
    print(f"{len(jobs)} samples, {drawn} tokens in {time.time() - start:.1f} s")


def kind_of(text):
    if re.fullmatch(r"\d", text):
        return "digit"
    if re.fullmatch(r"[\W_]+", text):
        return "sign"
    return "word"


@torch.no_grad()
def check(a):
    """Which tokens of the rows' own answers are not the most likely ones, by the line they stand in."""
    model, tokenizer = Model(a.run), Tokenizer.from_file(a.tokenizer)
    right, all_, worst, whole = collections.Counter(), collections.Counter(), collections.Counter(), 0
    rows = rows_of(a.rows, a.most)
    for row in rows:
        q = tokenizer.encode(row["messages"][0]["content"]).ids
        s = tokenizer.encode(row["messages"][1]["content"]).ids
        ids = torch.tensor([q + s], device=DEVICE)
        T = ids.shape[1]
        mask = torch.ones(1, 1, T, T, device=DEVICE, dtype=torch.bool).tril()
        z = model.logits(model.run(ids, torch.arange(T, device=DEVICE)[None], None, mask, 0))[0, len(q) - 1:-1]
        best = z.argmax(-1).tolist()
        line, good = "", True
        for want, got in zip(s, best):
            text = tokenizer.decode([want])
            kind = (re.sub(r"\d+", "#", line.strip().split(" ")[0].split("(")[0].split("[")[0])[:12], kind_of(text))
            all_[kind] += 1
            right[kind] += want == got
            good &= want == got
            line = text.split("\n")[-1] if "\n" in text else line + text
        whole += good
    n = sum(all_.values())
    print(f"{len(rows)} rows: {100 * sum(right.values()) / n:.2f} % of {n} tokens, {100 * whole / len(rows):.1f} % of the rows whole")
    missed = sorted(all_, key=lambda k: right[k] - all_[k])[:30]
    for k in missed:
        print(f"  {k[0]:14} {k[1]:6} {all_[k] - right[k]:6} of {all_[k]:7} missed ({100 * (1 - right[k] / all_[k]):.1f} %)")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["draw", "check"])
    p.add_argument("run")
    p.add_argument("tokenizer")
    p.add_argument("rows")
    p.add_argument("out", nargs="?")
    p.add_argument("-n", type=int, default=8)
    p.add_argument("--most", type=int, default=500)
    p.add_argument("--batch", type=int, default=1024)
    p.add_argument("--longest", type=int, default=1400)
    p.add_argument("--temperature", type=float, default=0.8)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    draw(a) if a.what == "draw" else check(a)


if __name__ == "__main__":
    main()
