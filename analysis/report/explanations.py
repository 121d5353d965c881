"""``whichlayer explain``: any word of the product in full: a rule, a gate, an owner, a number."""

from __future__ import annotations

from difflib import get_close_matches

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.glossary import TERMS, Term, find_term
from whichlayer.analysis.report.rule_list import every_rule, explain_rules, known_ids
from whichlayer.analysis.report.text_layout import wrap


def explain(word: str) -> str:
    """What a word means, as lines for people.

    Args:
        word: the id of a rule or gate, the id, name or letter of a layer, or a term.

    Raises:
        KeyError: nothing is called so; the message names what is nearly, if anything.
    """
    for rule_id in known_ids():
        if word.casefold() == rule_id.casefold():
            return explain_rules([rule_id])
    layer = _layer(word)
    if layer is not None:
        return _of_layer(layer)
    term = find_term(word)
    if term is not None:
        return _of_term(term)
    if word.casefold() == "nobody":  # as prose has it
        return _of_layer(Layer.NONE)
    near = get_close_matches(word.casefold(), [one.casefold() for one in words()], n=1)
    raise KeyError(f"did you mean {near[0]}?" if near else "'whichlayer explain' lists the words")


def words() -> tuple[str, ...]:
    """Everything that can be explained, other names included."""
    terms = [word for term in TERMS for word in (term.word, *term.also)]
    return (*known_ids(), *(layer.id for layer in Layer), *terms)


def list_words() -> str:
    """What can be explained, in groups."""
    rules, ids = every_rule(), known_ids()
    groups = {
        "owners": [layer.id for layer in Layer],
        "causes and rules": list(rules),
        "gates": [one for one in ids if one not in rules],
        "numbers and words": [term.word for term in TERMS],
    }
    lines = ["'whichlayer explain WORD' says what one of these means.", ""]
    for name, group in groups.items():
        lines += [*wrap(", ".join(group), f"{name:<18}"), ""]
    return "\n".join(lines)


def _layer(word: str) -> Layer | None:
    for layer in Layer:
        names = (layer.id, layer.text.name.casefold(), layer.text.letter.casefold())
        if word.casefold() in names:
            return layer
    return None


def _of_layer(layer: Layer) -> str:
    text = layer.text
    mine = [rule for rule, _ in every_rule().values() if rule.layer is layer]
    lines = [
        *wrap(f"{text.name} ({text.letter})", f"{layer.id}: ", "  "),
        "",
        *wrap(text.owns, "  owns        "),
        *wrap(text.fixed_in, "  fixed in    "),
    ]
    for number, rule in enumerate(mine):
        lines += wrap(f"{rule.id}: {rule.title}", f"  {'' if number else 'rules':<12}", " " * 16)
    return "\n".join(lines) + "\n"


def _of_term(term: Term) -> str:
    lines = [f"{term.word}:", "", *wrap(term.means, "  ")]
    if term.also:
        lines += ["", *wrap(", ".join(term.also), "  also asked for as  ")]
    return "\n".join(lines) + "\n"
