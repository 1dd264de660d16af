#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tiny_model.py FILE [f16|q8_0]: a language model of llama's architecture with random weights, always the same, in
ggml's format GGUF 3: for llama.cpp, which then writes nonsense, the same nonsense every time."""
import random
import struct
import sys

EMBEDDING, LAYERS, FORWARD, HEADS, CONTEXT = 256, 2, 512, 4, 256
UINT32, FLOAT32, STRING, ARRAY, INT32 = 4, 6, 8, 9, 5  # types of values
F32, F16, Q8_0 = 0, 1, 8                               # types of tensors
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6            # kinds of tokens
ALIGNMENT, BLOCK = 32, 32                              # bytes; weights in a block of Q8_0
WORDS = [one + two for one in "abdefgiklmnoprst" for two in "aeiou"]


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def entry(key, kind, value):
    simple = {UINT32: "<I", FLOAT32: "<f", INT32: "<i"}
    if kind == STRING:
        return text(key) + struct.pack("<I", STRING) + text(value)
    if kind == ARRAY:
        of, values = value
        body = b"".join(text(one) if of == STRING else struct.pack(simple[of], one) for one in values)
        return text(key) + struct.pack("<IIQ", ARRAY, of, len(values)) + body
    return text(key) + struct.pack("<I", kind) + struct.pack(simple[kind], value)


def vocabulary():
    """Texts, scores and kinds. Every byte has a token, as SentencePiece wants it."""
    tokens = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)]
    tokens += [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]
    tokens += [("\u2581" + word, NORMAL) for word in WORDS]
    return [one for one, _ in tokens], [-float(at) for at in range(len(tokens))], [kind for _, kind in tokens]


def weights(numbers, kind, count):
    """`count` random weights around 0, packed."""
    if kind == F32:
        return struct.pack(f"<{count}f", *(1 + numbers.uniform(-0.1, 0.1) for _ in range(count)))
    if kind == F16:
        return struct.pack(f"<{count}e", *(numbers.uniform(-0.2, 0.2) for _ in range(count)))
    return b"".join(struct.pack("<e", 0.2 / 127) + struct.pack(f"<{BLOCK}b", *(numbers.randint(-127, 127)
                                                                               for _ in range(BLOCK)))
                    for _ in range(count // BLOCK))


def tensors(kind, words):
    """Names, shapes and types. Those of one dimension are norms."""
    yield "token_embd.weight", (EMBEDDING, words), kind
    for layer in range(LAYERS):
        shapes = {"attn_norm": (EMBEDDING,), "attn_q": (EMBEDDING, EMBEDDING), "attn_k": (EMBEDDING, EMBEDDING),
                  "attn_v": (EMBEDDING, EMBEDDING), "attn_output": (EMBEDDING, EMBEDDING), "ffn_norm": (EMBEDDING,),
                  "ffn_gate": (EMBEDDING, FORWARD), "ffn_up": (EMBEDDING, FORWARD), "ffn_down": (FORWARD, EMBEDDING)}
        for name, shape in shapes.items():
            yield f"blk.{layer}.{name}.weight", shape, kind if len(shape) > 1 else F32
    yield "output_norm.weight", (EMBEDDING,), F32
    yield "output.weight", (EMBEDDING, words), kind


def main():
    kind = {"f16": F16, "q8_0": Q8_0}[sys.argv[2] if len(sys.argv) > 2 else "f16"]
    texts, scores, kinds = vocabulary()
    entries = [entry("general.architecture", STRING, "llama"), entry("general.name", STRING, "tiny"),
               entry("llama.context_length", UINT32, CONTEXT), entry("llama.embedding_length", UINT32, EMBEDDING),
               entry("llama.block_count", UINT32, LAYERS), entry("llama.feed_forward_length", UINT32, FORWARD),
               entry("llama.attention.head_count", UINT32, HEADS),
               entry("llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-5),
               entry("llama.rope.dimension_count", UINT32, EMBEDDING // HEADS),
               entry("llama.vocab_size", UINT32, len(texts)),
               entry("tokenizer.ggml.model", STRING, "llama"), entry("tokenizer.ggml.tokens", ARRAY, (STRING, texts)),
               entry("tokenizer.ggml.scores", ARRAY, (FLOAT32, scores)),
               entry("tokenizer.ggml.token_type", ARRAY, (INT32, kinds)),
               entry("tokenizer.ggml.bos_token_id", UINT32, 1), entry("tokenizer.ggml.eos_token_id", UINT32, 2)]
    numbers = random.Random(7)
    heads, data = [], b""
    for name, shape, one in tensors(kind, len(texts)):
        count = 1
        for length in shape:
            count *= length
        heads.append(text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, one, len(data)))
        data += weights(numbers, one, count)
        data += bytes(-len(data) % ALIGNMENT)
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(heads), len(entries)) + b"".join(entries) + b"".join(heads)
    with open(sys.argv[1], "wb") as file:
        file.write(head + bytes(-len(head) % ALIGNMENT) + data)


if __name__ == "__main__":
    main()
