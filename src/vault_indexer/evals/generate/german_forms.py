"""Forms of German sentences and headings, and what a German question must not hold."""

from __future__ import annotations

import re

from vault_indexer.evals.generate.question_forms import GAP, LEAST_REST, QuestionForms, SubjectQuestion, forms

_MOST_SUBJECT_WORDS = 5
_PREFIX = (
    "ab|an|auf|aus|bei|durch|ein|fest|fort|frei|her|heraus|herunter|hin|hinzu|hoch|los|mit|nach|statt|um|vor|weg"
    "|weiter|wieder|zu|zurück|zusammen"
)
_INFINITIVE = r"[a-zäöü]\w+(?:en|ern|eln)"
_NO_ORDER = re.compile(
    r"^(?:Was|Warum|Wie|Wann|Wo|Wer|Welche\w*|Wenn|Weil|Ob|Dass|Wir|Ich|Sie|Es|Man|Und|Oder|Nicht)\b"
    r"|\b(?:werden|worden|haben|sein|können|sollen|müssen|wollen|dürfen|wurden|waren|sind|gehen|stehen)$"
)
_ARTICLES = re.compile(
    r"^(?:Der|Die|Das|Den|Dem|Eine?[nmr]?|Alle|Mehrere|Neue[ns]?|Eigene[ns]?|Auf|In|Im|Mit|An|Zu|Von|Aus|Bei|Unter"
    r"|Für|Nach|Über)\b"
)
_REFERS = re.compile(
    r"\b(dies\w*|jene[rsnm]?|er|sie|es|ihn|ihm|ihr\w*|ihnen|deren|dessen|hier|dort|oben|unten|folgend\w+|obig\w+"
    r"|genannt\w+|angegeben\w+|entsprechend\w+|solch\w*|da(?:bei|mit|für|von|rin|ran|rauf|zu|durch|nach)"
    r"|(?:der|die|das|den|dem)selben?|wir|uns|unser\w*|du|dir|dich|dein\w*|euch|euer|andere[rsnm]?|so)\b",
    re.IGNORECASE,
)
"""Words that stand for something that is named elsewhere, and for who is spoken to."""

_BARE = re.compile(
    r"(?<!aus )(?<!mit )(?<!von )(?<!auf )(?<!für )(?<!in )(?<!an )(?<!bei )(?<!über )(?<!unter )(?<!nach )"
    r"\b(?:der|die|das|den) (?!(?:[\w-]+ ){1,3}(?:von|vom|in|im|für|des|der|einer|eines|mit|zwischen|auf"
    r"|aus|zu|zum|zur|unter|bei|an|am|als|über|ohne|nach)\b)"
)
"""A thing that the text around it has named, where no words say which one. Behind a preposition it is often
known."""

_OPENS_QUESTION = re.compile(
    r"(?:W(?:as|ie|arum|ann|o|er|en|em|elche\w*|oher|ohin|ovon|ofür|omit|ozu)|Kann|Können|Darf|Dürfen|Muss|Müssen"
    r"|Sollte?n?|Ist|Sind|Hat|Haben|Gibt|Wird|Werden|Gilt|Gelten|Braucht|Lässt) \w"
)
_OPENINGS = re.compile(
    r"^(?:(?:Hinweis|Tipp|Achtung|Warnung|Beispiel|Wichtig|Info)\b[\s:!]*(?=[A-ZÄÖÜ]))?"
    r"(?:Beachten Sie, dass\s+)?"
)
_NO_SUBJECT = re.compile(
    r"^(?:in|im|auf|bei|mit|für|von|zu|an|am|aus|jede[rsnm]?|alle|andere|einige|kein\w*|beide|hier|dort|es|das"
    r"|(?:der|die|das) (?:erste|zweite|dritte|letzte|einzige|beste|ziel|grund|ergebnis|problem|idee|antwort"
    r"|unterschied|standard))\b"
    r"|\b(?:dass|wenn|weil|ob|wo|wer|wie|was|ist|sind|wird|kann|nicht|sich|sie|wir|ich|man)\b",
    re.IGNORECASE,
)
_DEIXIS = re.compile(r"\b(?:dies\w*|jene\w*|oben|unten|folgend\w+)\b", re.IGNORECASE)
_FIRST_PERSON = {
    "dürfen": "darf",
    "können": "kann",
    "müssen": "muss",
    "sind": "bin",
    "sollen": "soll",
    "wissen": "weiß",
    "wollen": "will",
}
_WISH = re.compile(
    rf"(?:sie|du) (?P<rest>.+ {_INFINITIVE}) (?:möchten|wollen|möchtest|willst)", re.IGNORECASE
)


