// Links a line of the policy to the text of the revision that it belongs to: later revisions have other lines.
/** @jsxImportSource preact */
import { HISTORY_PATH } from "../policy/words.ts";

/** @param revision id */
export const LineLink = ({ revision, line }: { revision: string; line: number }) => (
  <a href={`${HISTORY_PATH}/${revision}#L${line}`}>line {line}</a>
);
