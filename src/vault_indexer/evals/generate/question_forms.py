"""From what a note states to what a person would ask: forms of English sentences and headings.

Each form is a pattern of a sentence and the question that it answers ("To use X, you need Y." answers "How do
I use X?"). A sentence that has none of the forms is no question, and neither is one whose question would be a
fragment or speak of something that only the text around it names.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from vault_indexer.search import is_common_word

GAP = "\ue000"
"""Stands where a link was. A question must not hold it."""

LANGUAGE = "en"
"""The language of the forms."""

_LEAST_WORDS, _MOST_WORDS = 4, 18
_LEAST_REST = 2
_LEAST_CONDITION = 3
_MOST_SUBJECT_WORDS = 6
_VERBS = frozenset(
    re.findall(
        r"\w+",
        """
    access activate add adjust allow annotate append apply arrange assign attach authorize avoid
    back backup bake benchmark block boil book bookmark borrow bring browse build bulk buy bypass
    calculate call calm cancel capture carry change charge check choose clean clear click clip clone
    close collapse collect color combine comment commit compare compile complete compress configure
    confirm connect contact contribute control convert cook cool copy count create crop customize
    cut debug decide declare decode deduct define delete deploy describe detect determine develop
    disable disconnect display divide dock download drag draw drive drop dry dump duplicate edit
    embed enable encode encrypt enter enumerate escape exclude execute exit expand explore export
    extend extract feed fill filter find fix focus fold follow force format fry generate get give go
    group grow handle hang harvest have heal heat help hide highlight hold host identify ignore
    import improve include increase indent index insert inspect install integrate invest invite join
    jump keep kill knead label launch leave lend let lift limit link list load locate lock log
    loosen lower make manage map mark match measure mention merge migrate minimize mix monitor mount
    move mute name navigate nest open order organize override paint pair parse paste pause pay peel
    pick pin ping place plant play populate post pour prepare present prevent preview print
    prioritize process protect provide prune publish pull purchase push query quit raise reach read
    rearrange rebuild receive recover redeem redirect reduce refer refresh register remove rename
    render renew reopen reorder repaint repair repeat replace report request require reset resize
    resolve restart restore restrict resume retrieve return reuse review revoke roast rotate run
    save scan schedule scroll search see select sell send separate set share show shrink sign skip
    slice sort sow specify split stack start stir stop store structure style submit subscribe switch
    sync synchronize take teach tell test tighten toggle track transfer transform translate treat
    trigger troubleshoot try turn type undo unfold uninstall unlink unlock unpublish update upgrade
    upload use validate verify view visit visualize wait warm wash watch water work wrap write zoom
    """,
    )
)
"""What people do with a program or a text, in the form that follows "to"."""

_REFERS = re.compile(
    r"\b(this|these|those|it|its|they|them|their|he|she|his|her|him|here|above|below|following|such|former"
    r"|latter|same|other|others|another|previous|previously|instead|so|that's|afterwards?|we|our|us|ours)\b",
    re.IGNORECASE,
)
"""Words that stand for something that is named elsewhere."""

_DANGLING = re.compile(
    r"\b(a|an|the|and|or|of|to|in|on|at|by|for|from|with|into|as|my|your|using|through|via|be|is|are|was|that"
    r"|which|than|if|when|not|can|will|like|under|over|about|between)\?$",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"^How (?:do|can) I \w+ the \w+\?$|\b(?:interested|curious)\b|\b(?:read|learn|find|know) (?:out )?more\b",
    re.IGNORECASE,
)
"""What only the text around it makes clear ("How do I see the code?"), and what a writer says to readers."""

_WHOLE_ENDS = (" depend on?", " used for?")
_LABEL = re.compile(r"^(?:Tip|Note|Warning|Example|Important|Info|Caution|Hint)\b[\s:!]*(?=[A-Z])")
_HEADING_LABEL = re.compile(r"^\w+: (?=[A-Z])")
_OPENING = re.compile(
    r"^(?:However|For example|Also|In addition|Additionally|By default|Note that|Alternatively|Then|Finally"
    r"|First|Next|Generally|Currently|Optionally|In general|Typically|Usually|Similarly|Therefore"
    r"|Please note that|Keep in mind that|Remember that),?\s+"
)
_NOT_TEXT = re.compile(r"[→←|{}<>#=*_`~\[\]\\]|https?:|\.\.\.|…|[“\"].*[”\"]|\w\(")
_TAIL = re.compile(
    rf"\s+(?:by \w+ing\b|(?:by|through|with|from|in|under|on|see) {GAP}|using\b|via\b|refer to\b|if\b|when\b"
    r"|whenever\b|because\b|since\b|so that\b|without\b|unless\b|while\b|(?:whether|either) by\b"
    r"|in (?:two|three|several|many|different) ways)|,\s|;\s|:\s|\s[-–—]\s|\s\("
)
"""Where the part of a sentence ends that the question takes."""

_NO_NAMES = frozenset(("the", "a", "an", "each", "every", "all", "any", "some"))
_NO_SUBJECT = re.compile(
    r"\b(that|which|who|whose|if|when|where|while|to|by|because|then|you|we|I|there|is|are|was|can|will|has"
    r"|have|does|do|should|must|may|means|lets|makes|although|though|as|since|after|before|until|yes|no|how"
    r"|what|why|but|nor|whether|please)\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"(?:you (?:can|should|must|need|have to|may|might)|please|make sure|try|consider|we recommend)\b",
    re.IGNORECASE,
)
_WISH = re.compile(r"you(?:'d)? (?:want|need|wish|like|prefer) to (?P<rest>.+)")
_OWN_WORDS = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"\byou're\b|\byou are\b", "I am"),
        (r"\byou've\b|\byou have\b", "I have"),
        (r"\byou'll\b|\byou will\b", "I will"),
        (r"\byou'd\b", "I would"),
        (r"\byourself\b", "myself"),
        (r"\byours\b", "mine"),
        (r"\byour\b", "my"),
        (r"\b(lets?|allows?|helps?|asks?|tells?|gives?|for|to|with|of|from|shows?) you\b", r"\1 me"),
        (r"\byou(?=$| (?:to|if|when|in|on|at|for|with)\b)", "me"),
        (r"\byou\b", "I"),
    )
)

Form = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]


def as_question(statement: str) -> str:
    """The question that a sentence answers, "" if it has no form. Links of it are `GAP`s."""
    given = statement.strip()
    text = _OPENING.sub("", _LABEL.sub("", given)).strip()
    if text.endswith("?"):
        return _checked(text)
    is_whole = text[:1].isupper() or text[:1] == GAP or text != given
    if not is_whole or text[-1:] not in (".", ":", "!"):
        return ""
    return _first(_SENTENCES, text[:1].upper() + text[1:].rstrip(".:! "))


def heading_as_question(heading: str) -> str:
    """The question that the text below a heading answers, "" if the heading has no form."""
    text = _HEADING_LABEL.sub("", heading.strip())
    return _checked(text) if text.endswith("?") else _first(_HEADINGS, text.rstrip(".:! "))


def _first(forms: tuple[Form, ...], text: str) -> str:
    for pattern, make in forms:
        match = pattern.search(text)
        question = _checked(make(match)) if match else ""
        if question:
            return question
    return ""


def _checked(question: str) -> str:
    """The question if it can be asked by itself, else ""."""
    if not _LEAST_WORDS <= len(question.split()) <= _MOST_WORDS or not question.endswith("?"):
        return ""
    if GAP in question or _NOT_TEXT.search(question):
        return ""
    if _DANGLING.search(question) and not question.endswith(_WHOLE_ENDS):
        return ""
    if _VAGUE.search(question):
        return ""
    if _REFERS.search(question) or question.count("(") != question.count(")") or " ?" in question:
        return ""
    return question[:1].upper() + question[1:]


def _asked(opening: str, rest: str) -> str:
    """A question of an opening and the first part of the rest."""
    cut = _TAIL.split(rest, maxsplit=1)[0].strip()
    return f"{opening} {_as_own(cut)}?" if len(cut.split()) >= _LEAST_REST else ""


def _as_own(text: str) -> str:
    """What is said to a reader, as that reader says it."""
    for pattern, replacement in _OWN_WORDS:
        text = pattern.sub(replacement, text)
    return text


def _begins_with_verb(text: str) -> bool:
    return text.split(" ", 1)[0].lower().strip(",") in _VERBS


def _lowered(text: str) -> str:
    """The text as it stands within a sentence: it keeps the capital of a name ("Obsidian Sync", "PDF")."""
    first, _, rest = text.partition(" ")
    is_no_name = first.lower() in _NO_NAMES or first.endswith("ing")
    is_name = not first[1:].islower() or rest[:1].isupper() or not is_common_word(first.lower())
    return text if is_name and not is_no_name else first.lower() + text[len(first) :]


def _subject(match: re.Match[str]) -> str:
    """The subject as it stands within a question, "" for one that is none."""
    text = match["subject"].strip()
    if _NO_SUBJECT.search(text) or len(text.split()) > _MOST_SUBJECT_WORDS or GAP in text:
        return ""
    return _as_own(_lowered(text))


def _how_do_i(match: re.Match[str]) -> str:
    rest = match["rest"]
    return _asked("How do I", rest[:1].lower() + rest[1:]) if _begins_with_verb(rest) else ""


def _how_can_i(match: re.Match[str]) -> str:
    return _asked("How can I", match["rest"]) if _begins_with_verb(match["rest"]) else ""


def _what_if(match: re.Match[str]) -> str:
    condition, main = match["condition"].strip(), match["main"].strip()
    if wanted := _WISH.fullmatch(condition):
        return _how_do_i(wanted)
    words = condition.split()
    if len(words) < _LEAST_CONDITION or words[0].endswith("ing"):
        return ""
    word = "if" if match["word"].lower() == "if" else "when"
    is_advice = _begins_with_verb(main) or _ADVICE.match(main)
    return f"{'What should I do' if is_advice else 'What happens'} {word} {_as_own(condition)}?"


def _what_lets(match: re.Match[str]) -> str:
    rest = match["rest"]
    if not _begins_with_verb(re.sub(r"^\w+ly ", "", rest)):
        return ""
    return _asked("What lets me" if GAP in match["subject"] else "How can I", rest)


def _how_passive(match: re.Match[str]) -> str:
    subject = _subject(match)
    middle = f" {_as_own(match['middle'].strip())}" if match["middle"].strip() else ""
    return subject and f"How {match['aux']} {subject} be {match['verb']}{middle}?"


def _depends(match: re.Match[str]) -> str:
    subject = _subject(match)
    return subject and f"What {'does' if match['verb'] == 'depends' else 'do'} {subject} depend on?"


def _used_for(match: re.Match[str]) -> str:
    subject = _subject(match)
    return subject and f"What {match['aux']} {subject} used for?"


def _what_is(match: re.Match[str]) -> str:
    """One word alone is nearly always the name of a note."""
    words = _subject(match).split()
    is_thing = len(words) > 1 and words[0][-3:] != "ing" and words[0].lower() != "one"
    return f"What {match['aux']} {' '.join(words)}?" if is_thing else ""


def _why_not(match: re.Match[str]) -> str:
    subject = _subject(match)
    return subject and _asked(f"Why {match['aux']} {subject} not", match["rest"])


def _how_does(match: re.Match[str]) -> str:
    return f"How does {match['what'][:1].lower()}{_as_own(match['what'][1:])} work?"


def _forms(*forms: tuple[str, Callable[[re.Match[str]], str]]) -> tuple[Form, ...]:
    return tuple((re.compile(pattern), make) for pattern, make in forms)


_SUBJECT = r"(?P<subject>[^,;:()]+?)"
_BE = r"(?P<aux>is|are)"
_TOOLS = (
    "Select|Click|Press|Tap|Use|Open|Choose|Go to|Run|Enable|Disable|Type|Enter|Drag|Hold|Right-click"
    "|Hover|Add|Set"
)
_SENTENCES = _forms(
    (r"^To (?P<rest>[^,:]+)[,:]", _how_do_i),
    (rf"^To (?P<rest>[^,:]+?),? (?:see|refer to|check|visit|read|use|follow)\b.*{GAP}", _how_do_i),
    (r"^(?P<word>If|When|Whenever|Once) (?P<condition>[^,]+), (?:then )?(?P<main>.+)", _what_if),
    (r"^(?:[^,]{2,40}, )?[Yy]ou can (?:also |always |even |then |easily |only )?(?P<rest>.+)", _how_can_i),
    (
        rf"^{_SUBJECT} (?:also )?(?:lets?|allows?|enables?|helps?) (?:you|users|people) (?:to )?(?P<rest>.+)",
        _what_lets,
    ),
    (
        rf"^{_SUBJECT} (?P<aux>can|could|may|will|must|should) (?:also |only |always |then )?be "
        r"(?P<verb>\w+(?:ed|en|wn|ne|pt|ld|de|un|et|id))(?P<middle>[^,;:]*?) "
        rf"(?:by|using|through|via|(?:with|in|from|under) {GAP}).*",
        _how_passive,
    ),
    (rf"^{_SUBJECT} (?P<verb>depends?) on .+", _depends),
    (rf"^{_SUBJECT} {_BE} used (?:to|for|by) .+", _used_for),
    (rf"^(?:{_TOOLS})\b.+? to (?P<rest>(?!the |an? |your |my |{GAP})[^,;:]+)$", _how_do_i),
    (rf"^{_SUBJECT} {_BE} (?:an?|the|one of|where|how) .+", _what_is),
)
_HEADINGS = _forms(
    (r"^(?:How to|Ways to|Steps to) (?P<rest>.+)$", _how_do_i),
    (r"^(?P<rest>[A-Z][\w-]+ .+)$", _how_do_i),
    (
        r"^(?P<what>\w+ing (?:\w+s|the|an?|your|my) (?:\w+ )*"
        r"(?:in|on|with|from|to|into|outside|for|between) .+)$",
        _how_does,
    ),
    (rf"^{_SUBJECT} (?P<aux>is|are|can|will|does|do) ?(?:not|n't) (?P<rest>.+)$", _why_not),
)
