"""Signs by which languages are told apart. Each line begins with the language's code (ISO 639-1)."""

from __future__ import annotations

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
