// The shorter spelling of a long page. Browsers make the same document of it: HTML allows omitting these end tags and quotes
// (HTML standard, sections 13.1.2.3 and 13.1.2.4).

/** Shorter pages stay as they are rendered. */
export const COMPACTED_LENGTH_MIN = 49_152;

/** The renderer escapes `<` and `"` in texts and values, so that these are tags and attributes only. */
const END_TAGS = /<\/(?:td|th|tr|li|option)>/g;
const QUOTED = /="([\w.:/#-]+)"(?=[ >])/g;

/** @param html as preact-render-to-string renders it */
export const compactHtml = (html: string): string =>
  html.length < COMPACTED_LENGTH_MIN ? html : html.replace(END_TAGS, "").replace(QUOTED, "=$1");
