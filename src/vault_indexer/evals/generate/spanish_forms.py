"""Forms of Spanish sentences and headings, and what a Spanish question must not hold."""

from __future__ import annotations

import re

from vault_indexer.evals.generate.question_forms import GAP, LEAST_REST, QuestionForms, SubjectQuestion, forms

_MOST_SUBJECT_WORDS = 6
_INFINITIVE = r"[a-zñ]{2,}(?:[aei]r|ír)(?:se)?"
_ARTICLES = re.compile(r"^(?:El|La|Los|Las|Un|Una|Unos|Unas)\b")
_OBJECT = re.compile(
    r"(?:el|la|los|las|un|una|unos|unas|tu|tus|todos|todas|varios|varias|más|al|del|con|a|en) "
    r"|(?!(?:de|y|o|por|para)\b)(?:[a-zñáéíóú]+ )?[a-zñáéíóú]+[aeo]s\b"
)
"""What an infinitive of a heading is about; many nouns end as infinitives do ("Lugar de trabajo")."""

_REFERS = re.compile(
    r"\b(est[aeo]s?|es[aeo]s?|aquell?[ao]s?|aquí|ahí|allí|ello|ell[ao]s?|él|lo|anteriore?s?|siguientes?|arriba|abajo"
    r"|mism[ao]s?|dich[ao]s?|nosotros|nuestr[ao]s?|nos|sus?|te|ti|les?|usted|otr[ao]s?|correspondientes?"
    r"|mencionad[ao]s?|así|[a-zñ]+[aeiáéí]r(?:l[aeo]s?|te|nos))\b",
    re.IGNORECASE,
)
"""Words that stand for something that is named elsewhere, and for who is spoken to."""

_DANGLING = re.compile(
    r"\b(de|del|en|con|por|para|a|al|y|o|el|la|los|las|un|una|que|si|cuando|mediante|usando|sin|sobre|entre|tu"
    r"|mi|es|son|no|como|desde|hasta|ya|se|muy|más)\?$",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?<!de )(?<!en )(?<!a )(?<!con )(?<!por )(?<!sobre )(?<!desde )"
    r"\b(?:el|la|los|las) (?!(?:[\w-]+ ){1,3}(?:de|del|en|que|para|con|entre|a|al|sobre|desde|por|sin)\b)"
)
_OPENS_QUESTION = re.compile(r"¿(?!Y\b|Pero\b|O\b|Por qué no\b)\w")
_TAIL = re.compile(
    rf"\s+(?:(?:con|en|desde|mediante|a través de|por|bajo) {GAP}|mediante\b|usando\b|utilizando\b"
    r"|a través de\b|si\b|cuando\b|porque\b|ya que\b|sin\b|mientras\b|haciendo\b|como se\b)"
    r"|,\s|;\s|:\s|\s[-–—]\s|\s\("
)
"""Where the part of a sentence ends that the question takes."""

_OPENINGS = re.compile(
    r"^(?:(?:Nota|Consejo|Advertencia|Ejemplo|Importante|Aviso)\b[\s:!]*(?=[A-ZÁÉÍÓÚÑ¿]))?(?:(?:Sin embargo"
    r"|Además|También|Por ejemplo|Por defecto|De forma predeterminada|Finalmente|Por último|Normalmente"
    r"|(?:Ten|Tenga) en cuenta que|Recuerd[ae] que),?\s+)?"
)
_NO_SUBJECT = re.compile(
    r"^(?:en|a|con|para|por|de|desde|si|cuando|cada|todos?|todas?|otr[ao]s?|algun[ao]s?|ningun[ao]|ambos"
    r"|uno de|(?:el|la|los|las) (?:primer[ao]?|segund[ao]|tercer[ao]?|últim[ao]|únic[ao]|mejor|motivo"
    r"|objetivo|razón|resultado|problema|diferencia|idea|respuesta|ejemplo))\b"
    r"|\b(?:que|quien|si|cuando|donde|porque|es|son|hay|puedes?|pueden|no|cómo|qué)\b",
    re.IGNORECASE,
)
_TO_READER = re.compile(r"\b(?:te|tus?|tú|ti|usted|sus?|\w+(?:arte|erte|irte))\b", re.IGNORECASE)
_WISH = re.compile(rf"(?:quieres|quiere|deseas|desea|necesitas|necesita) (?P<rest>{_INFINITIVE}\b.*)")
_DEIXIS = re.compile(r"\b(?:est[aeo]s?|es[aeo]s?|arriba|abajo|siguientes?|anteriores?)\b", re.IGNORECASE)


def _is_clear(question: str) -> bool:
    if not _OPENS_QUESTION.match(question) or _REFERS.search(question) or _DANGLING.search(question):
        return False
    names = re.search(r" [A-ZÁÉÍÓÚÑ]|\d", question)
    return bool(names) or not _BARE.search(f"{question[:-1]} ")


def _how(match: re.Match[str]) -> str:
    rest = match["rest"]
    cut = _TAIL.split(rest, maxsplit=1)[0].strip()
    own = re.sub(r"\btu(s?)\b", r"mi\1", cut)
    own = re.sub(r"^(\w+)[st]e\b", lambda verb: f"{verb[1]}me", own)
    return f"¿Cómo puedo {own[:1].lower()}{own[1:]}?" if len(cut.split()) >= LEAST_REST else ""


def _how_by_heading(match: re.Match[str]) -> str:
    return _how(match) if _OBJECT.match(match["object"]) else ""


def _what_if(match: re.Match[str]) -> str:
    condition, main = match["condition"].strip(), match["main"]
    if wanted := _WISH.fullmatch(condition):
        return _how(wanted)
    if _TO_READER.search(condition) or _DEIXIS.search(main) or len(condition.split()) < LEAST_REST:
        return ""
    return f"¿Qué pasa {match['word'].lower()} {condition}?"


_ASKED = SubjectQuestion(_NO_SUBJECT, _ARTICLES, _MOST_SUBJECT_WORDS)
_REST = rf"(?P<rest>{_INFINITIVE}\b .+)"
_SUBJECT = r"(?P<subject>[^,;:()]+?)"
SPANISH = QuestionForms(
    openings=_OPENINGS,
    sentences=forms(
        (rf"^Para (?P<rest>{_INFINITIVE}\b [^,:]+)[,:]", _how),
        (r"^(?P<word>Si|Cuando) (?P<condition>[^,]+), (?:entonces )?(?P<main>.+)", _what_if),
        (rf"^(?:Puedes?|Se puede) (?:también )?{_REST}", _how),
        (rf"^{_SUBJECT} (?:(?:te|le|nos) )?permiten? {_REST}", _how),
        (rf"^{_SUBJECT} (?P<verb>dependen?) (?:de|del) .+", _ASKED.asks("¿De qué {verb} {subject}?")),
        (
            rf"^{_SUBJECT} (?P<verb>se (?:usan?|utilizan?|emplean?)) para .+",
            _ASKED.asks("¿Para qué {verb} {subject}?"),
        ),
        (rf"^{_SUBJECT} (?P<be>es|son) (?:una?s?|el|la|los|las) .+", _ASKED.asks("¿Qué {be} {subject}?")),
    ),
    headings=forms(
        (rf"^Cómo {_REST}$", _how),
        (rf"^(?P<rest>(?i:{_INFINITIVE}) (?P<object>.+))$", _how_by_heading),
    ),
    is_clear=_is_clear,
)
