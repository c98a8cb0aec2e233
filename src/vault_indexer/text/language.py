"""Detects the language of a text by its script, or by its function words if languages share the script.

It is small on purpose: it needs no model file and no import, and takes about 0.1 ms for a note. On prose,
function words distinguish languages about as well as trigrams. On code they give no result, which is correct.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache

from vault_indexer.text.fold import fold, normalize

# Signs that distinguish languages. Each line begins with the language's code (ISO 639-1).


FUNCTION_WORDS = """
en the of and to in is that for it as was with be by on not he this are or his from at which but have an
en had they you were their one all we can her has there been if more when will would who so no what how
en your use where why did does whose
de der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus
de er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber
de vor zur bis was wer wo wann welche welcher wurde
fr de la le et les des en un du une que est pour qui dans par plus pas au sur ne se ce il sont cette ou
fr avec aux son leur ses nous mais comme elle été vous être ont fait si même ces tout peut quel quelle
fr quels où quand pourquoi combien
es de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me si
es sin sobre este ya entre cuando todo esta ser son dos también fue había era muy años hasta desde está
es qué cuál cuáles cuándo dónde quién quiénes cómo cuánto cuántos cuántas fueron
pt de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das à seu sua ou
pt quando muito nos já eu também só pelo pela até isso ela entre depois sem mesmo aos são você foi
it di e il la che in un a per è una sono del con non si da come le dei nel alla più della i gli lo al ma
it ha anche o se delle questo degli nella dal essere tra su suo stato ed ai quando dalla
nl de van het een en in is dat op te zijn voor met die niet aan er om ook als dan maar bij door naar uit
nl ze wordt of over deze worden nog kan hij was hebben heeft tot wel geen meer je
sv och i att det som en på är av för med den till inte har de om ett han men var jag sig från vi så kan
sv när ut där hon ska mot också eller alla efter under hade än
da og i at det er en til på af for med den som der de ikke har et var fra han om men kan vil skal sig jeg
da ved også efter blev eller hvor hun være nu når over havde mod blive
nb og i det er på som en til av for at med den de har ikke om et fra var han men seg kan jeg ble vil skal
nb også eller etter ved hun være nå når mot over bare hadde blir noen
fi ja on ei se että oli hän mutta ovat kun niin joka myös tai sen ole kuin sitä voi jos mitä vain siitä
fi ollut olisi hänen tämä sekä jotka tämän kanssa jo mukaan
pl w i na z do się nie to jest że o jak od po za co przez dla są tym czy być ale które który ma oraz tego
pl już tylko jego może ich był także lub
cs a v se na je že s z do o to i ve pro jako by ale za po jsou od k jeho které být není který jsem nebo
cs při bylo už však může aby až jen podle tak
hu a az és hogy nem is egy van ez volt meg de csak már mint még ha el vagy kell ezt azt minden lehet után
hu fel ami aki között nagyon szerint
ro de și în a la cu pe un o că nu care este din să mai se al pentru sunt ca au fost sau prin ale dar lui
ro după fi această dintre până
tr ve bir bu da de için ile çok olarak daha olan en gibi kadar ne var sonra ya değil ama o her ise mi veya
tr göre olduğu tarafından ancak
ca de la i el que a en les els un per una amb del és no es dels al com més però se va són ha aquesta també
ca seva aquest ser entre han quan
id yang dan di ini dengan untuk dari dalam tidak pada itu adalah akan atau juga ke oleh bisa dapat ada
id saya sebagai kita mereka tersebut telah karena
vi và của là các có được trong cho một không với những này người đã để khi đó về như từ nhiều tại cũng
et ja on ei et see oli ka kui ning mis aga oma seda ta olid kes nii või selle pole ma siis veel
lt ir į kad yra iš su tai kaip o bet jis buvo tik nuo po ar dar taip jo apie prie
ru и в не на что с он как это но по к из у за от так же для то о все его только было бы она был мы при или
ru ее быть может также их до
uk і в не на що з він як це але по до та у за від так же для то про все його тільки було б вона був ми при
uk або її є які може також
bg и в на да се от за е не с че са по като към това или до при ще беше който която което след
sr и у на је да се од за са не су као што по али био или из које који
ar في من على أن إلى التي هذا ما عن مع لا كان هذه الذي أو بين كما قد وقد ذلك
fa و در به از که این را با است برای آن یک خود تا کرد بر هم نیز شد می
hi के में है की और से का को पर एक यह हैं कि भी ने था इस लिए नहीं
ne र को मा छ हो यो पनि लाई ले भने गर्न तथा छन् थियो
"""

LETTERS = """
ru ыэё
uk іїєґ
bg ъ
sr ђјљњћџ
be ў
de ßäöü
es ñ¿¡áéíóú
pt ãõçáéíóú
fr çœèêàùî
it èàùòì
ca çèàòï
sv åäö
da åæø
nb åæø
fi äö
et äöõü
pl łąęśżźćń
cs řěůčšž
hu őűáéíóöü
ro ășțâî
tr ğışçöü
vi đơưăạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ
lt ėįųųčšž
fa پچژگ
ar ةىأ
"""
"""Letters (and marks) that few languages use."""


# The words of a query that have no content of their own.


_IN_QUERIES = """
en a an i do did done my me am its than then them these those into about should could would let must might
en shall our ours she him hers yours theirs
de kann könnte konnte sein seine seiner seinem seinen ihr ihre ihrer man dies diese dieser dieses durch
de gegen unter hatte hatten waren worden würde gibt gab zwischen während neben
de ich mich mir mein meine meinen meinem meiner wir uns unser unsere unseren
de du dich dir dein deine muss müssen soll sollte beim vom ins ans ihn ihm unserem darf dürfen
es yo mi mis tú tu tus nosotros nuestro nuestra nuestros nuestras nos te él ella
fr je me mon ma mes moi tu toi ton ta tes nos vos notre votre leurs sa te lui ils elles on y faut dois doit
fr sera seront était étaient
it io mi mio mia miei mie noi tu tuo tua
nl ik mij mijn wij ons jij jouw
pt eu meu minha meus minhas nós tu teu tua
ro ei ele lor acest această acesta aceste acestea cel cea cei cele era erau poate fără între despre
tr şu o bu kendi hem ki diye üzere karşı arasında idi oldu olur ise dir bulunmaktadır bulunur hakkında
ru является являются еще ещё ли же бы были находится между во со об над под при про себя этот эта эти
ru этого
ar هو هي هم الذين ذلك تلك له لها به بها فيه فيها تم عند منذ حتى حيث كل بعض غير ثم قبل بعد خلال
hi हो था थे थी गया गई गए किया कर करने करता करते हुए हुआ हुई होता होती होते तो जो वह उस उसके उनके अपने
hi तक बाद द्वारा रूप
el ο η το οι τα του της των τον την τους τις και κι να σε στο στη στην στον στους στις στα με για από
el που δεν θα είναι ήταν έχει είχε ένα ένας μια μία ως κατά ή αυτό αυτή αυτός όταν πριν μετά μεταξύ
vi bị bởi ra vào lên trên dưới sau trước nó họ thì mà nên vì nếu còn chỉ rất hơn cùng theo hay hoặc
vi việc sự
"""
"""They are not among the signs of a language, because some of them also occur in other languages, or because
the script is sufficient."""


@cache
def function_words(language: str) -> frozenset[str]:
    """Returns the folded function words of a language (ISO 639-1), or none for an unknown language."""
    return words_of(language, FUNCTION_WORDS + _IN_QUERIES)


def words_of(language: str, table: str) -> frozenset[str]:
    """Returns the folded words of a language from a table whose lines each begin with a language code."""
    lines = (line.split() for line in table.splitlines() if line)
    return frozenset(fold(normalize(word)) for code, *words in lines if code == language for word in words)


def is_function_word(word: str, language: str) -> bool:
    """Whether a word, as written, is a function word of a language (ISO 639-1)."""
    return fold(normalize(word)) in function_words(language)


_SAMPLE = 2_000
_LEAST_SHARE = 0.08
"""The minimum share of words that are function words of the language. Prose has 0.3 to 0.5."""

_LETTER_WORTH = 0.25

_CLEAR_SHARE = 0.1
_CLEARER = 2.0
"""A query is in a language that does not occur in the vault only if the votes for it are at least this share
of the words, and `_CLEARER` times those for any language of the vault. It is in a rarer language of the vault
only if the votes are `_CLEARER` times those for the main one. English questions contain words that are also
Czech ("a", "do", "by"), and a vault of many English notes may have a few Czech ones, or some that were
detected as Czech."""

_SCRIPTS = {
    "ja": re.compile("[\u3041-\u30fa\uff66-\uff9f]"),
    "ko": re.compile("[\u1100-\u11ff\uac00-\ud7a3]"),
    "zh": re.compile("[\u3400-\u4dbf\u4e00-\u9fff]"),
    "th": re.compile("[\u0e01-\u0e3a]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "he": re.compile("[\u05d0-\u05ea]"),
    "hy": re.compile("[\u0531-\u058f]"),
    "ta": re.compile("[\u0b80-\u0bff]"),
}
"""Scripts that identify a language. Japanese precedes Chinese, because it also uses Chinese characters."""

_SHARED_SCRIPTS = {
    "ru": re.compile("[\u0400-\u04ff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
}
"""Scripts that several languages share, each with the language that has the most readers."""

_WORDS = re.compile(r"[^\W\d_][^\W\d_\u0300-\u036f]*[\u0300-\u036f\u0900-\u094f\w]*")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_NOT_PROSE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|\{\{.*?\}\}", re.DOTALL)
_NOT_PROSE_OF_NOTES = re.compile(
    r"""
    (?P<fence>```|~~~).*?(?:(?P=fence)|\Z) | `[^`\n]*` | \{\{.*?\}\} | %%.*?%% | <[^>\n]*>
    | \$\$.*?(?:\$\$|\Z) | \$[^$\n]+\$ | !?\[\[[^\]\n]*\]\] | (?<=\])\([^)\n]*\) | [a-z]+://\S+
    | [A-Za-z0-9+/=_-]{40,}
    """,
    re.DOTALL | re.VERBOSE,
)
"""Code, templates, comments, HTML, math, links, addresses, and data as base64."""

_NOTE_SAMPLE = 4 * _SAMPLE
_FEW_LETTERS = 20
"""The minimum letters of a note whose language is detected in a script that several languages share."""


def detect(text: str, among: Collection[str] = ()) -> str:
    """Returns the ISO 639-1 code of the text's language, or "" if it is uncertain. Only the beginning is
    read.

    With `among`, the result is one of these codes or "". Short queries need this restriction.
    """
    prose = normalize(_NOT_PROSE.sub(" ", text[: 2 * _SAMPLE])[:_SAMPLE])
    letters = sum(map(str.isalpha, prose))
    by_script = "" if prose.isascii() else _by_script(prose, letters)
    if by_script:
        return by_script if not among or by_script in among else ""
    return _by_function_words(prose, among)


def detect_note(text: str) -> str:
    """Returns the ISO 639-1 code of the language of a note's body, or "" if it is uncertain. Only prose
    counts. Few letters are not sufficient, and words of a single letter do not count, because they are often
    variables."""
    prose = _NOT_PROSE_OF_NOTES.sub(" ", text[:_NOTE_SAMPLE])[:_SAMPLE]
    code = detect(prose)
    if not code or code in _SCRIPTS:
        return code
    if sum(map(str.isalpha, prose)) < _FEW_LETTERS:
        return ""
    owners, letters = _signs()
    words = {word for word in _WORDS.findall(normalize(prose)) if len(word) > 1}
    signs = [owners.get(word, ()) for word in words]
    signs += [letters.get(letter, ()) for letter in set(_BEYOND_ASCII.findall(prose))]
    return code if any(code == owner for sign in signs for owner, _ in sign) else ""


def detect_query(text: str, languages: Sequence[str]) -> str:
    """Returns the language of a query to a vault. `languages` are those of the vault, most frequent first.
    The result is the first one, unless the query is clearly in another language, or "" if it is uncertain. If
    only the script is known, it is the vault's first language with that script, or otherwise the language
    that most people write in it."""
    return _detect_query(text, tuple(languages))


@lru_cache(maxsize=64)  # a search detects the same query about three times
def _detect_query(text: str, languages: tuple[str, ...]) -> str:
    own, other = detect(text, languages), detect(text)
    votes = _function_word_votes(normalize(text))
    if other and other not in languages:
        best_own = max((votes.get(code, 0.0) for code in languages), default=0.0)
        words = len(_WORDS.findall(text))
        if other in _SCRIPTS or votes.get(other, 0.0) >= max(_CLEAR_SHARE * words, _CLEARER * best_own):
            return other
    if not own:
        return _by_shared_script(text, languages)
    if not languages or own in _SCRIPTS:
        return own
    main = languages[0]
    return own if votes.get(own, 0.0) >= _CLEARER * votes.get(main, 0.0) else main


def _by_script(prose: str, letters: int) -> str:
    kana = len(_SCRIPTS["ja"].findall(prose))
    for code, pattern in _SCRIPTS.items():
        found = len(pattern.findall(prose))
        if code == "ja":
            found += 3 * kana  # a kana is stronger evidence than the ideographs around it
            if kana * 10 < letters:
                continue
        # A character of these scripts corresponds to several letters.
        if found * (3 if code in ("ja", "ko", "zh") else 2) >= max(letters, 1):
            return code
    return ""


def _by_shared_script(text: str, languages: Sequence[str]) -> str:
    letters = sum(map(str.isalpha, text))
    for code, pattern in _SHARED_SCRIPTS.items():
        if 2 * len(pattern.findall(text)) > letters:
            own = (name for name in languages if pattern.search("".join(function_words(name))))
            return next(own, code)
    return ""


def _by_function_words(prose: str, among: Collection[str]) -> str:
    votes = _function_word_votes(prose)
    ranked = [(code, count) for code, count in votes.items() if not among or code in among]
    if not ranked:
        return ""
    ranked.sort(key=lambda vote: (-vote[1], vote[0]))
    code, most = ranked[0]
    clear = len(ranked) == 1 or most > ranked[1][1] * 1.05
    return code if clear and most >= _LEAST_SHARE * len(_WORDS.findall(prose)) else ""


def _function_word_votes(prose: str) -> Mapping[str, float]:
    votes: defaultdict[str, float] = defaultdict(float)
    words = _WORDS.findall(prose)
    owners, letters = _signs()
    for word in words:
        for code, worth in owners.get(word, ()):
            votes[code] += worth
    if not prose.isascii():
        for letter in _BEYOND_ASCII.findall(prose):
            for code, worth in letters.get(letter, ()):
                votes[code] += worth * _LETTER_WORTH
    return votes


_Votes = dict[str, tuple[tuple[str, float], ...]]


@cache
def _signs() -> tuple[_Votes, _Votes]:
    """Returns the function words and letters with their languages. A sign of many languages weighs less."""
    words = [
        (code, word) for code, *found in map(str.split, FUNCTION_WORDS.split("\n")[1:-1]) for word in found
    ]
    letters = [
        (code, letter) for code, found in map(str.split, LETTERS.split("\n")[1:-1]) for letter in found
    ]
    return _votes((code, normalize(word)) for code, word in words), _votes(letters)


def _votes(signs: Iterable[tuple[str, str]]) -> _Votes:
    owners: dict[str, list[str]] = {}
    for code, sign in signs:
        owners.setdefault(sign, []).append(code)
    return {sign: tuple((code, len(codes) ** -0.5) for code in codes) for sign, codes in owners.items()}


# Words that mark a question, and words for the kind of thing that it asks for.
#
# A note that answers "What is the name of the river?" rarely contains "what" or "name", so their absence is
# no evidence against a note. They rank like other words.


_INTERROGATIVES = """
en many much often name type kind
de oft wen wem wessen woher wohin warum weshalb wieso wieviel wieviele viel viele welches welchem welchen
de wofür womit wodurch woran worauf worüber woraus worin wovon wovor wozu name namen heißt heißen hieß
de hießen lautet lauten art anzahl
fr quoi quelles lequel laquelle lesquels lesquelles comment nom type sorte genre nombre appelle
es cuánta nombre tipo cantidad
pt quem qual quais quanto quanta quantos quantas onde porque porquê nome tipo número chama
it chi cosa quale quali quanto quanta quanti quante dove perché nome tipo numero chiama
ca qui què quin quina quins quines on quant quanta quants quantes nom tipus nombre
nl wie wat waar wanneer waarom hoe welk welke hoeveel veel waarvoor waarmee waaruit waarin naam soort
nl aantal heet
sv vem vems vad vilken vilket vilka varför hur många mycket namn typ sort antal heter
da hvem hvis hvad hvilken hvilket hvilke hvornår hvorfor hvordan mange meget navn type slags antal
da hedder
nb hvem hva hvilken hvilket hvilke hvor hvorfor hvordan mange mye navn type slags antall heter
fi kuka ketä kenen kenelle ketkä mikä minkä mitkä mihin missä mistä milloin koska miksi miten kuinka
fi montako moni monta paljon nimi tyyppi määrä
et keda kelle mida mille milline millised kus kust kuhu millal miks kuidas mitu palju nimi tüüp arv
pl kto kogo komu kim czyj czyja czyje czego czemu czym jaki jaka jakie jakiego jakiej jakim jakich jaką
pl która którego której któremu którym których którzy ile ilu gdzie skąd dokąd kiedy dlaczego nazwa
pl imię typ rodzaj liczba nazywa
cs kdo koho komu kým čí co čeho čemu čím jaký jaká jaké jakého jakou jakým jakých která kterého kterou
cs kterým kterých kolik kde kam odkud kdy proč jak jméno název typ druh počet
hu ki kit kinek kik mi mit minek mik milyen melyik melyek mennyi hány hol hova honnan mikor miért
hu hogyan név neve típus szám
ro cine cui ce căruia cărei cât câtă câți câte unde când cum nume numele tip tipul fel număr numărul
ro numește
tr kim kimi kime kimin kimdir kimdi kimler nedir neydi neyi neye neyin neler nelerdir nasıl nasıldır
tr neden niçin niye nerede nereye nereden neresi neresidir hangi hangisi hangisidir hangileri kaç
tr kaçtır kaçıncı zaman ad adı isim ismi tür türü sayısı denir
id siapa apa apakah mana dimana kapan mengapa kenapa bagaimana berapa nama jenis tipe jumlah
vi ai gì nào đâu bao nhiêu mấy sao thế tên loại số
lt kas ką ko kam kuo koks kokia kokie kokios kuris kuri kurie kurios kiek kur kada kodėl vardas
lt pavadinimas tipas
ru кто кого кому кем чей чья чье чьи какой какая какое какие какого какую каком каким какими каких
ru какова каков каковы сколько когда где куда откуда почему зачем чего чему чем называется который
ru которая которые
uk хто кого кому ким чий чия чиє чиї який яка яке якого якої якому яким якою яких скільки коли де куди
uk звідки чому навіщо чого чим назва тип називається
bg кой кого кому чий чия какво каква какви какъв коя кое кои колко кога къде откъде защо как име тип
bg вид нарича
sr ко кога коме ким чији шта чега чиме какав каква какво која којег колико када где куда одакле зашто
sr како име тип врста
el ποιος ποια ποιο ποιοι ποιες ποιους ποιων ποιον ποιου ποιας τι πού πότε πώς γιατί πόσο πόση πόσος
el πόσοι πόσες πόσα όνομα είδος τύπος αριθμός ονομάζεται λέγεται
ar ماذا متى أين كيف لماذا كم أي أية هل لمن بماذا مما اسم نوع عدد يسمى تسمى
fa چه چی کی کیست چیست کجا کجاست کدام چند چقدر چگونه چطور چرا نام نوع تعداد
he מי מה מתי איפה היכן איך כיצד למה מדוע כמה איזה איזו אילו לאן מאין שם סוג מספר
hi क्या कौन किस किसने किसे किसको किसका किसकी किसके किन कब कहाँ कैसे कैसा कैसी क्यों कितना कितने कितनी
hi नाम प्रकार संख्या
ne के कहिले कहाँ कसरी किन कति कुन कसले कसलाई कसको नाम प्रकार
zh 什么 什麼 什么地方 什麼地方 什么时间 什麼時間 什么人 什麼人 什么样 什麼樣 哪个人 哪一个 哪一個 哪一天
zh 哪一年 哪天 哪年 哪 哪些 哪个 哪個 哪位 哪种 哪種 哪里 哪裡 哪儿 谁 誰 几 幾 多少 多久 多大 多长 多長
zh 多高 多远 多遠 怎么 怎麼 怎样 怎樣 如何 为何 為何 为什么 為什麼 何时 何時 何处 何處 何种 什么时候
zh 什麼時候 吗 嗎 呢 请问 請問
ja 何 なに なん 誰 だれ どなた どこ どれ どの どんな どちら いつ いくつ いくら なぜ 何故 どうして
ja どうやって どのように どうすれば どのくらい どれくらい ですか ますか でしょうか ましたか でしたか のか
ja ください 教えて いる いますか ある ありますか
"""
"""Each line begins with the language's code (ISO 639-1). Function words are not repeated."""


@cache
def interrogatives(language: str) -> frozenset[str]:
    """Returns the folded question words of a language, or none for an unknown language."""
    return words_of(language, _INTERROGATIVES)


@cache
def asking_characters() -> re.Pattern[str]:
    """Returns a pattern for the Chinese and Japanese question words, except in the word for geometry."""
    words = sorted(interrogatives("zh") | interrogatives("ja"), key=len, reverse=True)
    return re.compile(rf"(?<![几幾])(?![几幾]何)(?:{'|'.join(words)})")
