// A string that must not be shown. Whatever prints it (log, error, JSON, template) prints a mark instead.
import { inspect } from "node:util";

const HIDDEN = "[secret]";

/** Wraps a secret so that only `reveal()` gives the text; every implicit conversion gives `[secret]`. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** @returns the secret text; call it only where the secret is used */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}
