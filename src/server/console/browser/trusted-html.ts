// The only code that turns text into markup. The Trusted Types policy allows it for documents of this origin.
import { enhanceDocument } from "./improvements.ts";

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createHTML(text: string): string },
  ): { createHTML(text: string): string };
}

declare global {
  interface Window {
    trustedTypes?: TrustedTypes;
  }
}

const asIs = { createHTML: (text: string): string => text };
const policy = window.trustedTypes?.createPolicy("quartermaster", asIs) ?? asIs;

/** The page needs an ordinary navigation: the session ended, or the response is not a page. */
export class NotThisPage extends Error {}

/**
 * Fetches a page of this origin.
 * @param options `form` is sent with POST; without it, the page is read
 * @returns the document, and the address that it came from
 * @throws NotThisPage unless it is a page of the console; TypeError without a connection, or if the service fails
 */
export async function fetchPage(
  address: string,
  { signal, form }: { signal?: AbortSignal; form?: URLSearchParams } = {},
): Promise<{ page: Document; url: string }> {
  const url = new URL(address, location.href);
  if (url.origin !== location.origin) throw new NotThisPage(address);
  const response = await fetch(url, {
    headers: { accept: "text/html" },
    ...(signal && { signal }),
    ...(form && { method: "POST", body: form }),
  });
  if (response.status >= 500) throw new TypeError(`the service answered ${response.status}`);
  const isPage = response.headers.get("content-type")?.startsWith("text/html") ?? false;
  const came = new URL(response.url);
  if (!isPage || came.origin !== location.origin || !came.pathname.startsWith("/console"))
    throw new NotThisPage(address);
  return { page: pageOf(await response.text()), url: response.url };
}

/** @param html that this origin sent */
export function pageOf(html: string): Document {
  const page = new DOMParser().parseFromString(policy.createHTML(html), "text/html");
  enhanceDocument(page);
  return page;
}
