// Shows how much of a large file is sent. Without the script, the browser sends the same form and shows the same responses.
import { pageOf } from "./trusted-html.ts";

const PERCENT = 100;

/** Starts with forms that have `data-upload`; after startForms, which stops a second press. */
export function startUploads(): void {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.dataset.upload === undefined) return;
    if (event.defaultPrevented) return;
    event.preventDefault();
    send(form);
  });
}

function send(form: HTMLFormElement): void {
  const { bar, showStatus } = showProgress(form);
  const address = new URL(form.getAttribute("action") ?? "", location.href);
  const request = new XMLHttpRequest();
  request.open("POST", address);
  request.setRequestHeader("accept", "text/html");
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    bar.max = total;
    bar.value = loaded;
    showStatus(`${Math.floor((loaded / total) * PERCENT)} % sent.`);
  });
  request.upload.addEventListener("load", () => showStatus("Sent. The archive is being inspected."));
  request.addEventListener("load", () => {
    if (new URL(request.responseURL).pathname === address.pathname) showPage(request.responseText);
    else location.assign(request.responseURL);
  });
  request.addEventListener("error", () => {
    delete form.dataset.sending;
    bar.remove();
    showStatus("The connection was lost before everything was sent. Nothing was stored; send it again.");
  });
  request.send(new FormData(form));
}

/** A second attempt replaces the message of the first one. */
function showProgress(form: HTMLFormElement) {
  for (const former of form.querySelectorAll(".upload-state")) former.remove();
  const state = document.createElement("div");
  state.className = "upload-state";
  const bar = document.createElement("progress");
  bar.setAttribute("aria-label", "Upload");
  const text = document.createElement("p");
  text.setAttribute("role", "status");
  state.append(bar, text);
  form.append(state);
  const showStatus = (sentence: string): void => {
    if (text.textContent !== sentence) text.textContent = sentence;
  };
  return { bar, showStatus };
}

/** The response is a page that explains the refusal. */
function showPage(html: string): void {
  const page = pageOf(html);
  const main = page.querySelector("main");
  if (!main) {
    location.reload();
    return;
  }
  document.title = page.title;
  document.querySelector("main")?.replaceWith(document.adoptNode(main));
  document.querySelector<HTMLElement>("main [autofocus]")?.focus();
}
