// Sends forms with entered values only while the user is signed in. If the session has ended, a dialog offers to sign
// in in another tab, and the values stay on the page. Without the script the response to the form keeps the values.
import { fetchPage, NotThisPage } from "./trusted-html.ts";

/** A small page that everybody who is signed in may read. */
const SMALL_PAGE = "/console/help/keys";
const SIGN_IN = `/login?callbackURL=${encodeURIComponent("/console")}`;
/** A form is sent if the check takes longer. */
const CHECK_WAIT_MS = 3_000;

const checked = new WeakSet<HTMLFormElement>();

/**
 * @param submitter the button that sends the form
 * @returns whether the form may be sent now; otherwise it is sent after the check, or the dialog opens
 */
export function mayBeSent(form: HTMLFormElement, submitter: HTMLElement | null): boolean {
  if (form.dataset.edits === undefined || checked.delete(form)) return true;
  void sendOrAsk(form, submitter);
  return false;
}

async function sendOrAsk(form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
  const isEnded = await hasEnded();
  delete form.dataset.sending;
  if (isEnded) {
    askToSignIn(form, submitter);
    return;
  }
  checked.add(form);
  form.requestSubmit(submitter);
}

/** Without a connection, the browser reports the failure when the form is sent. */
async function hasEnded(): Promise<boolean> {
  try {
    await fetchPage(SMALL_PAGE, { signal: AbortSignal.timeout(CHECK_WAIT_MS) });
    return false;
  } catch (error) {
    return error instanceof NotThisPage;
  }
}

function askToSignIn(form: HTMLFormElement, submitter: HTMLElement | null): void {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", "Sign in again");
  const words = document.createElement("p");
  words.textContent =
    "Your session has ended. Nothing was sent; what you entered stays on this page. Sign in with the same account, then send it.";
  const link = document.createElement("a");
  Object.assign(link, { className: "button", href: SIGN_IN, target: "_blank", rel: "noopener" });
  link.textContent = "Sign in in a new tab";
  const send = buttonWith("Send", "button primary", () => {
    dialog.close();
    form.requestSubmit(submitter);
  });
  const cancel = buttonWith("Cancel", "button", () => dialog.close());
  const choices = document.createElement("p");
  choices.className = "choices";
  choices.append(link, send, cancel);
  dialog.append(words, choices);
  dialog.addEventListener("close", () => {
    dialog.remove();
    submitter?.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
}

function buttonWith(label: string, className: string, press: () => void): HTMLButtonElement {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className, textContent: label });
  button.addEventListener("click", press);
  return button;
}
