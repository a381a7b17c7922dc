// Additions to a document before it is shown with the script: visible copy buttons, buttons beside ids, and ids of rows.

/** Improves the page itself, and every document that is fetched later. */
export function enhanceDocument(page: Document): void {
  for (const button of page.querySelectorAll<HTMLButtonElement>("[data-copy]")) button.hidden = false;
  for (const id of page.querySelectorAll<HTMLElement>("code.id")) id.after(copyButton(page, id));
  for (const row of page.querySelectorAll("table.rows tbody tr:not([id])")) nameRow(row);
}

function copyButton(page: Document, id: HTMLElement): HTMLButtonElement {
  const button = page.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.dataset.copy = id.title || (id.textContent ?? "");
  button.setAttribute("aria-label", "Copy id");
  button.textContent = "Copy";
  return button;
}

/** A row that moves keeps the focus if it has the same id in both documents. */
function nameRow(row: Element): void {
  const box = row.querySelector<HTMLInputElement>("input[name=id]");
  const key = box?.value ?? row.querySelector("a")?.href;
  if (key) row.id = `row-${key}`;
}
