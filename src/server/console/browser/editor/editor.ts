// The editor of YAML texts: highlighting, line numbers, folding, search and completion. It covers a textarea, which remains the
// field of its form. It does not check the policy itself: problems come from the server.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { completing } from "./completion.ts";
import { keepDraft } from "./draft.ts";
import { goToLine, startChecks } from "./problems.ts";
import { colors } from "./theme.ts";

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
  // A question before leaving compares the field with what the server has.
  addEventListener("beforeunload", keep, { capture: true });
  focusFromLinks(view, field);
  field.hidden = true;
  field.after(host);
  if (field.dataset.editor !== "policy") return;
  const edited = { form, field, host, view, text, onChange };
  startChecks(edited);
  keepDraft(edited);
}

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
