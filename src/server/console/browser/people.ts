// Suggests people while a part of an address is typed: colleagues, or for administrators all active users. Without the script,
// the button beside the field finds them.

const PAUSE_MS = 150;

/** Handles fields with `data-people`, the id of their list, including fields in swapped regions. */
export function startPeople(): void {
  document.addEventListener("input", ({ target }) => {
    if (target instanceof HTMLInputElement && target.matches("[data-people]")) propose(target);
  });
}

let requests = 0;

function propose(field: HTMLInputElement): void {
  requests += 1;
  const own = requests;
  setTimeout(async () => {
    const list = document.getElementById(field.dataset.people ?? "");
    if (own !== requests || !list || field.value.trim() === "") return;
    try {
      const found =
        field.dataset.peopleFrom === "users" ? await usersLike(field) : await colleaguesLike(field);
      if (own === requests) list.replaceChildren(...found.map(({ email }) => optionOf(email)));
    } catch {
      // The button beside the field still works.
    }
  }, PAUSE_MS);
}

interface Proposed {
  email: string;
}

async function colleaguesLike({ value }: HTMLInputElement): Promise<readonly Proposed[]> {
  const response = await fetch(`/session-uploads/members?q=${encodeURIComponent(value)}`);
  const { items = [] }: { items?: readonly Proposed[] } = await response.json();
  return items;
}

async function usersLike({ value }: HTMLInputElement): Promise<readonly Proposed[]> {
  const response = await fetch("/admin/users/options", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ q: value }),
  });
  return response.ok ? await response.json() : [];
}

function optionOf(email: string): HTMLOptionElement {
  const option = document.createElement("option");
  option.value = email;
  return option;
}
