// The cursor of a list of workstations: the position of its last row and the count, as opaque text. It needs no signature,
// because changing it only changes where the caller's own list continues.
import type { Problem } from "../../../platform/errors.ts";
import { isOwnId } from "../../../platform/ids.ts";
import type { Place } from "../../shared/page-steps.ts";
import type { Sort } from "../model.ts";

export type { Place } from "../../shared/page-steps.ts";

export interface CursorPlace {
  place: Place;
  /** number of matching rows, counted by the first page */
  known: number;
  isExact: boolean;
}

export const cursorText = (sort: Sort, { place: { first, second }, known, isExact }: CursorPlace): string =>
  Buffer.from(JSON.stringify([sort, first, second, known, isExact])).toString("base64url");

/** @returns the position; undefined, with a problem, for text that is not a cursor of a list in this order */
export function cursorPlace(text: string, sort: Sort, problems: Problem[]): CursorPlace | undefined {
  const found = placeIn(text, sort);
  if (found) return found;
  const detail = "cursor must be the next_cursor of a page of the same list in the same order";
  problems.push({ pointer: "/cursor", detail });
  return undefined;
}

function placeIn(text: string, wanted: Sort): CursorPlace | undefined {
  const [sort, first, second, known, isExact]: unknown[] = membersOf(text);
  const isPlace = isKeyOf(first, wanted) && typeof second === "string" && isOwnId(second);
  const isCounted = typeof known === "number" && Number.isSafeInteger(known) && known >= 0;
  if (sort !== wanted || !isPlace || !isCounted || typeof isExact !== "boolean") return undefined;
  return { place: { first, second }, known, isExact };
}

const isKeyOf = (key: unknown, sort: Sort): key is string | number =>
  sort.startsWith("last_seen_") ? Number.isSafeInteger(key) : typeof key === "string";

function membersOf(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return []; // not a cursor of this service
  }
}
