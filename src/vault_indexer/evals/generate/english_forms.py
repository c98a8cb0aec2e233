"""Forms of English sentences and headings, and what an English question must not hold."""

from __future__ import annotations

import re

from vault_indexer.evals.generate.prose import content_words
from vault_indexer.evals.generate.question_forms import GAP, LEAST_REST, QuestionForms, forms
from vault_indexer.search import is_common_word

_LEAST_CONDITION = 3
_LEAST_CONTENT = 3
_MUCH_SAID = 5
"""Content words that make clear what is meant, whatever they are."""

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

_GERUNDS = {
    gerund: verb
    for verb in _VERBS
    for gerund in (f"{verb}ing", f"{verb.removesuffix('e')}ing", f"{verb}{verb[-1]}ing")
}
"""Their verbs. Most are no words ("editting"), and occur nowhere."""

_REFERS = re.compile(
    r"\b(this|these|those|it|its|they|them|their|he|she|his|her|him|here|above|below|following|such|former"
    r"|latter|same|other|others|another|previous|previously|instead|so|that's|afterwards?|we|our|us|ours|you"
    r"|your|any"
    r"|specified|given|resulting|corresponding|respective|aforementioned|certain|particular|said"
    r"|various"
    r"|(?:for|of|in|within|to|on|from|by|with|at|I \w+) that \w+)\b",
    re.IGNORECASE,
)
"""Words that stand for something that is named elsewhere."""

_DANGLING = re.compile(
    r"\b(a|an|the|and|or|of|to|in|on|at|by|for|from|with|into|as|my|your|using|through|via|be|is|are|was|that"
    r"|which|than|if|when|not|can|will|like|under|over|about|between|both|either|only|also|even"
    r"|just|especially|particularly)\?$",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\b(?:interested|curious)\b|\b(?:read|learn|find|know) (?:out )?more\b|^How do I see also"
    r"|\bI am (?:new|familiar|unfamiliar|sure|unsure|ready|not sure|an?)\b|^How (?:do|can) I \w+ what\b"
    r"|, and (?:why|how|what)\b"
    r"|\b(?:looking for|(?:have|has) (?:a |any )?(?:questions?|feedback|suggestions?|problems?|troubles?))\b"
    r"|^(?:How to|What about|What if|Why (?:only|not|the|an?))\b|^How (?:do|can) I (?:be|have|do|see|note)\b"
    r"|^How (?:do|can) I (?:provide|enter|determine|define) (?:[\w-]+ ){0,2}[\w-]+\?$"
    r"|^How (?:do|can) I (?:specify|identify)\b",
    re.IGNORECASE,
)
"""What a writer says to readers, and what asks for nothing in particular."""

_OPENS_QUESTION = re.compile(
    r"(?:What|How|Why|When|Where|Which|Who|Whose|Can|Could|Do|Does|Did|Is|Are|Was|Were|Should|Will|Would|Has"
    r"|Have|Must|May) \w"
)
_CONTRACTED = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m))\b")
_OWN_END = re.compile(r" (?:depend on|used for)\?$|\?$")
_BARE = re.compile(
    r"\b[Tt]he (?!(?:(?!is |are |was |were |has |have |does |do |can |will |isn|doesn|can't)[\w'’-]+ ){1,4}"
    r"(?:of|in|for|that|which|who|from|between|on)\b)"
)
"""A thing that the text around it has named, where no words behind it say which one."""

_BARE_OBJECT = re.compile(rf"How (?:do|can) I \w+ {_BARE.pattern}")
_LABEL = r"(?:Tip|Note|Warning|Example|Important|Info|Caution|Hint)\b[\s:!]*(?=[A-Z])"
_OPENINGS = re.compile(
    rf"^(?:{_LABEL})?(?:(?:However|For example|Also|In addition|Additionally|By default|Note that|Then"
    r"|Finally|Alternatively|First|Next|Generally|Currently|Optionally|In general|Typically|Usually|Similarly"
    r"|Therefore|Please note that|Keep in mind that|Remember that),?\s+)?(?:\w+: (?=[A-Z]))?"
)
_TAIL = re.compile(
    rf"\s+(?:by \w+ing\b|(?:by|through|with|from|in|under|on|see) {GAP}|using\b|via\b|refer to\b|if\b|when\b"
    r"|whenever\b|because\b|since\b|so that\b|without\b|unless\b|while\b|(?:whether|either) by\b"
    r"|as (?:shown|described|in|follows)\b|such as\b|like (?:this|so)\b"
    r"|in (?:two|three|several|many|different) ways)|,\s|;\s|:\s|\s[-–—]\s|\s\("
)
"""Where the part of a sentence ends that the question takes."""

