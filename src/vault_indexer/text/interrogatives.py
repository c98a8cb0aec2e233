"""The words by which a question says that it asks, and what kind of thing it asks for.

A note that answers "What is the name of the river?" seldom holds "what" or "name", so whether it does says
nothing. They rank like other words.
"""

from __future__ import annotations

from functools import cache

from vault_indexer.text.function_words import words_of

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
"""
"""Each line begins with the language's code (ISO 639-1). Function words are not repeated."""


@cache
def interrogatives(language: str) -> frozenset[str]:
    """The folded words that ask, in a language; none for one that is not known."""
    return words_of(language, _INTERROGATIVES)
