"""What is set, for the analysis."""

from __future__ import annotations

from dataclasses import replace

from whichlayer.analysis.config.entries import Config, dotted
from whichlayer.analysis.options import Options, Peaks


def with_config(options: Options, config: Config) -> Options:
    """Options, completed by what files set: what was asked for itself goes before."""
    if not config.entries:
        return options
    origins = {dotted(path): entry.origin for path, entry in config.entries.items()}
    return replace(
        options,
        device_model=options.device_model or config.text("device_model"),
        link_gbps=options.link_gbps or config.number("link_bandwidth"),
        source_roots=options.source_roots or config.words("source_roots"),
        settings={**_settings(config), **options.settings},
        rules_off=options.rules_off | _off(config),
        peaks={**_peaks(config), **options.peaks},
        origins={**origins, **options.origins},
    )


def _settings(config: Config) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for path, entry in config.entries.items():
        value = entry.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if path[0] == "rules":
            found.setdefault(path[1], {})[path[2]] = float(value)
        elif path[0] == "findings":
            found.setdefault("findings", {})[path[1]] = float(value)
    return found


def _off(config: Config) -> frozenset[str]:
    return frozenset(
        path[1]
        for path, entry in config.entries.items()
        if path[0] == "rules" and path[2] == "enabled" and entry.value is False
    )


def _peaks(config: Config) -> dict[str, Peaks]:
    found: dict[str, dict[str, float]] = {}
    for path, entry in config.entries.items():
        if path[0] == "peaks" and isinstance(entry.value, float):
            found.setdefault(path[1], {})[path[2]] = entry.value
    return {
        device: Peaks(figures.pop("bandwidth", None), figures) for device, figures in found.items()
    }
