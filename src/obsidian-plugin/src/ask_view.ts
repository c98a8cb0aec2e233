import { ItemView, Notice, type WorkspaceLeaf } from "obsidian";
import type { AnswerSentence, AskAnswer, Citation, Hit, LanguageModel } from "./answers";
import { asMarkdown, kindOf, passagesBeside, placeName, sentTo, sourcesOf } from "./ask_answer";
import { RefusedError } from "./client";
import type { Context } from "./context";
import { linkTo, openCitation, openHit, targetEditor, whereOf } from "./opening";
import { renderSnippet } from "./places";
import { StateBox } from "./state_box";

export const ASK_VIEW = "vault-indexer-ask";

type Choice = "yes" | "no";

/** A question to the vault, and its answer as it arrives. */
export class AskView extends ItemView {
  private inputEl!: HTMLInputElement;
  private askEl!: HTMLElement;
  private stopEl!: HTMLElement;
  private sendingEl!: HTMLElement;
  private answerEl!: HTMLElement;
  private state!: StateBox;
  private model: LanguageModel | null = null;
  private running: AbortController | null = null;

  constructor(
    leaf: WorkspaceLeaf,
    private readonly context: Context,
  ) {
    super(leaf);
    this.icon = "help-circle";
    this.navigation = false;
  }

  override getViewType(): string {
    return ASK_VIEW;
  }

  override getDisplayText(): string {
    return "Ask the vault";
  }

