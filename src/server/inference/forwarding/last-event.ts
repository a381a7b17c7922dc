// The last event of a stream that we end: an error in the form of the API, never the event that marks a response as complete. It
// can only follow a complete event.
import type { Dialect } from "../paths.ts";
import { type RefusalReason, refusalBody } from "../refusals.ts";

/** Number of bytes at the end of what was sent that show whether an event is open: two line ends close it. */
export const BOUNDARY_BYTES = 4;

/** @param last the last BOUNDARY_BYTES that were sent, or fewer */
export function isBetweenEvents(last: string): boolean {
  if (last === "") return true;
  const line = last.replace(/(?:\r\n|\n|\r)$/, "");
  return line !== last && /[\r\n]$/.test(line);
}

interface Ending {
  dialect: Dialect;
  requestId: string;
  /** the last part of the stream, for the sequence number of Responses */
  tail: string;
}

/** @returns one event with its blank line */
export function lastEvent(reason: RefusalReason, { dialect, requestId, tail }: Ending): string {
  const body = { ...refusalBody(reason, dialect), reason, request_id: requestId };
  if (dialect === "chat") return `data: ${JSON.stringify(body)}\n\n`;
  if (dialect === "messages") return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
  const number = { sequence_number: nextNumber(tail) };
  return `event: error\ndata: ${JSON.stringify({ type: "error", ...flat(body), ...number, ...body })}\n\n`;
}

/** The Responses API has the members of the error at the top; its clients also read `error`. */
const flat = ({ error }: Record<string, unknown>): Record<string, unknown> =>
  typeof error === "object" && error !== null ? { code: null, message: "", ...error, type: "error" } : {};

function nextNumber(tail: string): number {
  const numbers = tail.match(/"sequence_number"\s*:\s*\d+/g);
  return numbers ? Number(numbers.at(-1)?.replace(/^\D+/, "")) + 1 : 0;
}
