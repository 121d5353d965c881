"""A graph break: between two compiled regions the host went back to Python.

What ``torch.compile`` cannot trace splits the function in two graphs. In between run the
operators that were left out, one by one, guards are checked again and the rest of the function
is entered anew: dispatch that one graph would not have. Proven by the frame of that rest,
``torch_dynamo_resume_in_<function>_at_<line>``, which only recorded stacks show. Without it the
regions may as well be compiled one by one on purpose: then the evidence has a hint, no more.
"""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="graph-break",
    layer=Layer.RUNTIME,
    title="a graph break between compiled regions",
    fix="TORCH_LOGS=graph_breaks tells the reason, fullgraph=True refuses to compile with one: "
    "take what stands at that line out of the compiled function",
    thresholds={"note": 0.05},
    source="names that torch._dynamo gives to the rest of a function",
    example='made: "Torch-Compiled Region: 0/0", then aten::mul twenty times and 0.9 ms of '
    "json.encode, then the frame torch_dynamo_resume_in_forward and region 1/0: 1.43 "
    "ms between the two regions",
)
