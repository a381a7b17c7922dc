// The handbook as pages. It is the same for all callers, so it shows the product's name and not the organization's.
/** @jsxImportSource preact */
import { type AddressOf, ChapterText, ContentsList } from "../../handbook/content.tsx";
import { findChapter } from "../../handbook/contents.ts";
import { renderPage } from "./layout.tsx";

export const HELP_PATH = "/help";

const addressOf: AddressOf = (name, anchor) => `${HELP_PATH}/${name}${anchor}`;

export const contentsPage = (): string =>
  renderPage({ title: "Handbook", isWide: true }, <ContentsList addressOf={addressOf} />);

/** @returns the chapter; undefined for an unknown name */
export function chapterPage(name: string): string | undefined {
  const chapter = findChapter(name);
  if (chapter === undefined) return undefined;
  return renderPage(
    { title: chapter.title, isWide: true },
    <ChapterText chapter={chapter} addressOf={addressOf} contents={HELP_PATH} />,
  );
}
