// The frame of every console page: skip link, header with search and account, navigation, one main landmark with one h1.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { countText } from "../../../platform/count-text.ts";
import { VERSION } from "../../../platform/version.ts";
import { iconPath, styleSheetPath } from "../../pages/assets.ts";
import { Hidden } from "../../pages/forms.tsx";
import type { Branding } from "../../pages/layout.tsx";
import { roleText } from "../../pages/words.ts";
import { consoleScriptPath, consoleStylePath, editorScriptPath } from "../assets/assets.ts";
import { visibleHtml, visibleText } from "../parts/texts.ts";
import { Copy, ReaderContext, State, Text } from "../parts/values.tsx";
import { changesText, REVIEW_PATH } from "../policy/words.ts";
import type { Reader } from "../reader.ts";
import { compactHtml } from "./compact-html.ts";
import { OWNER_FIELD } from "./kept-fields.tsx";
import { CONSOLE, isCurrent, type NavigationGroup } from "./navigation.ts";
import type { Notice } from "./notice.ts";

/** Content of the frame in addition to the page. */
export interface Chrome {
  branding: Branding;
  navigation: readonly NavigationGroup[];
  /** sequence and id of the revision in force */
  revision: { sequence: number; id: string } | undefined;
  /** the reader's draft of the policy, with its number of changes if that is known */
  draft: { changes: number | null } | undefined;
  /** number of problems, for administrators */
  problems: number | undefined;
}

/** The content and the facts of a page, without its frame. */
export interface ConsolePage {
  /** text of the h1 and start of the document title */
  title: string;
  content: ComponentChildren;
  /** 200 by default */
  status?: number | undefined;
  /** puts the word for an error at the start of the document title */
  isError?: boolean;
  /** asks for confirmation of a change; auditors may not open such a page of administrators */
  isQuestion?: boolean;
  /** pages above this one, outermost first */
  breadcrumbs?: readonly { href: string; label: string }[];
  /** events after which the script updates the page's live regions */
  live?: readonly LiveEvent[];
  /** a page for a severe action loads no script */
  isScriptFree?: boolean;
  /** a page with an editor loads its script */
  hasEditor?: boolean;
  /** values of Set-Cookie */
  cookies?: readonly string[];
  /** text that replaces its placeholder in the rendered content */
  longText?: LongText;
}

/** Text of a textarea that may have megabytes. It is escaped here, because the renderer takes five times as long. */
export interface LongText {
  /** content of the textarea */
  mark: string;
  text: string;
}

/** @returns the text with a placeholder that occurs in no other text */
export const longText = (text: string): LongText => ({ mark: crypto.randomUUID(), text });

/** Names of the events of `GET /admin/events`. */
type LiveEvent = "revision" | "clients" | "keys" | "jobs" | "problem";

/** @returns the whole document */
export function renderConsole(
  page: ConsolePage,
  { reader, chrome, notice }: { reader: Reader; chrome: Chrome; notice: Notice | undefined },
): string {
  const { branding } = chrome;
  const heading = visibleText(page.title);
  const title = `${page.isError ? "Error: " : ""}${heading} – ${branding.organizationName}`;
  const document = (
    <html lang="en" data-theme={reader.theme}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content={reader.theme ?? "light dark"} />
        <title>{title}</title>
        <link rel="icon" href={branding.faviconUrl ?? iconPath} />
        <link rel="stylesheet" href={styleSheetPath} />
        <link rel="stylesheet" href={consoleStylePath} />
        {page.isScriptFree ? null : <script type="module" src={consoleScriptPath} />}
        {page.hasEditor ? <script type="module" src={editorScriptPath} /> : null}
      </head>
      <body class="console" data-live={page.live?.join(" ")}>
        <ReaderContext.Provider value={reader}>
          <a class="skip" href="#main">
            Skip to the content
          </a>
          <Header reader={reader} chrome={chrome} />
          <Navigation groups={chrome.navigation} path={reader.url.pathname} />
          <main id="main" tabIndex={-1}>
            <Breadcrumbs breadcrumbs={page.breadcrumbs ?? []} />
            <h1>{heading}</h1>
            {/* Always present, so that a screen reader announces a message that the script puts into it. */}
            <div id="messages" role="status">
              {notice && <p class={`notice ${notice.kind}`}>{visibleText(notice.text)}</p>}
            </div>
            {page.content}
          </main>
        </ReaderContext.Provider>
      </body>
    </html>
  );
  const html = compactHtml(visibleHtml(`<!doctype html>${renderToString(document)}`), reader.url.pathname);
  return page.longText ? withLongText(html, page.longText) : html;
}

