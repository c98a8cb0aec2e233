// Obsidian's editor over CodeMirror 6, which Obsidian uses too: undo, selection and dropped text are CodeMirror's own.

import { history, historyKeymap, undo, redo } from "@codemirror/commands";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, keymap } from "@codemirror/view";

const setMatches = StateEffect.define();

/** The matches that a search shows in the editor, until the next edit. */
const matchField = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    if (transaction.docChanged) marks = Decoration.none;
    for (const effect of transaction.effects) {
      if (effect.is(setMatches)) {
        const mark = Decoration.mark({ class: "is-flashing obsidian-search-match-highlight" });
        marks = Decoration.set(effect.value.filter(([from, to]) => to > from).map(([from, to]) => mark.range(from, to)));
      }
    }
    return marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export class Editor {
  constructor(parent, changed) {
    const listener = EditorView.updateListener.of((update) => update.docChanged && changed());
    const extensions = [history(), keymap.of(historyKeymap), matchField, listener, EditorView.lineWrapping];
    this.state = () => EditorState.create({ doc: "", extensions });
    this.cm = new EditorView({ parent, state: this.state() });
    this.extensions = extensions;
  }
  /** A note that is opened has no history. */
  load(text) {
    this.cm.setState(EditorState.create({ doc: text, extensions: this.extensions }));
  }
  showMatches(matches) {
    this.cm.dispatch({ effects: setMatches.of(matches) });
  }
  getValue() {
    return this.cm.state.doc.toString();
  }
  getSelection() {
    const { from, to } = this.cm.state.selection.main;
    return this.cm.state.sliceDoc(from, to);
  }
  offset({ line, ch }) {
    const at = this.cm.state.doc.line(line + 1);
    return Math.min(at.from + ch, at.to);
  }
  position(offset) {
    const line = this.cm.state.doc.lineAt(offset);
    return { line: line.number - 1, ch: offset - line.from };
  }
  getRange(from, to) {
    return this.cm.state.sliceDoc(this.offset(from), this.offset(to));
  }
  replaceRange(text, from, to = from) {
    this.cm.dispatch({ changes: { from: this.offset(from), to: this.offset(to), insert: text } });
  }
  replaceSelection(text) {
    this.cm.dispatch(this.cm.state.replaceSelection(text));
  }
  setCursor(position) {
    this.cm.dispatch({ selection: { anchor: this.offset(position) } });
  }
  setSelection(from, to) {
    this.cm.dispatch({ selection: { anchor: this.offset(from), head: this.offset(to) } });
  }
  getCursor() {
    return this.position(this.cm.state.selection.main.head);
  }
  scrollIntoView({ from }, center) {
    const effect = EditorView.scrollIntoView(this.offset(from), { y: center ? "center" : "nearest" });
    this.cm.dispatch({ effects: effect });
  }
  focus() {
    this.cm.focus();
  }
  undo() {
    undo(this.cm);
  }
  redo() {
    redo(this.cm);
  }
}
