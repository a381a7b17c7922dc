// Has the server check the text while the user types, marks the problems at their lines, and lists them under the
// editor.
import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import { EditorView } from "@codemirror/view";
import { ask, type Edited, memberOf } from "./edited.ts";

/** After the last key. */
const PAUSE_MS = 400;

interface Problem {
  pointer: string;
  detail: string;
  line?: number;
  column?: number;
}

/** Checks the text now and after each change. One check runs at a time. */
export function startChecks({ view, host, text, onChange }: Edited): void {
  const list = document.createElement("ul");
  list.className = "editor-problems";
  list.setAttribute("aria-label", "Problems of the text");
  host.after(list);
  /** the problems of the text as it was saved */
  const stated = document.querySelector<HTMLElement>("[data-problems]");
  let isRunning = false;
  let isWanted = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const check = async () => {
    if (isRunning) return;
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      const problems = await problemsOf(text());
      if (problems && !isWanted) show(view, list, problems);
    }
    isRunning = false;
  };
  onChange(() => {
    if (stated) stated.hidden = true;
    isWanted = true;
    clearTimeout(timer);
    timer = setTimeout(check, PAUSE_MS);
  });
  void check();
}

/** @returns undefined if the server could not check the text; saving it shows the reason */
async function problemsOf(text: string): Promise<Problem[] | undefined> {
  try {
    const { body } = await ask("POST", "/admin/governance-config/check", { managed_yaml: text });
    const problems = memberOf(body, "valid") === undefined ? undefined : memberOf(body, "problems");
    return Array.isArray(problems) ? problems.map(problemIn) : undefined;
  } catch {
    return undefined; // no connection
  }
}

function problemIn(value: unknown): Problem {
  const [line, column] = ["line", "column"].map((name) => memberOf(value, name));
  return {
    pointer: String(memberOf(value, "pointer") ?? ""),
    detail: String(memberOf(value, "detail") ?? ""),
    ...(typeof line === "number" && { line }),
    ...(typeof column === "number" && { column }),
  };
}

function show(view: EditorView, list: HTMLElement, problems: readonly Problem[]): void {
  view.dispatch(
    setDiagnostics(
      view.state,
      problems.flatMap((problem) => diagnosticOf(view, problem)),
    ),
  );
  list.replaceChildren(...problems.map((problem) => itemOf(view, problem)));
}

/** A problem without a line is only listed. */
function diagnosticOf({ state: { doc } }: EditorView, problem: Problem): Diagnostic[] {
  const { line, column, pointer, detail } = problem;
  if (line === undefined || line > doc.lines) return [];
  const { from, to, text } = doc.line(line);
  const start = from + (column === undefined ? text.length - text.trimStart().length : column - 1);
  return [{ from: Math.min(start, to), to, severity: "error", message: `${pointer} ${detail}`.trim() }];
}

function itemOf(view: EditorView, { line, pointer, detail }: Problem): HTMLElement {
  const item = document.createElement("li");
  const sentence = `${pointer} ${detail}`.trim();
  if (line === undefined) {
    item.textContent = sentence;
    return item;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.textContent = `Line ${line}: ${sentence}`;
  button.addEventListener("click", () => goToLine(view, line));
  item.append(button);
  return item;
}

/** Moves the cursor and the focus to a line; the last one if the text is shorter. */
export function goToLine(view: EditorView, line: number): void {
  const { doc } = view.state;
  const { from } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
  view.focus();
}
