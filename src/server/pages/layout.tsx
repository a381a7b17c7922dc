// The frame of every page: document, title, header, and one main landmark with one h1. Pages provide the content. Rendering
// escapes text and attributes; no page may bypass that.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { iconPath, styleSheetPath } from "./assets.ts";

/** The organization's branding. Addresses are `https:`, `data:` or a path on this origin; the policy blocks others. */
export interface Branding {
  organizationName: string;
  /** the program's own logo if null */
  logoUrl: string | null;
  /** the program's own icon if null */
  faviconUrl: string | null;
}

/** The frame's properties of a page. */
export interface Frame {
  /** text of the h1 and start of the document title */
  title: string;
  /** puts the error first in the document title for tabs and screen readers */
  error?: string | undefined;
  /** omitted if the organization is unknown, as on an error page */
  branding?: Branding | undefined;
  /** address of an immediate redirect */
  refreshTo?: string | undefined;
  /** wide layout for lists */
  isWide?: boolean;
  /** path of a script; the response needs the policy that allows it */
  script?: string | undefined;
}

const unbranded: Branding = { organizationName: "Quartermaster", logoUrl: null, faviconUrl: null };

function Masthead({ organizationName, logoUrl }: Branding) {
  // The name is next to the logo, so the logo needs no text of its own for screen readers.
  return (
    <header class="masthead">
      <img class="logo" src={logoUrl ?? iconPath} alt="" />
      <span class="organization">{organizationName}</span>
    </header>
  );
}

/**
 * Renders a whole document.
 * @param content the main landmark after the h1
 * @returns HTML that starts with `<!doctype html>`
 */
export function renderPage(frame: Frame, content: ComponentChildren): string {
  const branding = frame.branding ?? unbranded;
  const title = `${frame.error === undefined ? "" : "Error: "}${frame.title} – ${branding.organizationName}`;
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        {frame.refreshTo === undefined ? null : (
          <meta http-equiv="refresh" content={`0;url=${frame.refreshTo}`} />
        )}
        <link rel="icon" href={branding.faviconUrl ?? iconPath} />
        <link rel="stylesheet" href={styleSheetPath} />
        {frame.script === undefined ? null : <script src={frame.script} defer />}
      </head>
      <body class={frame.isWide ? "wide" : undefined}>
        <Masthead {...branding} />
        <main>
          <h1>{frame.title}</h1>
          {content}
        </main>
      </body>
    </html>
  );
  return `<!doctype html>${renderToString(page)}`;
}