_NO_NAMES = frozenset(("the", "a", "an", "each", "every", "all", "any", "some"))
_NO_SUBJECT = re.compile(
    r"^(?:in|on|at|for|with|under|within|during|from|by|like|unlike|of|each|every|all|another|any|some|both"
    r"|either|neither|no|one|most|many|few|several|(?:the )?(?:first|second|third|last|next)"
    r"|(?:the )?(?:only|main|key|best|easiest|simplest|reason|purpose|goal|idea|point|result|answer|question"
    r"|problem|difference|example|default|rest)"
    r"|(?:an? )?(?:number|example|instance|kind|type|lot) of|\w+ themselves)\b"
    r"|\b(that|which|who|whose|if|when|where|while|to|by|because|then|you|we|I|there|is|are|was|can|will|has"
    r"|have|does|do|should|must|may|means|lets|makes|although|though|as|since|after|before|until|yes|no|how"
    r"|what|why|but|nor|whether|please)\b",
    re.IGNORECASE,
)
_CUT_SHORT = re.compile(r"(?<!be)(?<!is)(?<!are)(?<!get) (?!need|feed|speed)\w{2,}ed$| to \w+$")
"""What is left of a clause whose end was cut off ("entries displayed when …", "values to determine if …")."""

_NO_OBJECT = re.compile(r"[\w-]+ (?:into|of|by|as|and|or|either|both)\b")
_NEGATED = re.compile(r"\b(?:not|never)$|n['’]t$")
_FINITE = re.compile(r"(?<!that )(?<!which )(?<!who )(?<!what )\b(?:is|are|was|were|can|will|has|does)\b")

_NO_CONDITION = re.compile(
    r"(?:\w+ing|\w+(?:ed|en) (?:in|on|at|by|with|within|from|as|to|for|and|or)|not|possible|necessary"
    r"|that|either|both|in|on|at|for)\b"
)
"""A condition without its subject ("when called within a session")."""

_DEIXIS = re.compile(r"\b(?:this|these|those|such|above|below|following|that case|also)\b", re.IGNORECASE)
"""Where the answer speaks of what stands around it, the condition alone is no question."""

_NO_PREFIX = re.compile(r"\b(?:this|that|these|those|case|cases|example|result|way|contrast|turn)\b", re.I)
_ADVICE = re.compile(
    r"(?:you (?:should|must|need|have to)(?! (?:no|not|only)\b)|please|make sure|try|consider"
    r"|we recommend)\b",
    re.IGNORECASE,
)
_OFFER = re.compile(r"you (?:can|may|might)(?! (?:no|not|only)\b)", re.IGNORECASE)
_NEED = re.compile(
    r"\b(?:need|los[te]|forg[eo]t|can't|cannot|don't|run out|no longer|fails?|missing|wrong|unable|still)\b",
    re.IGNORECASE,
)
_LIST = r"(?:[\w/.' -]{1,40}, ){1,6}(?:and|or) "
_REST_OF_LIST = re.compile(_LIST)
_NO_CUT = re.compile(rf", {_LIST}|\([^)]*\)-")
"""What follows a cut that is none: the rest of a list, the rest of a word."""
_ABOUT_READER = re.compile(r"\byour?\b", re.IGNORECASE)
_PLAN = re.compile(r"(?:we|our|this|the proposal|I)\b", re.IGNORECASE)
_WISH = re.compile(r"you(?:'d)? (?:want|need|wish|like|prefer) to (?P<rest>.+)")
_OWN_WORDS = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"\byou're\b|\byou are\b", "I am"),
        (r"\byou were\b", "I was"),
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


