"""How the events of a trace are laid out as text: the two ways Kineto writes, and compact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Layout:
    """Templates (``%`` formats) of one layout; every event ends in a comma.

    Attributes:
        slice: category, name, pid, tid, start and duration as whole and thousandth
            microseconds each, arguments.
        flow_start, flow_end: id, pid, tid, time as two numbers, category and name.
        metadata: name, time as two numbers, pid, tid, key and value of the one argument.
        colon, comma: between key and value, and between arguments.
        line: as ``comma``, where Kineto begins a new line among the arguments.
        head, tail: the text before the first event, behind the last one's closing brace.
    """

    slice: str
    flow_start: str
    flow_end: str
    metadata: str
    colon: str
    comma: str
    line: str
    head: str
    tail: str

    def fit(self, json_text: str) -> str:
        """A value written with ``", "`` and ``": "``, as this layout writes it.

        Args:
            json_text: without quotes inside its strings.
        """
        parts = json_text.split('"')
        parts[::2] = [
            part.replace(", ", self.comma).replace(": ", self.colon) for part in parts[::2]
        ]
        return '"'.join(parts)


_DEVICE = """\
    {
      "id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 84978958336,
      "computeMajor": 9, "computeMinor": 0,
      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
      "regsPerBlock": 65536, "warpSize": 32,
      "sharedMemPerBlock": 49152, "numSms": 132
    , "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, \
"sharedMemPerMultiprocessor": 233472
    }"""

_HEAD = f"""\
{{
  "schemaVersion": 1,
  "deviceProperties": [
{_DEVICE}
  ],
  "cupti_version": 26,
  "cuda_runtime_version": 12060,
  "with_stack": 1,
  "record_shapes": 1,
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1733097600000000000,
  "traceEvents": ["""

_TAIL = """
  ],
  "traceName": "training.pt.trace.json"
}
"""

PRETTY: Final = Layout(
    slice='\n  {\n    "ph": "X", "cat": "%s", "name": "%s", "pid": %s, "tid": %s,\n'
    '    "ts": %d.%03d, "dur": %d.%03d,\n    "args": {\n      %s\n    }\n  },',
    flow_start='\n  {\n    "ph": "s", "id": %d, "pid": %d, "tid": %d, "ts": %d.%03d,\n'
    '    "cat": "%s", "name": "%s"\n  },',
    flow_end='\n  {\n    "ph": "f", "id": %d, "pid": %d, "tid": %d, "ts": %d.%03d,\n'
    '    "cat": "%s", "name": "%s", "bp": "e"\n  },',
    metadata='\n  {\n    "name": "%s", "ph": "M", "ts": %d.%03d, "pid": %d, "tid": %d,\n'
    '    "args": {\n      "%s": %s\n    }\n  },',
    colon=": ",
    comma=", ",
    line=",\n      ",
    head=_HEAD,
    tail=_TAIL,
)

LINES: Final = Layout(
    slice='\n  {\n    "ph": "X",\n    "cat": "%s",\n    "name": "%s",\n    "pid": %s,\n'
    '    "tid": %s,\n    "ts": %d.%03d,\n    "dur": %d.%03d\n    ,\n'
    '    "args": {\n      %s\n    }\n  },',
    flow_start='\n  {\n    "ph": "s",\n    "id": %d,\n    "pid": %d,\n    "tid": %d,\n'
    '    "ts": %d.%03d,\n    "cat": "%s",\n    "name": "%s"\n    \n  },',
    flow_end='\n  {\n    "ph": "f",\n    "id": %d,\n    "pid": %d,\n    "tid": %d,\n'
    '    "ts": %d.%03d,\n    "cat": "%s",\n    "name": "%s"\n    , "bp": "e"\n  },',
    metadata='\n  {\n    "ph": "M",\n    "name": "%s",\n    "ts": %d.%03d,\n    "pid": %d,\n'
    '    "tid": %d,\n    "args": {\n      "%s": %s\n    }\n  },',
    colon=": ",
    comma=", ",
    line=",\n      ",
    head=_HEAD,
    tail=_TAIL,
)


def _squeezed(text: str) -> str:
    """JSON text without white space; no string in the head or tail holds any that matters."""
    lines = "".join(line.strip() for line in text.splitlines())
    return lines.replace(", ", ",").replace(": ", ":")


COMPACT: Final = Layout(
    slice='{"ph":"X","cat":"%s","name":"%s","pid":%s,"tid":%s,"ts":%d.%03d,"dur":%d.%03d,'
    '"args":{%s}},',
    flow_start='{"ph":"s","id":%d,"pid":%d,"tid":%d,"ts":%d.%03d,"cat":"%s","name":"%s"},',
    flow_end='{"ph":"f","id":%d,"pid":%d,"tid":%d,"ts":%d.%03d,"cat":"%s","name":"%s","bp":"e"},',
    metadata='{"name":"%s","ph":"M","ts":%d.%03d,"pid":%d,"tid":%d,"args":{"%s":%s}},',
    colon=":",
    comma=",",
    line=",",
    head=_squeezed(_HEAD),
    tail=_squeezed(_TAIL),
)

#: By the names that the command line knows.
LAYOUTS: Final = {"pretty": PRETTY, "lines": LINES, "compact": COMPACT}
