// The editor of YAML texts: highlighting, line numbers, folding, search and completion. It covers a textarea, which remains the
// field of its form. It does not check the policy itself: problems come from the server.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { completing } from "./completion.ts";
import { keepDraft } from "./draft.ts";
import { goToLine, startChecks } from "./problems.ts";

function mount(field: HTMLTextAreaElement): void {
  const { form } = field;
  if (!form || field.matches(":disabled")) return;
  const host = document.createElement("div");
  host.className = "editor";
  host.style.setProperty("--rows", String(field.rows));
  // A shadow root, because in the document the content security policy would refuse the editor's style element.
  const root = host.attachShadow({ mode: "open" });
  const changed = new Set<() => void>();
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: field.value,
      extensions: [
        ...appearance,
        completing(field.dataset.completions ?? "{}"),
        keymap.of([
          { key: "Mod-Enter", run: () => submit(form) },
          ...defaultKeymap,
          ...historyKeymap,
          ...searchKeymap,
          ...foldKeymap,
          ...lintKeymap,
        ]),
        EditorView.updateListener.of(({ docChanged }) => {
          if (docChanged) for (const listen of changed) listen();
        }),
      ],
    }),
  });
  const text = () => view.state.doc.toString();
  const onChange = (listen: () => void) => void changed.add(listen);
  const keep = () => {
    field.value = text();
  };
  form.addEventListener("submit", keep);
  addEventListener("pagehide", keep);
  // The question before leaving compares the field with the text on the server.
  addEventListener("beforeunload", keep, { capture: true });
  focusFromLinks(view, field);
  field.hidden = true;
  field.after(host);
  if (field.dataset.editor !== "policy") return;
  const edited = { form, field, host, view, text, onChange };
  startChecks(edited);
  keepDraft(edited);
}

/** Colors of the console in both schemes; the shadow root inherits custom properties. */
const frame = EditorView.theme({
  "&": {
    height: "calc(var(--rows) * 1.3125rem)",
    maxHeight: "75vh",
    border: "1px solid var(--control)",
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    fontSize: "0.875rem",
  },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace', lineHeight: "1.5" },
  ".cm-gutters": { backgroundColor: "var(--canvas)", color: "var(--muted)", borderColor: "var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--focus) 30%, transparent)",
  },
  ".cm-panels, .cm-tooltip": {
    backgroundColor: "var(--canvas)",
    color: "var(--text)",
    borderColor: "var(--line)",
  },
  ".cm-textfield": { backgroundColor: "var(--surface)", borderColor: "var(--control)" },
  ".cm-button": { backgroundColor: "var(--surface)", backgroundImage: "none", borderColor: "var(--control)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--danger)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--canvas)", color: "var(--muted)" },
});

const words = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--warning)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.labelName, tags.typeName], color: "var(--focus)" },
  { tag: tags.invalid, color: "var(--danger)" },
]);

const colors = [frame, syntaxHighlighting(words)];

const appearance = [
  lineNumbers(),
  foldGutter(),
  lintGutter(),
  history(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  highlightActiveLine(),
  highlightSelectionMatches(),
  search({ top: true }),
  yaml(),
  colors,
  EditorState.tabSize.of(2),
  EditorView.contentAttributes.of({ "aria-label": "Text, as YAML", spellcheck: "false" }),
];

function submit(form: HTMLFormElement): boolean {
  form.requestSubmit();
  return true;
}

/** The label and the links in the list of problems point to the field, which is hidden now. */
function focusFromLinks(view: EditorView, { id, labels }: HTMLTextAreaElement): void {
  for (const label of labels) label.addEventListener("click", () => view.focus());
  document.addEventListener("click", (event) => {
    const link =
      event.target instanceof Element ? event.target.closest<HTMLElement>(`a[href="#${id}"]`) : null;
    if (!link) return;
    event.preventDefault();
    goToLine(view, Number(link.dataset.line ?? 1));
  });
}

for (const field of document.querySelectorAll<HTMLTextAreaElement>("textarea[data-editor]")) mount(field);
