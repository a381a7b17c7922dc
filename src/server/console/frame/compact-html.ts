// Shortens the markup of a long page. Browsers build the same document from it: HTML allows omitting these end tags and quotes
// (HTML standard, sections 13.1.2.3 and 13.1.2.4).

/** Shorter pages stay as they are rendered. */
export const COMPACTED_LENGTH_MIN = 49_152;

/** The renderer escapes `<` and `"` in texts and values, so these patterns match tags and attributes only. */
const END_TAGS = /<\/(?:td|th|tr|li|option)>/g;
const QUOTED = /="([\w.:/#-]+)"(?=[ >])/g;
/** An attribute without a value has the empty one. */
const EMPTY = /=""(?=[ >])/g;

/** @param html as preact-render-to-string renders it */
export const compactHtml = (html: string): string =>
  html.length < COMPACTED_LENGTH_MIN
    ? html
    : html.replace(END_TAGS, "").replace(QUOTED, "=$1").replace(EMPTY, "");