/** A browser ignores the first line end of a textarea. */
const withLongText = (html: string, { mark, text }: LongText): string =>
  html.replace(mark, () => `\n${Bun.escapeHTML(text)}`);

function Header({ reader, chrome }: { reader: Reader; chrome: Chrome }) {
  const { organizationName, logoUrl } = chrome.branding;
  return (
    <header class="console-head">
      <a class="home" href={CONSOLE}>
        <img class="logo" src={logoUrl ?? iconPath} alt="" />
        <Text value={organizationName} />
      </a>
      {reader.readsAll && (
        <search class="search">
          <form action={`${CONSOLE}/search`}>
            <label class="visually-hidden" for="search">
              Search
            </label>
            <input
              id="search"
              type="search"
              name="q"
              placeholder="Search"
              maxLength={200}
              autocomplete="off"
            />
          </form>
        </search>
      )}
      {chrome.draft && (
        <a class="health" href={REVIEW_PATH}>
          Draft{chrome.draft.changes !== null && `: ${changesText(chrome.draft.changes)}`}
        </a>
      )}
      {chrome.problems === undefined ? null : <Health problems={chrome.problems} />}
      {chrome.revision && (
        <span class="revision">
          r{chrome.revision.sequence} <Copy text={chrome.revision.id} what="revision id" />
        </span>
      )}
      <AccountMenu reader={reader} />
    </header>
  );
}

function Health({ problems }: { problems: number }) {
  const text = problems === 0 ? "No problems" : countText(problems, "problem");
  return (
    <a class="health" href={CONSOLE}>
      <State tone={problems === 0 ? "good" : "bad"}>{text}</State>
    </a>
  );
}

function AccountMenu({ reader }: { reader: Reader }) {
  const { email, role } = reader.visitor.principal;
  return (
    <details class="account-menu">
      <summary>
        <Text value={email} />
      </summary>
      <div class="menu">
        <p>
          {roleText(role)}, times in {reader.zone}
        </p>
        <a href={`${CONSOLE}/me/account`}>Account</a>
        <a href="/help">Handbook</a>
        <a href={`${CONSOLE}/help/keys`}>Keyboard</a>
        <ThemeForm reader={reader} />
        <form method="post" action="/sign-out">
          <Hidden name="csrf" value={reader.csrf} />
          <button class="button quiet" type="submit">
            Sign out
          </button>
        </form>
        <p class="hint">Quartermaster {VERSION}</p>
      </div>
    </details>
  );
}

const THEME_LABELS = { system: "As the system", light: "Light", dark: "Dark" } as const;

/** Chooses the colors of this browser and returns to the page. */
export function ThemeForm({ reader }: { reader: Reader }) {
  const { pathname, search } = reader.url;
  return (
    <form class="theme" method="post" action={`${CONSOLE}/theme`}>
      <Hidden name="csrf" value={reader.csrf} />
      <Hidden name={OWNER_FIELD} value={reader.visitor.formOwner} />
      <Hidden name="next" value={pathname + search} />
      <fieldset>
        <legend>Colors</legend>
        {Object.entries(THEME_LABELS).map(([theme, label]) => (
          <button
            key={theme}
            class="button quiet"
            name="theme"
            value={theme}
            type="submit"
            aria-pressed={(reader.theme ?? "system") === theme}
          >
            {label}
          </button>
        ))}
      </fieldset>
    </form>
  );
}

/** Below 60 rem the list is folded, which works without a script; the style sheet shows it always above that. */
function Navigation({ groups, path }: { groups: readonly NavigationGroup[]; path: string }) {
  return (
    <nav class="console-nav" aria-label="Console">
      <details>
        <summary>Menu</summary>
        {groups.map(({ label, links }) => (
          <div class="nav-group" key={label}>
            <h2>{label}</h2>
            <ul>
              {links.map(({ href, label: text }) => (
                <li key={href}>
                  <a href={href} aria-current={isCurrent(href, path) ? "page" : undefined}>
                    {text}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </details>
    </nav>
  );
}

function Breadcrumbs({ breadcrumbs }: { breadcrumbs: NonNullable<ConsolePage["breadcrumbs"]> }) {
  if (breadcrumbs.length === 0) return null;
  return (
    <nav class="breadcrumbs" aria-label="Above this page">
      <ol>
        {breadcrumbs.map(({ href, label }) => (
          <li key={href}>
            <a href={href}>
              <Text value={label} />
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
