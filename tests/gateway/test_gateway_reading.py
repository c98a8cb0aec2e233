"""Users read notes, what is near them, and answers that quote them: of their vaults alone."""

from gateway_lab import ANA, BEN, NOTES, Gateway

SATURN = "Sky/Saturn.md"


def test_a_note_is_read_as_it_is_published(shared_gateway: Gateway) -> None:
    found = shared_gateway.get("/v1/note", BEN, path=SATURN).json
    assert found["text"] == NOTES["observatory"][SATURN]
    assert (found["path"], found["vault"], found["keeper"]) == (SATURN, "observatory", "keeper")
    assert (found["title"], found["language"], found["tags"]) == ("Saturn", "en", ["planet"])


def test_nobody_reads_a_note_of_another_vault(shared_gateway: Gateway) -> None:
    for path in ("/v1/note", "/v1/related"):
        theirs = shared_gateway.get(path, ANA, path=SATURN)
        nowhere = shared_gateway.get(path, ANA, path="No such.md")
        assert theirs.status == nowhere.status == 404
        assert theirs.body.replace(SATURN.encode(), b"") == nowhere.body.replace(b"No such.md", b"")
        assert shared_gateway.get(path, ANA, path=SATURN, vault="observatory").status == 404
    answer = shared_gateway.post("/v1/ask", ANA, {"q": "What are the rings of Saturn made of?"}).json
    assert b"ice and rock" not in str(answer).encode()


def test_the_notes_near_a_note_are_those_of_its_vault(shared_gateway: Gateway) -> None:
    found = shared_gateway.get("/v1/related", BEN, path=SATURN).json
    results = found["results"]
    assert isinstance(results, list)
    assert [one["path"] for one in results] == ["Sky/Long.md"]
    assert 0 < results[0]["similarity"] < 1


def test_an_answer_quotes_notes_with_their_places(shared_gateway: Gateway) -> None:
    answer = shared_gateway.post("/v1/ask", BEN, {"q": "What are the rings of Saturn made of?"}).json
    assert (answer["kind"], answer["verdict"]) == ("quotes", "strong")
    sentences = answer["sentences"]
    assert isinstance(sentences, list)
    (cited,) = sentences[0]["citations"]
    assert sentences[0]["text"] == "The rings of Saturn are ice and rock."
    assert (cited["path"], cited["vault"], cited["start_line"]) == (SATURN, "keeper/observatory", 6)
    text = NOTES["observatory"][SATURN]
    assert text[cited["start_pos"] : cited["end_pos"]] == cited["quote"]
    declined = shared_gateway.post("/v1/ask", BEN, {"q": "Who won the chess olympiad in Tbilisi?"}).json
    assert (declined["kind"], declined["sentences"]) == ("declined", [])


def test_bad_requests_are_refused_in_one_line(shared_gateway: Gateway) -> None:
    assert shared_gateway.get("/v1/note", BEN).status == 422
    assert shared_gateway.get("/v1/related", BEN, path=SATURN, limit=0).status == 422
    assert shared_gateway.post("/v1/ask", BEN, {"q": ""}).status == 422
    assert shared_gateway.get("/v1/note", BEN, path='x" or path != "').status == 404
