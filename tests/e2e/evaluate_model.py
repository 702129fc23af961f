#!/usr/bin/env python3
"""evaluate_model.py PROGRAM PARAMETERS TEXT CONTEXT: bits per byte of the text, by a model exported from a run."""

import json
import math
import struct
import sys

import torch

program, parameters, text, context = sys.argv[1:]
with open(parameters, "rb") as file:
    data = file.read()
(length,) = struct.unpack("<Q", data[:8])
values = {}
for name, tensor in json.loads(data[8 : 8 + length]).items():
    if name != "__metadata__":
        begin, end = (8 + length + at for at in tensor["data_offsets"])
        values[name] = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32).reshape(tensor["shape"])
model = torch.jit.load(program).eval()
model.load_state_dict(values)
with open(text, "rb") as file:
    words = torch.tensor(list(file.read()))
windows = (len(words) - 1) // int(context)
cut = windows * int(context)
with torch.no_grad():
    loss = model(words[:cut].view(windows, -1), words[1 : cut + 1].view(windows, -1))
print(loss.item() / math.log(2))
