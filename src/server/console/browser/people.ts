// Proposes colleagues while somebody types a part of an address. The button beside the field finds them without this.

const PAUSE_MS = 150;

/** Starts with fields that have `data-people`, the id of their list. */
export function startPeople(): void {
  for (const field of document.querySelectorAll<HTMLInputElement>("input[data-people]"))
    field.addEventListener("input", () => propose(field));
}

let asked = 0;

function propose(field: HTMLInputElement): void {
  asked += 1;
  const own = asked;
  setTimeout(async () => {
    const list = document.getElementById(field.dataset.people ?? "");
    if (own !== asked || !list || field.value.trim() === "") return;
    try {
      const answer = await fetch(`/session-uploads/members?q=${encodeURIComponent(field.value)}`);
      const found: { items?: readonly { email: string }[] } = await answer.json();
      if (own === asked) list.replaceChildren(...(found.items ?? []).map(({ email }) => optionOf(email)));
    } catch {
      // The button still finds people.
    }
  }, PAUSE_MS);
}

function optionOf(email: string): HTMLOptionElement {
  const option = document.createElement("option");
  option.value = email;
  return option;
}