  override async onOpen(): Promise<void> {
    this.contentEl.addClass("vault-indexer-pane", "vault-indexer-ask");
    const field = this.contentEl.createDiv({ cls: "vault-indexer-ask-field vault-indexer-input" });
    this.inputEl = field.createEl("input", {
      cls: "prompt-input",
      type: "text",
      placeholder: "Ask your notes a question",
      attr: { "aria-label": "Question", dir: "auto" },
    });
    this.askEl = field.createEl("button", { text: "Ask" });
    this.stopEl = field.createEl("button", { text: "Stop" });
    this.stopEl.hide();
    this.state = this.addChild(new StateBox(this.context, this.contentEl, () => undefined));
    this.sendingEl = this.contentEl.createDiv({ cls: "vault-indexer-reason" });
    this.answerEl = this.contentEl.createDiv({ cls: "vault-indexer-answer", attr: { "aria-live": "polite" } });
    this.registerDomEvent(this.inputEl, "keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) void this.ask();
    });
    this.registerDomEvent(this.askEl, "click", () => void this.ask());
    this.registerDomEvent(this.stopEl, "click", () => this.stop());
    this.register(() => this.running?.abort());
    return Promise.resolve();
  }

  override async onClose(): Promise<void> {
    this.contentEl.empty();
    return Promise.resolve();
  }

  focus(): void {
    this.inputEl.focus();
    this.inputEl.select();
    void this.learnModel();
  }

  /** The model that would write; a daemon that does not name its model is asked for quotes only. */
  private async learnModel(): Promise<boolean> {
    try {
      const status = await this.state.waitFor(this.context.client.status());
      this.model = status.language_model ?? null;
    } catch (error) {
      this.state.showError(error);
      return false;
    }
    void this.state.check();
    this.renderSending();
    return true;
  }

  private get choice(): Choice | null {
    const [choice, ...key] = this.context.device.askModel.split(" ");
    return this.model && key.join(" ") === keyOf(this.model) ? (choice as Choice) : null;
  }

  private choose(model: LanguageModel, choice: Choice): void {
    this.context.setDevice({ askModel: `${choice} ${keyOf(model)}` });
    this.renderSending();
  }

  /** Say what is sent where. */
  private renderSending(): void {
    const { model, choice } = this;
    this.sendingEl.empty();
    if (!model) {
      this.sendingEl.setText("Answers are sentences of your notes. Nothing is sent to a language model.");
      return;
    }
    this.sendingEl.setText(choice === "yes" ? sentTo(model) : "Answers are sentences of your notes. Nothing is sent.");
    const other = choice === "yes" ? "no" : "yes";
    if (!choice) return;
    const text = other === "no" ? "Only quote my notes" : `Let ${model.name} write them`;
    this.sendingEl.createEl("button", { text }).addEventListener("click", () => this.choose(model, other));
  }

  private async ask(): Promise<void> {
    const question = this.inputEl.value.trim();
    if (!question) return;
    this.stop();
    if (!(await this.learnModel())) return;
    if (this.model && !this.choice) this.renderChoice(question, this.model);
    else await this.follow(question, this.choice === "yes");
  }

  private async follow(question: string, usesModel: boolean): Promise<void> {
    const running = new AbortController();
    this.running = running;
    this.showBusy(true);
    this.answerEl.empty();
    const sentencesEl = this.answerEl.createDiv();
    const noteEl = this.answerEl.createDiv({ cls: "vault-indexer-reason", text: "Searching…" });
    const arrived: AnswerSentence[] = [];
    let answer: AskAnswer | null = null;
    try {
      await this.context.client.ask(question, usesModel, running.signal, ({ event, data }) => {
        if (event === "error") throw new RefusedError((data as { message: string }).message, 500);
        if (event === "answer") answer = data as AskAnswer;
        else if (event === "sentence") {
          arrived.push(data as AnswerSentence);
          sentencesEl.empty();
          this.renderSentences(sentencesEl, arrived);
        } else noteEl.setText(usesModel ? `${this.model?.name ?? ""} reads ${(data as AskAnswer).passages.length} passages…` : "…");
      });
      if (!answer) throw new RefusedError("The daemon ended before the answer was complete", 0);
      this.renderAnswer(question, answer);
    } catch (error) {
      if (running.signal.aborted) noteEl.setText("Stopped. The answer is not complete.");
      else if (error instanceof RefusedError) noteEl.setText(error.message);
      else {
        noteEl.empty();
        this.state.showError(error);
      }
    } finally {
      if (this.running === running) this.showBusy(false);
    }
  }

  private stop(): void {
    this.running?.abort();
    this.showBusy(false);
  }

  private showBusy(isBusy: boolean): void {
    this.stopEl.toggle(isBusy);
    this.askEl.toggle(!isBusy);
    this.answerEl.setAttr("aria-busy", String(isBusy));
  }

  /** Before the first question to a model: what would be sent where. Nothing is, until that is chosen. */
  private renderChoice(question: string, model: LanguageModel): void {
    this.answerEl.empty();
    const box = this.answerEl.createDiv({ cls: "vault-indexer-state", attr: { role: "region", "aria-label": "Before the first question" } });
    box.createDiv({ text: sentTo(model) });
    const detail = "Notes that ask.never_send names are not sent. Each sentence of the answer is checked against your notes.";
    box.createDiv({ cls: "vault-indexer-state-detail", text: detail });
    const buttons = box.createDiv({ cls: "vault-indexer-state-actions" });
    const prompt = box.createEl("pre", { cls: "vault-indexer-command" });
    const add = (text: string, action: () => Promise<void>) =>
      buttons.createEl("button", { text }).addEventListener("click", () => void action());
    const go = (choice: Choice) => {
      this.choose(model, choice);
      return this.follow(question, choice === "yes");
    };
    add(`Send and let ${model.name} write`, () => go("yes"));
    add("Only quote my notes, send nothing", () => go("no"));
    add("Show what would be sent", async () => {
      const shown = await this.context.client.promptOf(question).catch((error: unknown) => String(error));
      prompt.setText(shown || "Nothing: no passage is near enough to this question.");
    });
  }

  private renderAnswer(question: string, answer: AskAnswer): void {
    const el = this.answerEl;
    el.empty();
    el.createDiv({ cls: "vault-indexer-reason", text: kindOf(answer) });
    this.renderSentences(el, answer.sentences);
    const { missing_words: missing, notices, dropped } = answer;
    for (const text of [...(missing.length > 0 ? [`No note contains: ${missing.join(", ")}`] : []), ...notices]) {
      el.createDiv({ cls: "vault-indexer-reason", text });
    }
    const sources = sourcesOf(answer.sentences);
    if (sources.length > 0) {
      const list = el.createEl("ol", { cls: "vault-indexer-sources", attr: { "aria-label": "Sources" } });
      for (const cited of sources) this.renderSource(list, cited);
    }
    const others = passagesBeside(answer);
    if (others.length > 0) {
      const parent = sources.length > 0 ? fold(el, `Also read (${others.length})`) : el;
      for (const hit of others) this.renderPassage(parent, hit);
    }
    if (dropped.length > 0) {
      const list = fold(el, `Left out (${dropped.length})`).createEl("ul");
      for (const { text, reason } of dropped) list.createEl("li", { text: `${text} (${reason})`, attr: { dir: "auto" } });
    }
    const buttons = el.createDiv({ cls: "vault-indexer-state-actions" });
    buttons.createEl("button", { text: "Copy with links" }).addEventListener("click", () => {
      void navigator.clipboard.writeText(this.markdown(question, answer, "")).then(() => new Notice("Copied"));
    });
    buttons.createEl("button", { text: "Insert into the note" }).addEventListener("click", () => this.insert(question, answer));
  }

  private renderSentences(parent: HTMLElement, sentences: readonly AnswerSentence[]): void {
    const numbers = sourcesOf(sentences).map(({ id }) => id);
    for (const { text, citations, unchecked } of sentences) {
      const el = parent.createEl("p", { cls: "vault-indexer-sentence", text: `${text} `, attr: { dir: "auto" } });
      for (const cited of citations) {
        const number = numbers.indexOf(cited.id) + 1;
        const attr = { "aria-label": `Source ${number}: ${placeName(cited)}`, href: "#" };
        const link = el.createEl("a", { cls: "vault-indexer-cite", text: String(number), attr });
        this.onOpenClick(link, (event) => void openCitation(this.app, cited, whereOf(event)));
      }
      if (unchecked.length > 0) el.createSpan({ cls: "vault-indexer-reason", text: ` Not in the notes: ${unchecked.join(", ")}` });
    }
  }

  private renderSource(list: HTMLElement, cited: Citation): void {
    const item = list.createEl("li", { attr: { dir: "auto" } });
    const link = item.createEl("a", { text: placeName(cited), attr: { href: "#" } });
    this.onOpenClick(link, (event) => void openCitation(this.app, cited, whereOf(event)));
    item.createEl("blockquote", { cls: "vault-indexer-snippet", text: cited.quote });
  }

  private renderPassage(parent: HTMLElement, hit: Hit): void {
    const el = parent.createDiv({ cls: "vault-indexer-passage", attr: { dir: "auto" } });
    const link = el.createEl("a", { text: placeName(hit), attr: { href: "#" } });
    this.onOpenClick(link, (event) => void openHit(this.app, hit, whereOf(event)));
    const snippet = el.createDiv({ cls: "vault-indexer-snippet" });
    renderSnippet(snippet, hit.snippet, hit.marks);
  }

  private onOpenClick(link: HTMLElement, open: (event: MouseEvent) => void): void {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      open(event);
    });
  }

  private markdown(question: string, answer: AskAnswer, sourcePath: string): string {
    return asMarkdown(question, answer, ({ path }, subpath, text) =>
      linkTo(this.app, path, sourcePath, subpath, text).replace(/^!/, ""),
    );
  }

  /** One transaction of the editor, so that one undo takes it back. */
  private insert(question: string, answer: AskAnswer): void {
    const target = targetEditor(this.app);
    if (target) target.editor.replaceSelection(`${this.markdown(question, answer, target.path)}\n`);
    else new Notice("Open a note to insert the answer");
  }
}

/** The name under which the choice for a model is kept: another model or host is another choice. */
function keyOf({ name, host }: LanguageModel): string {
  return `${name} ${host}`;
}

function fold(parent: HTMLElement, title: string): HTMLElement {
  const details = parent.createEl("details");
  details.createEl("summary", { text: title });
  return details;
}
