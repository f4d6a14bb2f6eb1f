"""MathML as a line of text: what a reader sees, with the signs that say what stands above and below."""

from __future__ import annotations

from lxml.etree import _Element as Element

DEEPEST = 50
RELATIONS = frozenset("= < > ≤ ≥ ≠ ≈ ≡ ∼ ∝ ∈ ∉ ⊂ ⊆ → ⇒ ⇔ ↦ := ≪ ≫".split())
NOT_SHOWN = frozenset("annotation annotation-xml mphantom maction-hidden".split())
ACCENTS = frozenset("¯ ˉ ^ ˆ ~ ˜ ˙ ¨ → ⃗ ‾ ´ ` ˇ ˘ _".split())


def written(math: Element) -> str:
    """What a ``math`` element shows, on one line: ``x^2``, ``(a+b)/c``, ``√(x)``, ``∑_(i=1)^n``.

    Where it shows nothing, its ``alttext``. Elements nested deeper than 50 levels give their text alone.
    """
    return _written(math, 0).strip() or (math.get("alttext") or "")


def _written(element: Element, depth: int) -> str:
    tag = element.tag
    if not isinstance(tag, str) or tag in NOT_SHOWN:
        return ""
    if depth > DEEPEST:
        return "".join(map(str, element.itertext()))
    text = " ".join((element.text or "").split())
    if tag == "mo" and text in RELATIONS:
        return f" {text} "
    if tag == "mspace":
        return " "
    parts = [_written(child, depth + 1) for child in element]
    form = FORMS.get(tag)
    if form is not None and len(parts) in form:
        return form[len(parts)].format(*parts, *map(_grouped, parts))
    if tag in ("mover", "munder") and len(parts) == 2:
        return _with_accent(tag, *parts)
    if tag == "mtr":
        return ", ".join(parts)
    if tag == "mtable":
        return "; ".join(parts)
    if tag == "msqrt":
        return f"√({''.join(parts)})"
    if tag == "mfenced":
        return element.get("open", "(") + element.get("separators", ",")[:1].join(parts) + element.get("close", ")")
    return text + "".join(parts)


# By tag and number of children. The first places are the children as they are, the others the same, in brackets if long.
FORMS: dict[str, dict[int, str]] = {
    "msup": {2: "{2}^{3}"},
    "msub": {2: "{2}_{3}"},
    "msubsup": {3: "{3}_{4}^{5}"},
    "munderover": {3: "{3}_{4}^{5}"},
    "mfrac": {2: "{2}/{3}"},
    "mroot": {2: "{3}√({0})"},
}


def _grouped(part: str) -> str:
    part = part.strip()
    return part if len(part) <= 1 or part.isalnum() or (part.startswith("(") and part.endswith(")")) else f"({part})"


def _with_accent(tag: str, base: str, mark: str) -> str:
    if mark.strip() in ACCENTS:
        return base + mark.strip()
    return f"{_grouped(base)}{'^' if tag == 'mover' else '_'}{_grouped(mark)}"
