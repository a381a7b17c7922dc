// The frame every page shares: document, title, masthead, one main landmark with one h1. Pages bring the content.
// Rendering escapes text and attributes; nothing here or in the pages may bypass that.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { styleSheetPath } from "./assets.ts";

/** How the organization presents itself. `logoUrl` is `https:`, `data:` or a path of ours; others are blocked by policy. */
export interface Branding {
  organizationName: string;
  logoUrl: string | null;
}

/** What the frame needs to know about a page. */
export interface Frame {
  /** text of the h1, and the first part of the document's title */
  title: string;
  /** marks the document's title, so that the tab and a screen reader say the error first */
  error?: string | undefined;
  /** left out only where the organization is not known, as on an error page */
  branding?: Branding | undefined;
  /** room for lists */
  isWide?: boolean;
}

const unbranded: Branding = { organizationName: "Quartermaster", logoUrl: null };

function Masthead({ organizationName, logoUrl }: Branding) {
  // The name stands beside the logo, so the logo itself has nothing to add for a screen reader.
  return (
    <header class="masthead">
      {logoUrl === null ? null : <img class="logo" src={logoUrl} alt="" />}
      <span class="organization">{organizationName}</span>
    </header>
  );
}

/**
 * Renders a whole document.
 * @param content what follows the h1 in the main landmark
 * @returns HTML from `<!doctype html>` on
 * @source operator-experience.md section 7, WEB-1 and WEB-4
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
        {/* An empty icon keeps browsers from asking for /favicon.ico. */}
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={styleSheetPath} />
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
