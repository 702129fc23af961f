#!/usr/bin/env python3
"""export_test.py EXPORT_CASE: computes our exported models with plain PyTorch, as GPT-2 and ALBERT."""

import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError:
    print("skipped: python3-torch is not installed")
    sys.exit(77)

F = torch.nn.functional
TYPES = {"F32": torch.float32, "I64": torch.int64}


def read_tensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, info in header.items():
        begin, end = (8 + length + at for at in info["data_offsets"])
        values = torch.frombuffer(bytearray(data[begin:end]), dtype=TYPES[info["dtype"]])
        tensors[name] = values.reshape(info["shape"])
    return tensors


def attend(query, key, value, heads, causal):
    batch, length, width = query.shape
    query, key, value = (x.view(batch, length, heads, width // heads).transpose(1, 2) for x in (query, key, value))
    scores = query @ key.transpose(-1, -2) / math.sqrt(width // heads)
    if causal:
        scores = scores.masked_fill(torch.ones(length, length, dtype=torch.bool).triu(1), -math.inf)
    return (scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, length, width)


def gelu_new(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def gpt2(weights, config, words):
    """Scores of GPT2LMHeadModel; its Conv1D multiplies by a weight stored [in, out]."""
    norm = lambda x, n: F.layer_norm(x, x.shape[-1:], weights[n + ".weight"], weights[n + ".bias"], 1e-5)
    conv = lambda x, n: x @ weights[n + ".weight"] + weights[n + ".bias"]
    table = weights["transformer.wte.weight"]
    x = table[words] + weights["transformer.wpe.weight"][: words.shape[1]]
    for layer in range(config["n_layer"]):
        block = f"transformer.h.{layer}."
        parts = conv(norm(x, block + "ln_1"), block + "attn.c_attn").split(config["n_embd"], dim=2)
        x = x + conv(attend(*parts, config["n_head"], causal=True), block + "attn.c_proj")
        x = x + conv(gelu_new(conv(norm(x, block + "ln_2"), block + "mlp.c_fc")), block + "mlp.c_proj")
    return norm(x, "transformer.ln_f") @ table.T


def albert_loss(weights, config, case):
    """The loss of AlbertForPreTraining: that of the masked tokens plus that of the order."""
    norm = lambda x, n: F.layer_norm(x, x.shape[-1:], weights[n + ".weight"], weights[n + ".bias"], 1e-12)
    linear = lambda x, n: F.linear(x, weights[n + ".weight"], weights[n + ".bias"])
    begin = "albert.embeddings."
    table = weights[begin + "word_embeddings.weight"]
    x = table[case["words"]] + weights[begin + "token_type_embeddings.weight"][case["segments"]]
    x = norm(x + weights[begin + "position_embeddings.weight"][: x.shape[1]], begin + "LayerNorm")
    x = linear(x, "albert.encoder.embedding_hidden_mapping_in")
    block = "albert.encoder.albert_layer_groups.0.albert_layers.0."
    for _ in range(config["num_hidden_layers"]):
        parts = (linear(x, block + "attention." + name) for name in ("query", "key", "value"))
        mixed = attend(*parts, config["num_attention_heads"], causal=False)
        x = norm(x + linear(mixed, block + "attention.dense"), block + "attention.LayerNorm")
        inner = linear(gelu_new(linear(x, block + "ffn")), block + "ffn_output")
        x = norm(inner + x, block + "full_layer_layer_norm")
    guess = norm(gelu_new(linear(x, "predictions.dense")), "predictions.LayerNorm")
    scores = F.linear(guess, table, weights["predictions.bias"])
    words = F.cross_entropy(scores[0][case["places"][0]], case["guesses"][0])
    pooled = torch.tanh(linear(x[:, 0], "albert.pooler"))
    return words + F.cross_entropy(linear(pooled, "sop_classifier.classifier"), case["order"])


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([sys.argv[1], folder], check=True)
        for model in ("gpt2", "albert"):
            weights = read_tensors(folder / model / "model.safetensors")
            config = json.loads((folder / model / "config.json").read_text())
            case = read_tensors(folder / model / "case.safetensors")
            if model == "gpt2":
                difference = (gpt2(weights, config, case["words"]) - case["scores"]).abs().max().item()
            else:
                difference = abs(albert_loss(weights, config, case).item() - case["loss"].item())
            print(f"{model}: differs by {difference:.2e} at most")
            assert difference <= 1e-4


main()