def _is_clear(question: str) -> bool:
    """Whether somebody who has not just read the text understands the question."""
    if not _OPENS_QUESTION.match(question) or _VAGUE.search(question) or _REFERS.search(question):
        return False
    asked = _OWN_END.sub("", question)
    if _DANGLING.search(question) and asked == question[:-1]:
        return False
    if not question.startswith(("How", "What", "Why")) and content_words(question, "en") < _LEAST_CONTENT:
        return False
    if _BARE_OBJECT.match(f"{asked} ") and not _has_name(asked):
        return False
    bare = len(_BARE.findall(f"{asked} "))
    return _has_name(asked) or bare <= (content_words(asked, "en") >= _MUCH_SAID)


def _has_name(text: str) -> bool:
    """Whether a word after the first is written as a name."""
    words = re.findall(r"\w{2,}", _CONTRACTED.sub("", text))
    return any(not word.islower() for word in words[1:])


def _asked(opening: str, rest: str) -> str:
    """A question of an opening and the first part of the rest."""
    cut = _TAIL.split(rest, maxsplit=1)[0].strip()
    if len(cut.split()) < LEAST_REST or _NO_OBJECT.match(cut):
        return ""
    left = rest[len(cut) :]
    is_cut_short = _CUT_SHORT.search(cut) or _NO_CUT.match(left.lstrip()) if left.strip() else None
    return "" if is_cut_short else f"{opening} {_as_own(cut)}?"


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
    is_name = (
        not first[1:].replace("-", "").islower() or rest[:1].isupper() or not is_common_word(first.lower())
    )
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


def _how_by_purpose(match: re.Match[str]) -> str:
    """Only where the reader has the purpose: what writers plan or a program does is no advice."""
    main = (match["main"] or "you").strip()
    is_advice = _begins_with_verb(main) or _ABOUT_READER.search(main) or GAP in main
    return _how_do_i(match) if is_advice and not _PLAN.match(main) else ""


def _how_can_i(match: re.Match[str]) -> str:
    prefix = match["prefix"]
    if (prefix and _NO_PREFIX.search(prefix)) or not _begins_with_verb(match["rest"]):
        return ""
    return _asked("How can I", match["rest"])


_OBJECT = re.compile(
    r"(?:a|an|the|your|my|all|multiple|several|more|new) [\w-]"
    r"|(?!(?:of|to|in|and|or|for|with|as|on|at|by|from)\b)(?:[a-z][\w-]* ){0,2}[a-z][\w-]*[^aius]s\b"
)
"""What an order of a heading is about; without it "Filter syntax" and "Order of size" are names of things."""


def _how_by_heading(match: re.Match[str]) -> str:
    verb, rest = match["verb"].lower(), match["rest"]
    words = rest.split()
    is_title = sum(word[:1].isupper() and is_common_word(word.lower()) for word in words) > 1
    if is_title or ":" in rest or not _OBJECT.match(rest) or _FINITE.search(rest):
        return ""
    verb = _GERUNDS.get(verb, verb)
    return _asked("How do I", f"{verb} {rest}") if verb in _VERBS else ""


def _what_if(match: re.Match[str]) -> str:
    condition, main = match["condition"].strip(), match["main"].strip()
    if wanted := _WISH.fullmatch(condition):
        return _how_do_i(wanted)
    if len(condition.split()) < _LEAST_CONDITION or _NO_CONDITION.match(condition) or _DEIXIS.search(main):
        return ""
    is_own = _ABOUT_READER.search(condition) and content_words(condition, "en") >= _LEAST_CONDITION
    if _REST_OF_LIST.match(main) or not (is_own or _has_name(f"if {condition}")):
        return ""
    is_offer = bool(_OFFER.match(main))
    if is_offer and not _NEED.search(condition):
        return ""
    is_advice = is_offer or _begins_with_verb(main) or _ADVICE.match(main)
    opening = "What should I do" if is_advice else "What happens"
    return f"{opening} {'if' if match['word'].lower() == 'if' else 'when'} {_as_own(condition)}?"


