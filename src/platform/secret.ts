// A string that must not be shown. Logs, errors, JSON and templates print a mark instead.
import { inspect } from "node:util";

const HIDDEN = "[secret]";

/** Wraps a secret so that only `reveal()` returns the text; every implicit conversion returns `[secret]`. */
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
