#!/usr/bin/env python3
"""Token ids from the tokenizers package that src/nn's tokenizer is tested against.

    tools/nn_tokens.py golden       rewrites tests/nn/golden/tokenizer.json and tokens.txt (committed)
    tools/nn_tokens.py compare DIR [FILE.json]
                                    10,000 random and multilingual strings into DIR, with the ids that
                                    tokenizer FILE.json gives them (default: one trained here); then
                                        NN_TOKENS=DIR make test-nn T_FILTER=tokens_of
Each line of tokens.txt is a text in hexadecimal, a tab, and its ids.
"""
import os, random, sys
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "tests", "nn", "golden")
SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
         r"\s*[\r\n]+|\s+(?!\S)|\s+")
SAMPLES = [
    "Hello world", " Hello world", "It's we'RE they'Ll I'D 'ſ x'", "def f(x):\n    return x + 1\n\n\n",
    "a  b   c    ", "\t\tx\r\n\r\n y", "1234567890 3.14e-10", "…—«quotes» ¿qué? ¡sí!", "naïve café cafe\u0301",
    "Å A\u030a \u212b", "한국어 \u1112\u1161\u11ab 조합", "日本語のテキスト、漢字かな交じり文。", "中文标记化测试", "Русский текст ещё",
    "العربية نص", "עברית", "हिन्दी क्षत्रिय", "ไทย ภาษา", "Ελληνικά ὦ", "👩‍👩‍👧 🇩🇪 ✈️", "½ ² Ⅷ ५", "\u00a0\u2003\u3000x\u200b",
    "q\u0307\u0323 \u1e69 s\u0323\u0307", "<|im_start|>user\nHi<|im_end|>\n", "<|im_start|><|im_start", "x<tool>y</tool>",
    "≮ <\u0338 \u0344 \u0f73\u0f71", "", " ", "\n", "\r", "''''", "a'b'c'", "'S'T'RE", "ǅǈ ʰ ª º", "𝒳𝓎 𐍈 𠀀",
]


def corpus():
    root = os.path.join(HERE, "..")
    for folder in ("examples", "docs", "tasks"):
        for path, _, files in sorted(os.walk(os.path.join(root, folder))):
            for name in sorted(files):
                if name.endswith((".craft", ".md", ".py")):
                    yield open(os.path.join(path, name), encoding="utf-8", errors="replace").read()


def train(texts, size):
    t = Tokenizer(models.BPE())
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(SPLIT), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    t.add_special_tokens([AddedToken(s, normalized=False) for s in ("<|endoftext|>", "<|im_start|>", "<|im_end|>")])
    t.add_tokens([AddedToken(s, normalized=False) for s in ("<tool>", "</tool>")])
    return t


def random_text(rng, sources):
    kind = rng.randrange(7)
    n = rng.randrange(1, 60)
    point = lambda top: chr(next(c for c in iter(lambda: rng.randrange(top), None) if not 0xD800 <= c < 0xE000))
    if kind == 0:
        return "".join(point(0x110000) for _ in range(n))
    if kind == 1:
        return "".join(point(0x300) for _ in range(n))
    if kind == 2:
        return "".join(point(0x3000) for _ in range(n))
    if kind == 3:
        return "".join(rng.choice(["a", "\u0300", "\u0323", "\u0345", "\u0301", "e", "\u1100", "\u1161", "\u11a8", "가", "ạ", " "])
                       for _ in range(n))
    if kind == 4:
        return "".join(rng.choice([" ", "\n", "\r", "\t", "x", "'", "s", "ſ", "L", "l", "1", ".", "\u3000", "é"]) for _ in range(n))
    if kind == 5:
        return "".join(rng.choice(SAMPLES) for _ in range(rng.randrange(1, 5)))
    text = rng.choice(sources)
    at = rng.randrange(max(1, len(text)))
    return text[at:at + 10 * n]


def write_ids(tokenizer, texts, path):
    with open(path, "w") as out:
        for text in texts:
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            out.write(text.encode().hex() + "\t" + " ".join(map(str, ids)) + "\n")


def main(args):
    if args == ["golden"]:
        t = train(SAMPLES * 3 + list(corpus())[:20], 400)
        t.save(os.path.join(GOLDEN, "tokenizer.json"), pretty=False)
        write_ids(t, SAMPLES, os.path.join(GOLDEN, "tokens.txt"))
    elif args[:1] == ["compare"] and len(args) in (2, 3):
        os.makedirs(args[1], exist_ok=True)
        sources = list(corpus())
        t = Tokenizer.from_file(args[2]) if len(args) == 3 else train(sources + SAMPLES * 3, 3000)
        t.save(os.path.join(args[1], "tokenizer.json"))
        rng = random.Random(1)
        write_ids(t, SAMPLES + [random_text(rng, sources) for _ in range(10000)], os.path.join(args[1], "tokens.txt"))
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