def _what_lets(match: re.Match[str]) -> str:
    rest = match["rest"]
    if _NEGATED.search(match["subject"]) or not _begins_with_verb(re.sub(r"^\w+ly ", "", rest)):
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
    """One word alone is nearly always the name of a note, and one common word with its article says too
    little."""
    subject = _subject(match)
    words = subject.split()
    if len(words) < 2 or words[0].endswith(("ing", "ly")) or not {"and", "or"}.isdisjoint(words):
        return ""
    if len(words) == 2 and words[0].lower() in _NO_NAMES and is_common_word(words[1]):
        return ""
    return f"What {match['aux']} {subject}?"


def _why_not(match: re.Match[str]) -> str:
    subject = _subject(match)
    return subject and f"Why {match['aux']} {subject} not {_as_own(match['rest'])}?"


_SUBJECT = r"(?P<subject>[^,;:()]+?)"
_BE = r"(?P<aux>is|are)"
_PRAISE = (
    "(?:particularly |very |rather |fairly |quite )?(?:bad|better|big|common|delicate|good|great|handy|hard"
    "|huge|important|key|large|major|natural|necessary|necessity|nice|rare|simple|small|special|useful|valuable)\\b"
)
"""A thing that is a good one has not been explained."""

_TOOLS = (
    "Select|Click|Press|Tap|Use|Open|Choose|Go to|Run|Enable|Disable|Type|Enter|Drag|Hold|Right-click"
    "|Hover|Add|Set"
)
ENGLISH = QuestionForms(
    openings=_OPENINGS,
    sentences=forms(
        (r"^To (?P<rest>[^,:]+)(?:, (?P<main>.+)|:)", _how_by_purpose),
        (rf"^To (?P<rest>[^,:]+?),? (?:see|refer to|check|visit|read|use|follow)\b.*{GAP}", _how_do_i),
        (r"^(?P<word>If|When|Whenever|Once) (?P<condition>[^,]+), (?:then )?(?P<main>.+)", _what_if),
        (
            r"^(?:(?P<prefix>[^,]{2,40}), )?[Yy]ou can (?:also |always |even |then |easily )?(?P<rest>.+)",
            _how_can_i,
        ),
        (
            rf"^{_SUBJECT} (?:also )?(?:lets?|allows?|enables?|helps?) (?:you|users|people) "
            r"(?:to )?(?P<rest>.+)",
            _what_lets,
        ),
        (
            rf"^{_SUBJECT} (?P<aux>can) (?:also |only |always |then )?be "
            r"(?P<verb>\w+(?:ed|en|wn|ne|pt|ld|de|un|et|id))(?P<middle>[^,;:]*?) "
            rf"(?:by|using|through|via|(?:with|in|from|under) {GAP}).*",
            _how_passive,
        ),
        (rf"^{_SUBJECT} (?P<verb>depends?) on .+", _depends),
        (rf"^{_SUBJECT} {_BE} used (?:to|for|by) .+", _used_for),
        (
            rf"^(?:{_TOOLS}) (?:the|an?|your|this|[A-Z{GAP}]).*? to "
            rf"(?P<rest>(?!the |an? |your |my |{GAP})[^,;:]+)$",
            _how_do_i,
        ),
        (
            rf"^{_SUBJECT} {_BE} (?:(?:one of|where|how|the (?:\w+ ){{1,2}}of) |an? (?!{_PRAISE}).*?"
            r"(?:that|which|who|where|of|for|to|used|with|from|in)\b)",
            _what_is,
        ),
    ),
    headings=forms(
        (r"^(?:How to|Ways to|Steps to) (?P<rest>.+)$", _how_do_i),
        (rf"^{_SUBJECT} (?P<aux>is|are|can|will|does|do) ?(?:not|n't) (?P<rest>.+)$", _why_not),
    ),
    orders=forms((r"^(?P<verb>[A-Z][a-z-]+) (?P<rest>.+)$", _how_by_heading)),
    reader=re.compile(r"\byou(?:r|rs|rself|'ll|'re|'ve|'d)?\b", re.IGNORECASE),
    writer=re.compile(r"\b(?:[Ww]e|[Oo]ur|[Uu]s|I)\b"),
    is_clear=_is_clear,
)
