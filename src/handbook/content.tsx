// Chapters as HTML: the runtime parses the Markdown, Preact renders it, so that all text is escaped. The server or the release
// adds the frame around a chapter.
/** @jsxImportSource preact */
import { type ComponentChildren, h } from "preact";
import { renderToString } from "preact-render-to-string";
import { handbookText, illustratedText } from "./chapters.ts";
import { CHAPTERS, type Chapter } from "./contents.ts";
import { withLinks } from "./markdown.ts";

/** Gives the address of a chapter; `anchor` begins with # or is empty. */
export type AddressOf = (name: string, anchor: string) => string;

/** The runtime's result for Markdown: elements in the shape of React. */
interface ParsedElement {
  readonly type: string | symbol;
  readonly props: Readonly<Record<string, unknown>>;
}

interface Reading {
  chapter: Chapter;
  addressOf: AddressOf;
  /** address of the list of chapters */
  contents: string;
  /** default: its text without pictures */
  text?: string | undefined;
}

/** A chapter below its title, with links to its sections and to the other chapters. */
export function ChapterText({ chapter: { name }, addressOf, contents, text = handbookText(name) }: Reading) {
  const body = withLinks(text ?? "", addressOf).replace(/^# .*\n/, "");
  const parsed = Bun.markdown.react(body, undefined, { headings: { ids: true } });
  return (
    <article class="handbook">
      <p>
        <a href={contents}>Handbook</a>
      </p>
      <SectionLinks headings={headingsIn(parsed)} />
      {preactOf(parsed)}
      <ChapterLinks name={name} addressOf={addressOf} />
    </article>
  );
}

/** @returns the list of all chapters */
export function ContentsList({ addressOf }: { addressOf: AddressOf }) {
  return (
    <dl>
      {CHAPTERS.map(({ name, title, about }) => (
        <div class="chapter" key={name}>
          <dt>
            <a href={addressOf(name, "")}>{title}</a>
          </dt>
          <dd>{about}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A chapter with fewer sections needs no list of them. */
const SECTIONS_LISTED_MIN = 3;

function SectionLinks({ headings }: { headings: readonly ParsedElement[] }) {
  if (headings.length < SECTIONS_LISTED_MIN) return null;
  return (
    <nav aria-label="Sections">
      <ul class="links">
        {headings.map(({ props }) => (
          <li key={String(props.id)}>
            <a href={`#${String(props.id)}`}>{preactOf(props.children)}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Links to the chapters before and after this one. */
function ChapterLinks({ name, addressOf }: { name: string; addressOf: AddressOf }) {
  const at = CHAPTERS.findIndex((chapter) => chapter.name === name);
  const [previous, next] = [CHAPTERS[at - 1], CHAPTERS[at + 1]];
  return (
    <nav class="pages" aria-label="Chapters">
      {previous && <a href={addressOf(previous.name, "")}>Previous: {previous.title}</a>}
      {next && <a href={addressOf(next.name, "")}>Next: {next.title}</a>}
    </nav>
  );
}

/** @returns a chapter as a file that needs style.css, pictures and the other chapters beside it, and no server */
export const chapterFile = (chapter: Chapter): string =>
  document(
    chapter.title,
    <ChapterText
      chapter={chapter}
      addressOf={fileAddress}
      contents="index.html"
      text={illustratedText(chapter.name)}
    />,
  );

/** @returns the list of chapters as such a file */
export const contentsFile = (): string => document("Handbook", <ContentsList addressOf={fileAddress} />);

const fileAddress: AddressOf = (name, anchor) => `${name}.html${anchor}`;

const document = (title: string, content: ComponentChildren): string =>
  `<!doctype html>${renderToString(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${title} – Quartermaster`}</title>
        <link rel="stylesheet" href="style.css" />
      </head>
      <body class="wide">
        <main>
          <h1>{title}</h1>
          {content}
        </main>
      </body>
    </html>,
  )}\n`;

/** Blocks can be scrolled with the keyboard, because their long lines do not wrap. */
function preactOf(node: unknown): ComponentChildren {
  if (Array.isArray(node)) return node.map(preactOf);
  if (!isElement(node)) return typeof node === "string" ? node : null;
  const { children, language: _, ...attributes } = node.props;
  const inner = preactOf(children);
  if (typeof node.type === "symbol") return inner;
  return node.type === "pre"
    ? h("pre", { tabIndex: 0 }, h("code", null, inner))
    : h(node.type, attributes, inner);
}

/** @returns the headings of the second level */
function headingsIn(node: unknown): ParsedElement[] {
  if (Array.isArray(node)) return node.flatMap(headingsIn);
  if (!isElement(node)) return [];
  return node.type === "h2" ? [node] : headingsIn(node.props.children);
}

const isElement = (node: unknown): node is ParsedElement =>
  typeof node === "object" && node !== null && "props" in node && "type" in node;
