// Types shared by the parts of the editor, and calls to the server.
import type { EditorView } from "@codemirror/view";

export interface Edited {
  form: HTMLFormElement;
  /** the field of the form; it has the text of the last submission */
  field: HTMLTextAreaElement;
  /** element of the editor */
  host: HTMLElement;
  view: EditorView;
  text(): string;
  /** Calls back after each change of the text. */
  onChange(listen: () => void): void;
}

/** A response of the API; `body` is undefined if it is not JSON. */
export interface Answered {
  status: number;
  body: unknown;
}

/** @throws TypeError without a connection */
export async function ask(method: "POST" | "PUT", path: string, body: object): Promise<Answered> {
  const headers = { "content-type": "application/json", accept: "application/json" };
  const response = await fetch(path, { method, headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json().catch(() => undefined) };
}

/** @returns the member of an object; undefined for any other value */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