def _is_clear(question: str) -> bool:
    is_question = _OPENS_QUESTION.match(question) and not _REFERS.search(question)
    return bool(is_question) and not _BARE.search(f"{question[:-1]} ")


def _as_own(text: str) -> str:
    """What is said to a reader, as that reader says it."""
    text = re.sub(r"\b(?:Ihr|dein|Dein)(e[nmrs]?)?\b", r"mein\1", text)
    return re.sub(r"\b(?:sich|dich)\b", "mich", text)


def _how(rest: str, verb: str = "") -> str:
    if "," in rest or GAP in rest:
        return ""
    return f"Wie kann ich {_as_own(rest)}{verb and f' {verb}'}?"


def _how_by_purpose(match: re.Match[str]) -> str:
    return _how(match["rest"], f"{match['prefix'] or ''}{match['verb']}")


def _how_can(match: re.Match[str]) -> str:
    return "" if _NO_ORDER.search(match["rest"]) else _how(match["rest"])


def _how_by_heading(match: re.Match[str]) -> str:
    text = match["rest"]
    return "" if _NO_ORDER.search(text) else _how(_ARTICLES.sub(lambda first: first[0].lower(), text))


def _what_if(match: re.Match[str]) -> str:
    condition = match["condition"].strip()
    if wanted := _WISH.fullmatch(condition):
        return _how(wanted["rest"])
    if _DEIXIS.search(match["main"]) or len(condition.split()) < LEAST_REST:
        return ""
    if to_reader := re.fullmatch(r"Sie (?P<rest>.+) (?P<verb>\w+n|sind)", condition):
        condition = f"ich {_as_own(to_reader['rest'])} {_first_person(to_reader['verb'])}"
    return f"Was passiert, wenn {condition}?"


def _first_person(verb: str) -> str:
    """The form of the first person for the last word of a clause about "Sie"."""
    if verb in _FIRST_PERSON:
        return _FIRST_PERSON[verb]
    stem = verb.removesuffix("n")
    return f"{stem[:-2]}le" if verb.endswith("eln") else stem if stem.endswith("e") else f"{stem}e"


_ASKED = SubjectQuestion(_NO_SUBJECT, _ARTICLES, _MOST_SUBJECT_WORDS)
_SUBJECT = r"(?P<subject>[^,;:()]+?)"
_WITH_ZU = rf"(?P<rest>[^,:]+?) (?:(?P<prefix>{_PREFIX})zu|zu )(?P<verb>\w+n)"
GERMAN = QuestionForms(
    openings=_OPENINGS,
    sentences=forms(
        (rf"^Um {_WITH_ZU}, ", _how_by_purpose),
        (r"^(?:Wenn|Falls) (?P<condition>[^,]+), (?P<main>.+)", _what_if),
        (
            rf"^(?:Sie können|Du kannst|Man kann|[^,]{{2,40}} (?:können Sie|kannst du|kann man)) "
            rf"(?:auch |dann |jederzeit )?(?P<rest>[^,:]+ {_INFINITIVE})$",
            _how_can,
        ),
        (rf"^{_SUBJECT} (?:ermöglich|erlaub)(?:t|en) es(?: Ihnen| dir)?, {_WITH_ZU}", _how_by_purpose),
        (rf"^{_SUBJECT} (?P<verb>hängt|hängen) von .+ ab$", _ASKED.asks("Wovon {verb} {subject} ab?")),
        (rf"^{_SUBJECT} (?P<be>ist|sind) (?:eine?|der|die|das) .+", _ASKED.asks("Was {be} {subject}?")),
    ),
    headings=forms((rf"^(?P<rest>[A-ZÄÖÜ].* {_INFINITIVE})$", _how_by_heading)),
    is_clear=_is_clear,
)
