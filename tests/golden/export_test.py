#!/usr/bin/env python3
"""export_test.py EXPORT_CASE: computes our exported models with plain PyTorch, as GPT-2, ALBERT, Llama
and Mixtral."""

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


def turned(x, heads):
    """Rotary positions: each head's halves turn by angles that grow with the position."""
    batch, length, width = x.shape
    half = width // heads // 2
    angles = torch.outer(torch.arange(length), 10000.0 ** (-torch.arange(half) / half)).view(length, 1, half)
    first, second = x.view(batch, length, heads, 2 * half).split(half, dim=3)
    pair = (first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin())
    return torch.cat(pair, dim=3).view(batch, length, width)


def gated(x, weights, gate, up, down):
    return F.linear(F.silu(F.linear(x, weights[gate])) * F.linear(x, weights[up]), weights[down])


def experts(x, weights, config, block):
    """Mixtral's: softmax over all, of which the largest are kept and made to add up to 1."""
    shares = F.linear(x, weights[block + "gate.weight"]).softmax(-1)
    kept, chosen = shares.topk(config["num_experts_per_tok"], -1)
    shares = torch.zeros_like(shares).scatter(-1, chosen, kept / kept.sum(-1, True))
    names = (tuple(f"{block}experts.{expert}.w{part}.weight" for part in (1, 3, 2)) for expert in range(shares.shape[-1]))
    return sum(gated(x, weights, *name) * shares[..., expert, None] for expert, name in enumerate(names))


def llama(weights, config, words):
    """Scores of LlamaForCausalLM and MixtralForCausalLM."""
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    norm = lambda x, n: x * (x.square().mean(-1, True) + config["rms_norm_eps"]).rsqrt() * weights[n + ".weight"]
    linear = lambda x, n: F.linear(x, weights[n + ".weight"])

    def shared(x):  # each head of keys and values stands for as many of the queries'
        parts = x.view(*x.shape[:2], kv_heads, -1).repeat_interleave(heads // kv_heads, 2)
        return parts.reshape(*x.shape[:2], -1)

    x = weights["model.embed_tokens.weight"][words]
    for layer in range(config["num_hidden_layers"]):
        block = f"model.layers.{layer}."
        inner = norm(x, block + "input_layernorm")
        query, key, value = (linear(inner, f"{block}self_attn.{name}_proj") for name in "qkv")
        mixed = attend(turned(query, heads), shared(turned(key, kv_heads)), shared(value), heads, causal=True)
        x = x + linear(mixed, block + "self_attn.o_proj")
        inner = norm(x, block + "post_attention_layernorm")
        if "num_local_experts" in config:
            x = x + experts(inner, weights, config, block + "block_sparse_moe.")
        else:
            x = x + gated(inner, weights, *(f"{block}mlp.{name}_proj.weight" for name in ("gate", "up", "down")))
    output = "model.embed_tokens" if config["tie_word_embeddings"] else "lm_head"
    return linear(norm(x, "model.norm"), output)


def llama_difference(model, weights, config, case, gradient):
    """The largest difference of a score, and of a gradient relative to its tensor's largest."""
    for tensor in weights.values():
        tensor.requires_grad_(True)
    scores = llama(weights, config, case["words"])
    loss = F.cross_entropy(scores.flatten(0, 1), case["targets"].flatten(), reduction="sum") / scores.shape[1]
    loss.backward()
    differences = [(scores - case["scores"]).abs().max().item()]
    assert weights.keys() == gradient.keys()
    for name, tensor in weights.items():
        if "grid" in model and name.endswith("gate.weight"):
            continue  # of sums of rows and columns, which have gradients of their own
        differences.append(((tensor.grad - gradient[name]).abs().max() / tensor.grad.abs().max()).item())
    return max(differences)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([sys.argv[1], folder], check=True)
        for model in ("gpt2", "albert", "llama_tied", "llama", "mixtral", "mixtral_grid"):
            weights = read_tensors(folder / model / "model.safetensors")
            config = json.loads((folder / model / "config.json").read_text())
            case = read_tensors(folder / model / "case.safetensors")
            if model == "gpt2":
                difference = (gpt2(weights, config, case["words"]) - case["scores"]).abs().max().item()
            elif model not in ("gpt2", "albert"):
                gradient = read_tensors(folder / model / "gradient.safetensors")
                difference = llama_difference(model, weights, config, case, gradient)
            else:
                difference = abs(albert_loss(weights, config, case).item() - case["loss"].item())
            print(f"{model}: differs by {difference:.2e} at most")
            assert difference <= 1e-4


main()
