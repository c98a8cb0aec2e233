"""Values, actors, directions and orders that change places, and conditions that a claim leaves out."""

from __future__ import annotations

import pytest

from vault_indexer.answer.check.roles import role_conflict
from vault_indexer.answer.check.words import clauses

MIXED, TURNED = "the note says it about something else", "it reverses a direction"
ACTORS, ORDER, CONDITION = "it changes who does what", "it reverses an order", "it leaves out a condition"
EXCHANGED, UNLESS = "it swaps two words of the note", "it reverses a condition"


@pytest.mark.parametrize(
    ("text", "claim", "language", "why"),
    [
        # values of parallel clauses
        ("Take 2 g at noon and 4 g at night.", "Take 2 g at noon.", "en", ""),
        ("Take 2 g at noon and 4 g at night.", "Take 4 g at noon.", "en", MIXED),
        ("The gate opens at 6:30 and closes at 20:00.", "The gate closes at 20:00.", "en", ""),
        ("The gate opens at 6:30 and closes at 20:00.", "The gate closes at 6:30.", "en", MIXED),
        ("The red tap gives hot water and the blue tap cold.", "The blue tap gives cold water.", "en", ""),
        ("The red tap gives hot water and the blue tap cold.", "The blue tap gives hot water.", "en", MIXED),
        ("Das Tor öffnet um 6:30 und schließt um 20:00.", "Das Tor schließt um 6:30.", "de", MIXED),
        ("La puerta abre a las 6:30 y cierra a las 20:00.", "La puerta cierra a las 6:30.", "es", MIXED),
        # directions
        ("The bus goes from Bern to Basel.", "From Bern the bus goes to Basel.", "en", ""),
        ("The bus goes from Bern to Basel.", "The bus goes from Basel to Bern.", "en", TURNED),
        ("The bus goes from Bern to Basel.", "The bus goes to Bern.", "en", TURNED),
        ("Der Bus fährt von Bern nach Basel.", "Der Bus fährt von Basel nach Bern.", "de", TURNED),
        ("El bus va de Berna a Basilea.", "El bus va de Basilea a Berna.", "es", TURNED),
        # actors
        ("Mira paid Otto in June.", "In June Mira paid Otto.", "en", ""),
        ("Mira paid Otto in June.", "Otto was paid by Mira in June.", "en", ""),
        ("Mira paid Otto in June.", "Otto paid Mira in June.", "en", ACTORS),
        ("Mira paid Otto in June.", "Mira was paid by Otto in June.", "en", ACTORS),
        ("Mira hat Otto bezahlt.", "Otto hat Mira bezahlt.", "de", ACTORS),
        ("Mira Holm paid Otto Lind.", "Mira Holm paid Otto Lind on time.", "en", ""),
        # order
        ("Rinse the rice before you boil it.", "Before you boil it, rinse the rice.", "en", ""),
        ("Sand doors before you paint frames.", "Paint frames before you sand doors.", "en", ORDER),
        ("Sand doors before you paint frames.", "Sand doors after you paint frames.", "en", ORDER),
        ("Erst Türen schleifen, dann Rahmen malen.", "Erst Rahmen malen, dann Türen schleifen.", "de", ORDER),
        # conditions
        ("Dogs are allowed only with a leash.", "Dogs are allowed.", "en", CONDITION),
        ("Dogs are allowed only with a leash.", "Dogs are allowed with a leash.", "en", ""),
        ("If it freezes, drain the pipe.", "Drain the pipe.", "en", CONDITION),
        ("If it freezes, drain the pipe.", "Drain the pipe if it freezes.", "en", ""),
        ("The pipe is blue, and if it freezes, drain the tank.", "The pipe is blue.", "en", ""),
        ("Hunde sind nur mit Leine erlaubt.", "Hunde sind erlaubt.", "de", CONDITION),
        ("Si hiela, hay que vaciar el tubo.", "Hay que vaciar el tubo.", "es", CONDITION),
        ("In fog we use the horn, otherwise the lamp.", "In fog we use the lamp.", "en", MIXED),
        ("In fog we use the horn, otherwise the lamp.", "We use the horn.", "en", CONDITION),
        ("In fog we use the horn, otherwise the lamp.", "We use the horn in fog.", "en", ""),
        ("Bei Nebel nehmen wir das Horn, sonst die Lampe.", "Wir nehmen das Horn.", "de", CONDITION),
        ("Bei Nebel bleibt das Tor zu, sonst offen.", "Bei Nebel bleibt das Tor offen.", "de", CONDITION),
        ("Ring twice unless it is dark.", "Ring twice if it is dark.", "en", UNLESS),
        ("Ring twice unless it is dark.", "If it is not dark, ring twice.", "en", ""),
        ("Ring twice unless it is dark.", "Unless it is dark, ring twice.", "en", ""),
        ("Ring twice if it is dark.", "Ring twice unless it is dark.", "en", UNLESS),
        ("Klingle, es sei denn, es ist dunkel.", "Klingle, wenn es dunkel ist.", "de", UNLESS),
        ("Except on Mondays, the kiosk sells bread.", "The kiosk sells bread.", "en", CONDITION),
        ("Except on Mondays, the kiosk sells bread.", "The kiosk sells bread on Mondays.", "en", CONDITION),
        ("Except on Mondays, the kiosk sells bread.", "On Mondays the kiosk sells no bread.", "en", ""),
        # causes
        ("The dam leaks because roots grow in it.", "Roots grow in it because the dam leaks.", "en", ORDER),
        ("The dam leaks because roots grow in it.", "Because roots grow in it, the dam leaks.", "en", ""),
        ("Der Damm leckt, weil Wurzeln wachsen.", "Wurzeln wachsen, weil der Damm leckt.", "de", ORDER),
        # a word of another clause in the place of one
        ("Stir when the jam sets, then cool the jars.", "Stir when the jars sets.", "en", MIXED),
        ("Stir when the jam sets, then cool the jars.", "Stir when the jam sets.", "en", ""),
        ("The goat eats clover, the hen maize.", "The hen eats maize.", "en", ""),
        ("The goat eats clover, the hen maize.", "The hen eats clover.", "en", MIXED),
        ("Only crews may enter the lock, and pilots must call ahead.", "Crews must call ahead.", "en", MIXED),
        # clauses that leave out what they have in common
        ("The big jar holds rice, the small tin sugar.", "The small tin holds sugar.", "en", ""),
        ("The big jar holds rice, the small tin sugar.", "The small tin holds rice.", "en", MIXED),
        ("The big jar holds rice, the small tin sugar.", "The big jar holds sugar.", "en", MIXED),
        ("Dust the shelves weekly and the lamps monthly.", "Dust the lamps monthly.", "en", ""),
        ("Dust the shelves weekly and the lamps monthly.", "Dust the lamps weekly.", "en", MIXED),
        ("Mix flour and cold water.", "Mix water.", "en", ""),
        ("Der Tee steht oben und der Reis unten im Schrank.", "Der Reis steht oben.", "de", MIXED),
        ("Los niños pagan poco y los adultos mucho dinero.", "Los adultos pagan poco.", "es", MIXED),
        # two words around others that stay
        ("Tin is softer than zinc.", "Zinc is softer than tin.", "en", EXCHANGED),
        ("The brown dog follows the grey cat.", "The grey dog follows the brown cat.", "en", EXCHANGED),
        ("Swap the salt for pepper.", "Swap the pepper for salt.", "en", EXCHANGED),
        ("Add tin and zinc to the pot.", "Add zinc and tin to the pot.", "en", ""),
        ("Der Hund sucht den Kater.", "Der Kater sucht den Hund.", "de", EXCHANGED),
        ("Der Hund sucht den Kater.", "Den Kater sucht der Hund.", "de", ""),
        ("The cat sees the dog, the dog sees the cat at noon.", "The dog sees the cat at noon.", "en", ""),
        ("猫在早上吃鱼。", "猫在晚上吃鱼。", "zh", ""),  # without spaces between words it sees nothing
    ],
)
def test_what_changes_places(text: str, claim: str, language: str, why: str) -> None:
    stated = clauses(text.rstrip("."), language)
    found = [role_conflict(clause, claim, stated, text, language) for clause in clauses(claim, language)]
    assert next(filter(None, found), "") == why
