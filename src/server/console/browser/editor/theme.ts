// Colors of the editor: those of the console, in both schemes. Custom properties are inherited by the shadow root.
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

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

export const colors = [frame, syntaxHighlighting(words)];
