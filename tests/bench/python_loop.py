#!/usr/bin/env python3
"""python_loop.py JOB TENSORS: one of the benchmark's models in plain PyTorch; takes a step for each line of input.

Prints the first batch's loss, then the duration of every step in seconds."""

import json
import math
import struct
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

TYPES = {"F32": torch.float32, "I64": torch.int64}
NO_GUESS = -100


def read_tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, info in json.loads(data[8 : 8 + length]).items():
        begin, end = (8 + length + at for at in info["data_offsets"])
        values = torch.frombuffer(bytearray(data[begin:end]), dtype=TYPES[info["dtype"]])
        tensors[name] = values.reshape(info["shape"])
    return tensors


def attend(qkv, heads, future=None):
    batch, length, width = qkv.shape
    width //= 3
    query, key, value = qkv.view(batch, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(width // heads))
    if future is not None:
        scores = scores.masked_fill(future, -math.inf)
    return (scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, length, width)


class Block(nn.Module):
    def __init__(self, model):
        super().__init__()
        width = model["width"]
        self.heads = model["heads"]
        self.attention_norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.attention_out = nn.Linear(width, width)
        self.mlp_norm = nn.LayerNorm(width)
        self.mlp_in = nn.Linear(width, 4 * width)
        self.mlp_out = nn.Linear(4 * width, width)
        context = model["context"]
        self.register_buffer("future", torch.ones(context, context, dtype=torch.bool).triu(1))

    def forward(self, x):
        x = x + self.attention_out(attend(self.qkv(self.attention_norm(x)), self.heads, self.future))
        return x + self.mlp_out(F.relu(self.mlp_in(self.mlp_norm(x))).square())


class Gpt(nn.Module):
    def __init__(self, model, recent):
        super().__init__()
        words, width = model["vocabulary"], model["width"]
        self.embedding = nn.Embedding(words, width)
        self.recent = nn.ModuleList(nn.Embedding(words, width) for _ in range(recent))
        self.position = nn.Embedding(model["context"], width)
        self.blocks = nn.Sequential(*(Block(model) for _ in range(model["layers"])))
        self.final_norm = nn.LayerNorm(width)

    def forward(self, words, targets):
        length = words.shape[1]
        x = self.embedding(words) + self.position.weight
        for back, table in enumerate(self.recent, 1):
            x = x + F.pad(table(words), (0, 0, back, 0))[:, :length]
        scores = self.final_norm(self.blocks(x)) @ self.embedding.weight.T
        return F.cross_entropy(scores.view(words.numel(), -1), targets.reshape(-1))


class Albert(nn.Module):
    def __init__(self, model):
        super().__init__()
        width, inner, hidden = model["width"], model["embedding_width"], model["mlp_width"]
        self.layers, self.heads = model["layers"], model["heads"]
        norm = lambda size: nn.LayerNorm(size, eps=1e-12)
        self.embedding = nn.Embedding(model["vocabulary"], inner)
        self.position = nn.Embedding(model["context"], inner)
        self.segment = nn.Embedding(2, inner)
        self.embedding_norm = norm(inner)
        self.widen = nn.Linear(inner, width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.attention_out = nn.Linear(width, width)
        self.attention_norm = norm(width)
        self.mlp_in = nn.Linear(width, hidden)
        self.mlp_out = nn.Linear(hidden, width)
        self.mlp_norm = norm(width)
        self.guess = nn.Linear(width, inner)
        self.guess_norm = norm(inner)
        self.guess_bias = nn.ParameterList([nn.Parameter(torch.zeros(model["vocabulary"]))])
        self.pooler = nn.Linear(width, width)
        self.order = nn.Linear(width, 2)

    def forward(self, words, segments, places, guesses, order):
        x = self.embedding(words) + self.segment(segments) + self.position.weight[: words.shape[1]]
        x = self.widen(self.embedding_norm(x))
        for _ in range(self.layers):
            x = self.attention_norm(x + self.attention_out(attend(self.qkv(x), self.heads)))
            x = self.mlp_norm(x + self.mlp_out(F.gelu(self.mlp_in(x), approximate="tanh")))
        hidden = self.guess(x.flatten(0, 1)[places.reshape(-1)])
        scores = F.linear(
            self.guess_norm(F.gelu(hidden, approximate="tanh")), self.embedding.weight, self.guess_bias[0]
        )
        nats = F.cross_entropy(scores, guesses.reshape(-1), ignore_index=NO_GUESS, reduction="none")
        each = nats.view(guesses.shape).sum(1) / (guesses != NO_GUESS).sum(1).clamp(min=1)
        return each.mean() + F.cross_entropy(self.order(torch.tanh(self.pooler(x[:, 0]))), order)


class Convolution(nn.Sequential):
    def __init__(self, channels, out, kernel, stride):
        super().__init__(
            nn.Conv2d(channels, out, kernel, stride=stride, padding=kernel // 2, bias=False), nn.GroupNorm(32, out)
        )


class Residual(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.middle = Convolution(channels, out, 3, stride)
        self.last = Convolution(out, out, 3, 1)
        reshaped = channels != out or stride != 1
        self.shortcut = Convolution(channels, out, 1, stride) if reshaped else nn.Identity()

    def forward(self, x):
        return F.relu(self.last(F.relu(self.middle(x))) + self.shortcut(x))


class Resnet18(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.first = Convolution(model["channels"], 64, 3, 1)
        blocks, channels = [], 64
        for stage in range(4):
            out = 64 << stage
            blocks += [Residual(channels, out, 2 if stage else 1), Residual(out, out, 1)]
            channels = out
        self.blocks = nn.Sequential(*blocks)
        self.classes = nn.Linear(channels, model["classes"])

    def forward(self, images, classes):
        x = self.blocks(F.relu(self.first(images)))
        return F.cross_entropy(self.classes(x.mean((2, 3))), classes)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    tensors = read_tensors(sys.argv[2])
    torch.set_num_threads(job["threads"])
    model_options = job["model"]
    makers = {"gpt": lambda: Gpt(model_options, job["recent"]), "albert": lambda: Albert(model_options)}
    model = makers.get(model_options["architecture"], lambda: Resnet18(model_options))()
    begin = 0
    with torch.no_grad():
        for parameter in model.parameters():  # modules are made in the order of the layout
            values = tensors["parameters"][begin : begin + parameter.numel()]
            parameter.copy_(values.view(parameter.shape))
            begin += parameter.numel()
    assert begin == tensors["parameters"].numel(), "another number of parameters"
    batches = []
    for batch in range(job["batches"]):
        names = sorted(name for name in tensors if name.startswith(f"batch.{batch}."))
        batches.append([tensors[name] for name in names])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    with torch.no_grad():
        print(model(*batches[0]).item(), flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        for batch in batches:
            model(*batch).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), job["clip_norm"])
        optimizer.step()
        optimizer.zero_grad()
        print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    main()
