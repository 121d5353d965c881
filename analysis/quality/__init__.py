"""How far a recording can be trusted: gates that say what is unreliable, why, and what to do.

No gate stops the analysis: one lowers what findings are trusted, or withholds a verdict.
"""

from __future__ import annotations

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.quality.catalogue import gate_modules
from whichlayer.analysis.quality.effects import caveat_of, most_severe_first, severity_of
from whichlayer.analysis.quality.gate import Recording
from whichlayer.analysis.settings import enabled

__all__ = ["Recording", "caveat_of", "most_severe_first", "quality_warnings", "severity_of"]


def quality_warnings(recording: Recording) -> tuple[TraceWarning, ...]:
    """What the gates find, by gate; those that are switched off find nothing."""
    modules = [one for one in gate_modules() if enabled(recording.options, one.GATE.id)]
    return tuple(warning for module in modules for warning in module.check(recording))
