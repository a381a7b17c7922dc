// Shows the confirmation page of an action in a dialog. Without the script it is an ordinary page.
import { fetchPage } from "./trusted-html.ts";

/** Handles links that have `data-dialog`. */
export function startDialogs(): void {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[data-dialog]") : null;
    if (!(link instanceof HTMLAnchorElement) || event.button !== 0 || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    void open(link);
  });
}

async function open(link: HTMLAnchorElement): Promise<void> {
  try {
    const { page } = await fetchPage(link.href);
    const content = page.querySelector("[data-dialog-content]");
    const title = page.querySelector("h1");
    if (!content || !title) throw new Error("the page has no confirmation");
    const dialog = document.createElement("dialog");
    title.id = "dialog-title";
    dialog.setAttribute("aria-labelledby", title.id);
    const heading = document.createElement("h2");
    heading.id = title.id;
    heading.textContent = title.textContent;
    dialog.append(heading, document.adoptNode(content));
    dialog.addEventListener("close", () => {
      dialog.remove();
      link.focus();
    });
    dialog.addEventListener("click", (event) => {
      if (event.target instanceof Element && event.target.closest("[data-close]")) {
        event.preventDefault();
        dialog.close();
      }
    });
    document.body.append(dialog);
    dialog.showModal();
    dialog.querySelector<HTMLElement>("[data-close], input:not([type=hidden])")?.focus();
  } catch {
    location.assign(link.href);
  }
}
