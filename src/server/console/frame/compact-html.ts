// Shortens the markup of a long page. Browsers build the same document from it: HTML allows omitting these end tags and quotes
// (HTML standard, sections 13.1.2.3 and 13.1.2.4). Only links of a list become relative; they lead to the same addresses.

/** Shorter pages stay as they are rendered. */
export const COMPACTED_LENGTH_MIN = 49_152;

/** The renderer escapes `<` and `"` in texts and values, so these patterns match tags and attributes only. */
const VOID_ENDS = /"\/>/g;
const END_TAGS = /<\/(?:td|th|tr|li|option)>/g;
const QUOTED = /="([\w.:/#-]+)"(?=[ >])/g;
/** An attribute without a value has the empty one. */
const EMPTY = /=""(?=[ >])/g;

/** Each row of a list has links. Other pages keep whole links, because the script shows parts of them on pages of other folders. */
const LIST = /<div id="?list"?[ >]/;

/**
 * @param html as preact-render-to-string renders it
 * @param path of the page
 */
export function compactHtml(html: string, path: string): string {
  if (html.length < COMPACTED_LENGTH_MIN) return html;
  const compact = html
    .replace(VOID_ENDS, '">')
    .replace(END_TAGS, "")
    .replace(QUOTED, "=$1")
    .replace(EMPTY, "");
  return LIST.test(compact) ? compact.replace(linksBeside(path), "$1") : compact;
}

/** Matches the folder of the page in links to what the folder contains. */
const linksBeside = (path: string): RegExp =>
  new RegExp(`( href="?)${RegExp.escape(path.slice(0, path.lastIndexOf("/") + 1))}(?=[\\w-]+[/?" >])`, "g");
