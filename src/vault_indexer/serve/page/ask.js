/** The ask view: a question, sentences with numbered citations, the passages that were read. */

import { ApiError, get, inVault, postLines, statusOf } from "./api.js";
import { noteLoss } from "./daemon.js";
import { announce, copy, h, marked, quantity, setTitle } from "./dom.js";
import { address, noteName, partBelow, placeOfPart, setAddress } from "./route.js";

/** What the user has chosen for a model: `yes`, or `no` for quotes. Another model or host is another choice. */
const CHOICE = "ask-model";

const RETRY_MS = 1000;

/** Earlier questions that are shown. */
const EARLIER = 10;

/** A quote is marked in its note by the parts between Markdown marks, because each is a text of its own there. */
const MARKUP = /[*_`~=[\]()<>|#\n]+/;
const MOST_PARTS = 12;
const SHORT_PART = 8;

/** @typedef {import("./shapes").AskAnswer} AskAnswer */
/** @typedef {import("./shapes").Citation} Citation */
/** @typedef {import("./shapes").Hit} Hit */
/** @typedef {import("./shapes").LanguageModel} LanguageModel */

/** @typedef {{ question: string, usesModel: boolean, answer: AskAnswer }} Exchange a question with its whole answer */

/** The exchanges of this tab, the newest first: Back leads to an answer without a second question. @type {Exchange[]} */
let exchanges = [];

/**
 * Show the view. The signal ends its requests.
 * @param {HTMLElement} main
 * @param {URLSearchParams} values
 * @param {AbortSignal} signal
 */
export async function showAsk(main, values, signal) {
  const isOne = document.body.dataset.vaults !== "all";
  const status = isOne ? await get("status", {}, signal) : await anyStatus(signal);
  if (!signal.aborted) new AskView(main, values.get("q") ?? "", status.language_model ?? null, signal);
}

/** The status of a vault, on the page of all: they have the same model. @param {AbortSignal} signal */
async function anyStatus(signal) {
  const { vaults } = await get("vaults", {}, signal);
  return Promise.any(vaults.map((/** @type {{ name: string }} */ { name }) => statusOf(name, signal))).catch(() => {
    throw new ApiError(503, "No vault is ready.");
  });
}

class AskView {
  /**
   * @param {HTMLElement} main
   * @param {string} question
   * @param {LanguageModel | null} model that writes answers
   * @param {AbortSignal} signal
   */
  constructor(main, question, model, signal) {
    this.signal = signal;
    this.model = model;
    this.running = new AbortController();
    /** The question that was asked last: the field may have another by now. */
    this.question = question;
    /** Whether the question is to be asked again as soon as the daemon answers. */
    this.hasFailed = false;
    this.input = h("input", { id: "question", type: "text", class: "query", autocomplete: "off", dir: "auto",
      enterkeyhint: "send", "aria-label": "Question", placeholder: "Ask your notes a question",
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Enter" && !event.isComposing) void this.ask(this.input.value);
      } });
    this.input.value = question;
    this.button = h("button", { type: "button", onclick: () => this.ask(this.input.value) }, "Ask");
    this.stopButton = h("button", { type: "button", hidden: true, onclick: () => this.stop() }, "Stop");
    this.sending = h("div", { class: "line" });
    this.place = h("div", { class: "answer-place" });
    this.earlier = h("section", { class: "earlier", "aria-label": "Earlier questions" });
    main.replaceChildren(h("section", { class: "ask", "aria-label": "Ask" },
      h("h1", { class: "hidden" }, "Ask"),
      h("div", { class: "ask-field" }, this.input, this.button, this.stopButton),
      this.sending, this.place, this.earlier));
    this.showSending();
    setTitle(question || "Ask");
    signal.addEventListener("abort", () => this.running.abort());
    document.addEventListener("renewed", (event) => this.renew(/** @type {CustomEvent} */ (event).detail), { signal });
    const known = exchanges.findIndex((one) => one.question === question && one.usesModel === this.usesModel);
    if (!question || known < 0) {
      this.showEarlier(exchanges);
      this.input.focus({ preventScroll: true });
      if (question) void this.ask(question);
    } else {
      this.showWhole(exchanges[known]);
    }
  }

  /** The name under which the choice for the model is kept. */
  get modelKey() {
    return this.model ? `${this.model.name} ${this.model.host}` : "";
  }

  /** What the user has chosen for this model; "" before the first question. */
  get choice() {
    const [choice, ...key] = (localStorage.getItem(CHOICE) ?? "").split(" ");
    return key.join(" ") === this.modelKey ? choice : "";
  }

  get usesModel() {
    return this.model !== null && this.choice === "yes";
  }

  /** @param {"yes" | "no"} choice */
  choose(choice) {
    localStorage.setItem(CHOICE, `${choice} ${this.modelKey}`);
    this.showSending();
  }

  /** Say what is sent where. */
  showSending() {
    const { model } = this;
    const other = (/** @type {"yes" | "no"} */ choice, /** @type {string} */ name) =>
      h("button", { type: "button", class: "quiet", onclick: () => this.choose(choice) }, name);
    this.sending.replaceChildren(...(!model
      ? ["Answers are sentences of your notes. No language model is set up, so nothing is sent."]
      : this.usesModel ? [sentTo(model), other("no", "Only quote my notes")]
      : ["Answers are sentences of your notes. Nothing is sent.",
        this.choice === "no" ? other("yes", `Let ${model.name} write them`) : null]).filter((one) => one !== null));
  }

  /** @param {string} text */
  async ask(text) {
    const question = text.trim();
    if (!question) return this.input.focus();
    this.stop();
    const isRetry = this.hasFailed && question === this.question; // what is said of it stays
    if (question !== this.question) this.input.value = question;
    this.question = question;
    setAddress(address("ask", { q: question }), true);
    setTitle(question);
    this.showEarlier(exchanges.filter((one) => one.question !== question));
    if (this.model && !this.choice) return this.showChoice(question, this.model);
    const running = new AbortController();
    const { usesModel } = this;
    this.running = running;
    this.hasFailed = false;
    this.setBusy(true);
    if (!isRetry) this.showState(question, null, "Searching …");
    try {
      await this.follow(question, usesModel, running.signal);
    } catch (error) {
      if (running.signal.aborted) return;
      if (!(error instanceof ApiError) || error.status === 401) throw error;
      noteLoss(error);
      this.hasFailed = error.status === 0 || error.status === 503;
      this.showProblem(question, error.message);
      if (error.status === 503) this.retryLater();
    } finally {
      if (this.running === running) this.setBusy(false);
    }
  }

  /**
   * Show an answer while it arrives.
   * @param {string} question
   * @param {boolean} usesModel
   * @param {AbortSignal} signal
   */
  async follow(question, usesModel, signal) {
    /** @type {AskAnswer | null} */
    let answer = null;
    for await (const { event, data } of postLines("ask", { q: question, stream: true, model: usesModel }, signal)) {
      if (signal.aborted) return;
      if (event === "error") throw new ApiError(500, data.message);
      if (event === "answer") {
        const exchange = { question, usesModel, answer: data };
        exchanges = [exchange, ...exchanges.filter((one) => one.question !== question)].slice(0, EARLIER + 1);
        this.showWhole(exchange);
        announce([kindOf(data), ...data.sentences.map((/** @type {{ text: string }} */ one) => one.text)].join(" "));
        return;
      }
      answer = event === "passages" || !answer ? data : withSentence(answer, data);
      const reading = quantity(data.passages?.length ?? 0, "passage");
      this.showState(question, answer, answer?.sentences.length || !this.usesModel ? "…"
        : `${this.model?.name} reads ${reading} …`);
    }
    throw new ApiError(0, "The daemon ended before the answer was complete.");
  }

  /** The daemon builds its first index, or is busy. */
  retryLater() {
    const timer = setTimeout(() => this.hasFailed && void this.ask(this.question), RETRY_MS);
    this.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  }

  stop() {
    if (this.running.signal.aborted || this.stopButton.hidden) return;
    this.running.abort();
    this.setBusy(false);
    const said = "Stopped. The answer is not complete.";
    this.place.querySelector(".answer-state")?.replaceChildren(said);
    this.input.focus();
    announce(said);
  }

  /** @param {boolean} isBusy */
  setBusy(isBusy) {
    this.stopButton.hidden = !isBusy;
    this.button.hidden = isBusy;
    this.place.setAttribute("aria-busy", String(isBusy));
  }

  /**
   * An answer as far as it has come.
   * @param {string} question
   * @param {AskAnswer | null} answer
   * @param {string} state
   */
  showState(question, answer, state) {
    this.place.replaceChildren(h("article", { class: "answer" }, heading(question),
      answer && h("div", { class: "sentences" }, ...sentences(answer)),
      h("p", { class: "answer-state quiet-text" }, state)));
  }

  /**
   * @param {string} question
   * @param {string} problem
   */
  showProblem(question, problem) {
    if (this.place.querySelector(".detail")?.textContent === problem) return;
    this.place.replaceChildren(h("article", { class: "answer" }, heading(question), h("p", { class: "detail" }, problem),
      h("p", { class: "tools" }, h("button", { type: "button", onclick: () => this.ask(question) }, "Ask again"))));
    announce(problem);
  }

  /** @param {Exchange} exchange */
  showWhole(exchange) {
    this.place.replaceChildren(...whole(exchange, () => {
      this.input.focus();
      this.input.select();
    }));
    this.showEarlier(exchanges.filter((one) => one !== exchange));
    const opened = history.state?.opened;
    if (!opened) return;
    const link = [...this.place.querySelectorAll("a")].find((one) => one.getAttribute("href") === opened);
    link?.focus({ preventScroll: true });
  }

  /** @param {Exchange[]} exchanges */
  showEarlier(exchanges) {
    this.earlier.hidden = !exchanges.length;
    this.earlier.replaceChildren(h("h2", {}, "Earlier questions"),
      h("p", { class: "line" }, "Each question is answered on its own, so a follow-up has to name what it is about."),
      ...exchanges.map((one) => h("details", {}, h("summary", { dir: "auto" }, one.question), ...whole(one))));
  }

  /**
   * Before the first question to a model: what would be sent where. Nothing is, until it is chosen.
   * @param {string} question
   * @param {LanguageModel} model
   */
  showChoice(question, model) {
    const prompt = h("div", { hidden: true });
    const go = (/** @type {"yes" | "no"} */ choice) => {
      this.choose(choice);
      void this.ask(question);
    };
    const first = h("button", { type: "button", onclick: () => go("yes") }, `Send and let ${model.name} write`);
    this.place.replaceChildren(h("section", { class: "card", "aria-label": "Before the first question" },
      h("h2", {}, "Before the first question"),
      h("p", {}, sentTo(model), "Notes that ", h("code", {}, "ask.never_send"),
        " names are not sent. Each sentence of the answer is checked against your notes."),
      h("p", { class: "tools" }, first,
        h("button", { type: "button", onclick: () => go("no") }, "Only quote my notes, send nothing"),
        h("button", { type: "button", class: "quiet", onclick: async () => {
          const shown = await promptFor(question, this.signal);
          prompt.hidden = false;
          prompt.replaceChildren(shown ? h("pre", { class: "prompt", tabindex: 0, role: "region",
            "aria-label": "What would be sent" }, shown) : "Nothing: no passage is near enough to this question.");
        } }, "Show what would be sent")),
      prompt));
    first.focus();
  }

  /**
   * The index has changed, or the daemon answers again.
   * @param {string[] | null} paths
   */
  renew(paths) {
    if (this.hasFailed) return void this.ask(this.question);
    const place = this.place.querySelector(".answer-changed");
    const shown = [...this.place.querySelectorAll("[data-path]")].map((one) => /** @type {HTMLElement} */ (one).dataset.path);
    if (!place || (paths && !paths.some((path) => shown.includes(path)))) return;
    place.replaceChildren("Notes have changed since this answer. ",
      h("button", { type: "button", class: "quiet", onclick: () => {
        void this.ask(this.question);
      } }, "Ask again"));
  }
}

/** @param {LanguageModel} model */
function sentTo({ name, host, is_local: isLocal }) {
  return `${name} writes the answer. Your question and the passages of your notes that may answer it are sent to `
    + `${host}, ${isLocal ? "on this computer" : "another computer"}. `;
}

/**
 * What a model would be sent; "" if nothing.
 * @param {string} question
 * @param {AbortSignal} signal
 */
async function promptFor(question, signal) {
  for await (const { event, data } of postLines("ask", { q: question, stream: true, show_prompt: true }, signal)) {
    if (event === "answer") return data.prompt ?? "";
  }
  return "";
}

/**
 * @param {AskAnswer} answer
 * @param {AskAnswer["sentences"][number]} sentence that has arrived
 * @returns {AskAnswer}
 */
function withSentence(answer, sentence) {
  return { ...answer, sentences: [...answer.sentences, sentence] };
}

/** @param {string} question */
function heading(question) {
  return h("h2", { class: "question", dir: "auto" }, question);
}

/** @param {AskAnswer} answer */
function kindOf({ kind, model, passages }) {
  const nearest = passages.length ? " The nearest passages are listed." : "";
  return { quotes: "Quoted from your notes", written: `Written by ${model}, checked against your notes`,
    passages: `No sentence answers this.${nearest}`, declined: `No note answers this.${nearest}` }[kind];
}

/**
 * The citations of an answer, each once, in the order of their numbers.
 * @param {AskAnswer} answer
 */
function sourcesOf(answer) {
  /** @type {Map<string, Citation>} */
  const found = new Map();
  for (const { citations } of answer.sentences) {
    for (const one of citations) if (!found.has(one.id)) found.set(one.id, one);
  }
  return found;
}

/**
 * The sentences of an answer, with the numbers of their sources.
 * @param {AskAnswer} answer
 */
function sentences(answer) {
  const numbers = [...sourcesOf(answer).keys()];
  return answer.sentences.map((one) => h("p", { class: "sentence", dir: "auto" }, one.text,
    ...one.citations.flatMap((cited) => {
      const number = numbers.indexOf(cited.id) + 1;
      return [" ", h("a", { class: "cite", href: citedAt(cited), "aria-label": `Source ${number}: ${cited.title}`,
        title: [cited.title, cited.header_path].filter(Boolean).join(" › "), onclick: keepOpened }, String(number))];
    }),
    one.unchecked.length ? h("small", {}, ` Not in the notes: ${one.unchecked.join(", ")}`) : null));
}

/**
 * The whole answer, with what it rests on next to it.
 * @param {Exchange} exchange
 * @param {() => void} [followUp]
 */
function whole({ question, answer }, followUp) {
  const sources = [...sourcesOf(answer).values()];
  const { dropped, missing_words: missing } = answer;
  const cited = new Set(sources.map((one) => `${one.vault ?? ""}:${one.path}`));
  const others = answer.passages.filter((one) => !cited.has(`${one.vault ?? ""}:${one.path}`));
  const passages = h("ul", { class: "plain passages" }, ...(sources.length ? others : answer.passages).map(passage));
  return [h("article", { class: "answer", "aria-label": question }, followUp ? heading(question) : null,
    h("p", { class: "answer-kind quiet-text" }, kindOf(answer)),
    h("div", { class: "sentences" }, ...sentences(answer)),
    missing.length ? h("p", { class: "line" }, `No note contains: ${missing.join(", ")}`) : null,
    ...answer.notices.map((one) => h("p", { class: "line" }, one)),
    sources.length ? null : passages,
    dropped.length ? h("details", { class: "dropped" },
      h("summary", {}, `${quantity(dropped.length, "sentence")} left out`),
      h("ul", {}, ...dropped.map((one) => h("li", { dir: "auto" }, one.text, h("small", {}, ` ${one.reason}`))))) : null,
    h("p", { class: "line answer-changed" }),
    h("p", { class: "tools" },
      h("button", { type: "button", onclick: () => copy(asMarkdown(question, answer)) }, "Copy with links"),
      followUp && h("button", { type: "button", onclick: followUp }, "Follow-up question"),
      h("a", { class: "button", href: address("search", { q: question }) }, "Search for it"))),
  sources.length ? h("aside", { class: "sources", "aria-label": "Sources" }, h("h2", {}, "Sources"),
    h("ol", {}, ...sources.map((one) => h("li", { "data-path": one.path }, h("a", { href: citedAt(one), dir: "auto", onclick: keepOpened }, one.title),
      h("small", {}, [...(one.vault ? [one.vault] : []), ...above(one), one.part || one.property || ""].filter(Boolean).map((part) => ` › ${part}`).join("")),
      h("blockquote", { dir: "auto" }, one.quote)))),
    others.length ? h("details", {}, h("summary", {}, `Also read (${others.length})`), passages) : null) : null]
    .filter((one) => one !== null);
}

/**
 * The headings above a place, without a first one that repeats the title.
 * @param {{ title: string, header_path: string }} place
 */
function above({ title, header_path: headings }) {
  return headings.split(" > ").filter((name, at) => name && (at > 0 || name !== title));
}

/** A place by all its names. @param {{ vault?: string, title: string, header_path: string }} place */
function named(place) {
  return [...(place.vault ? [place.vault] : []), place.title, ...above(place)].join(" › ");
}

/** @param {Hit} hit */
function passage(hit) {
  const to = inVault(hit.vault, address("note", { path: hit.path, line: hit.line || hit.start_line, at: placeOfPart(hit.part) }));
  return h("li", { class: "passage", "data-path": hit.path, dir: "auto" },
    h("a", { href: to, onclick: keepOpened }, hit.title),
    h("small", {}, [...(hit.vault ? [hit.vault] : []), ...above(hit)].map((part) => ` › ${part}`).join("")),
    hit.snippet ? h("p", { class: "line" }, ...marked(hit.snippet, hit.marks)) : null);
}

/**
 * Where the page shows a citation: at its line, with the quote marked.
 * @param {Citation} cited
 */
function citedAt(cited) {
  const parts = cited.quote.split(MARKUP).map((one) => one.trim().toLowerCase());
  const long = parts.filter((one) => one.length >= SHORT_PART);
  return inVault(cited.vault, address("note", { path: cited.path, line: cited.start_line, at: placeOfPart(cited.part),
    m: (long.length ? long : parts.filter(Boolean)).slice(0, MOST_PARTS) }));
}

/** Back leads to the link that was opened. @param {MouseEvent} event */
function keepOpened({ currentTarget }) {
  if (!(currentTarget instanceof HTMLElement)) return;
  history.replaceState({ ...history.state, opened: currentTarget.getAttribute("href") }, "");
}

/**
 * The answer as Markdown, with links from the root of the vault.
 * @param {string} question
 * @param {AskAnswer} answer
 */
function asMarkdown(question, answer) {
  const sources = [...sourcesOf(answer).values()];
  const ids = sources.map(({ id }) => id);
  const texts = answer.sentences.map((one) =>
    [one.text, ...one.citations.map((cited) => link(String(ids.indexOf(cited.id) + 1), cited))].join(" "));
  const list = sources.length
    ? sources.map((one, at) => `${at + 1}. ${link(named(one), one)}`)
    : answer.passages.map((one) => `- ${link(named(one), one)}`);
  return [`**${question}**`, ...(texts.length ? texts : [kindOf(answer)]), list.join("\n")].filter(Boolean).join("\n\n") + "\n";
}

/**
 * @param {string} text
 * @param {{ path: string, header_path: string, block?: string, part?: string, title: string }} place
 */
function link(text, place) {
  const at = placeOfPart(place.part) ?? (place.block ? `^${place.block}` : partBelow(above(place)));
  const encoded = (/** @type {string} */ part) => encodeURIComponent(part).replace(/[()]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  const to = place.path.split("/").map(encoded).join("/") + (at ? `#${encoded(at).replace(/%(?:5E|23|3D)/g, decodeURIComponent)}` : "");
  return `[${text.replace(/[[\]]/g, "\\$&") || noteName(place.path)}](${to})`;
}
