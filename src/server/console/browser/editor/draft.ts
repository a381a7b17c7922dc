// Saves the text to the draft while the user types, and shows the state of the save. It never overwrites a save of
// another tab.
import { statedBody } from "../../parts/stated-version.ts";
import { ask, type Edited, memberOf } from "./edited.ts";

/** After the last key. */
const PAUSE_MS = 2_000;
const RETRY_MS = 10_000;

type State = "saved" | "saving" | "failed" | "conflict";

/**
 * Saves after each pause, and when the editor loses the focus. The form waits for a running save, so that it sends the draft's
 * latest version.
 */
export function keepDraft({ form, field, host, text, onChange }: Edited): void {
  const show = createState(host);
  const version = form.querySelector<HTMLInputElement>("input[name=version]");
  if (!version) return;
  let running: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hasConflict = false;
  const later = (pauseMs: number) => {
    clearTimeout(timer);
    if (!hasConflict) timer = setTimeout(() => void start(), pauseMs);
  };
  const start = (): Promise<void> => {
    running ??= save().finally(() => {
      running = undefined;
    });
    return running;
  };
  const save = async () => {
    const sent = text();
    if (sent === field.defaultValue) return;
    show("saving", "Saving…");
    const { saved, why, isConflict = false } = await put(sent, version.value);
    if (saved === undefined) {
      hasConflict = isConflict;
      show(isConflict ? "conflict" : "failed", why);
      later(RETRY_MS);
      return;
    }
    version.value = String(saved);
    field.defaultValue = sent;
    form.dataset.edits = "saved";
    show("saved", "Saved in the draft. Nothing is published.");
    if (text() !== sent) later(PAUSE_MS);
  };
  onChange(() => later(PAUSE_MS));
  host.addEventListener("focusout", () => {
    if (!hasConflict) void start();
  });
  form.addEventListener("submit", (event) => {
    clearTimeout(timer);
    if (!running) return;
    event.preventDefault();
    event.stopPropagation();
    const { submitter } = event;
    void running.then(() => form.requestSubmit(submitter));
  });
}

/** @returns the version of the draft after the save, or why it was not saved */
async function put(
  text: string,
  read: string,
): Promise<{ saved?: number; why: string; isConflict?: boolean }> {
  try {
    const sent = { ...statedBody(read), managed_yaml: text };
    const { status, body } = await ask("PUT", "/admin/policy-draft", sent);
    const saved = memberOf(body, "version");
    if (status === 200 && typeof saved === "number") return { saved, why: "" };
    const isConflict = memberOf(body, "reason") === "policy_draft.changed";
    const hint = isConflict ? ". Press Save to see both texts and decide." : "";
    return { isConflict, why: `Not saved: ${reasonOf(status, body)}${hint}` };
  } catch {
    return { why: "Not saved: the service cannot be reached. The editor will try again." };
  }
}

function reasonOf(status: number, body: unknown): string {
  if (status === 401) return "your session has ended. Sign in in another tab; the text stays here.";
  if (status === 413) return "the text is too long to be saved while you type. Press Save.";
  return String(memberOf(body, "detail") ?? "the service refused it. Press Save to see why.");
}

/** @returns a function that shows a state under the editor; failures are announced to screen readers */
function createState(host: HTMLElement): (state: State, text: string) => void {
  const shown = document.createElement("p");
  shown.className = "hint editor-state";
  host.after(shown);
  return (state, text) => {
    shown.dataset.state = state;
    if (state === "failed" || state === "conflict") shown.setAttribute("role", "alert");
    else shown.removeAttribute("role");
    shown.textContent = text;
  };
}
