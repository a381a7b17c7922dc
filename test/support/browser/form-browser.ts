// A browser without a window: stores cookies, follows redirects, parses forms in HTML and sends them as Chromium does with the
// service's referrer policy. It runs no script. browser.ts has a real Chromium.

/** Responds to a request; the server's `handle` or the real `fetch`. */
export type Send = (request: Request) => Response | Promise<Response>;

interface Button {
  label: string;
  name: string | undefined;
  value: string | undefined;
}

export interface Form {
  action: string;
  /** named inputs with their values, without boxes that are not checked */
  fields: Record<string, string>;
  buttons: Button[];
  /** it is sent as multipart/form-data */
  isInParts?: boolean;
}

export interface Page {
  status: number;
  /** where the redirects ended */
  path: string;
  headers: Headers;
  html: string;
  heading: string;
  forms: Form[];
}

const REDIRECTS_MAX = 5;

export class FormBrowser {
  readonly cookies = new Map<string, string>();

  constructor(
    private readonly origin: string,
    private readonly send: Send,
  ) {}

  /** Opens a path and follows redirects. */
  visit(path: string): Promise<Page> {
    return this.#follow(path);
  }

  /** Sends a form and follows the redirect it ends in. */
  submit(form: Form, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Page> {
    return this.#follow(form.action, {
      method: "POST",
      body: bodyOf(form, fields),
      headers: { origin: "null", "sec-fetch-site": "same-origin", ...headers },
    });
  }

  /** Sends a form with a file, in the order of its fields. */
  upload(form: Form, name: string, file: File): Promise<Page> {
    const body = new FormData();
    for (const [field, value] of Object.entries(form.fields)) if (field !== name) body.append(field, value);
    body.append(name, file);
    const headers = { origin: "null", "sec-fetch-site": "same-origin" };
    return this.#follow(form.action, { method: "POST", body, headers });
  }

  /** Signs in with the form of the page that asks for it. */
  signIn(page: Page, credential: { email: string; password: string }): Promise<Page> {
    return this.submit(formTo(page, "/login"), { ...credential });
  }

  /** Sends one request with the browser's cookies; the caller follows redirects. */
  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await this.send(this.requestTo(path, init));
    for (const text of response.headers.getSetCookie()) this.#keep(Bun.Cookie.parse(text));
    return response;
  }

  /** @returns the request that `request` would send */
  requestTo(path: string, init: RequestInit = {}): Request {
    const headers = new Headers(init.headers);
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    if (cookie !== "") headers.set("cookie", cookie);
    return new Request(`${this.origin}${path}`, { ...init, headers, redirect: "manual" });
  }

  #keep({ name, value, maxAge }: Bun.Cookie): void {
    if (maxAge === 0) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }

  async #follow(path: string, init: RequestInit = {}): Promise<Page> {
    let here = path;
    let response = await this.request(path, init);
    for (let hop = 0; response.status === 303; hop += 1) {
      if (hop === REDIRECTS_MAX) throw new Error(`redirected in circles at ${here}`);
      here = response.headers.get("location") ?? "";
      response = await this.request(here);
    }
    const html = await response.text();
    return { status: response.status, path: here, headers: response.headers, html, ...readPage(html) };
  }
}

function bodyOf(form: Form, changed: Record<string, string>): FormData | URLSearchParams {
  const fields = { ...form.fields, ...changed };
  if (!form.isInParts) return new URLSearchParams(fields);
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return body;
}

/** @returns the form of a page that is sent to this path */
export function formTo(page: Page, action: string): Form {
  const form = page.forms.find((candidate) => candidate.action === action);
  if (!form) throw new Error(`no form to ${action} under the heading "${page.heading}"`);
  return form;
}

function readPage(html: string): { heading: string; forms: Form[] } {
  const forms: Form[] = [];
  let heading = "";
  const innermost = (): Form => forms.at(-1) ?? { action: "", fields: {}, buttons: [] };
  new HTMLRewriter()
    .on("h1", {
      text(chunk) {
        heading += chunk.text;
      },
    })
    .on("form", {
      element(node) {
        const isInParts = node.getAttribute("enctype") === "multipart/form-data";
        forms.push({ action: node.getAttribute("action") ?? "", fields: {}, buttons: [], isInParts });
      },
    })
    .on("form input[name]", {
      element(node) {
        const isUnchecked = node.getAttribute("type") === "checkbox" && node.getAttribute("checked") === null;
        if (isUnchecked) return;
        innermost().fields[node.getAttribute("name") ?? ""] = unescaped(node.getAttribute("value") ?? "");
      },
    })
    .on("form button", {
      element(node) {
        const name = node.getAttribute("name") ?? undefined;
        innermost().buttons.push({ label: "", name, value: node.getAttribute("value") ?? undefined });
      },
      text(chunk) {
        const button = innermost().buttons.at(-1);
        if (button) button.label += chunk.text;
      },
    })
    .transform(html);
  return { heading, forms };
}

const OPTIONS = /data-options="([^"]*)"/;
const ENTITIES: Readonly<Record<string, string>> = { "&quot;": '"', "&amp;": "&", "&lt;": "<" };

/** @returns the options for a passkey in a page, for its script */
export function passkeyOptionsIn({ html, heading }: Page): object {
  const [, text] = OPTIONS.exec(html) ?? [];
  if (text === undefined) throw new Error(`no form under the heading "${heading}" requires a passkey`);
  return JSON.parse(unescaped(text));
}

/** @returns the value of an attribute as a browser reads it */
const unescaped = (text: string): string =>
  text.replace(/&(?:quot|amp|lt);/g, (entity) => ENTITIES[entity] ?? entity);
