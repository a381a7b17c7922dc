// The changes of an audit entry, member by member of its summaries, and the page that shows its target.
import type { AuditRow } from "../../../domain/audit/chain.ts";
import { summaryIn } from "../../../domain/audit/reading/entry-document.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { CONSOLE } from "../frame/navigation.ts";
import { shortened } from "../parts/texts.ts";

export interface Change {
  /** of the member */
  name: string;
  /** undefined if the summary has no such member */
  before: string | undefined;
  after: string | undefined;
}

type Summaries = Pick<AuditRow, "before" | "after">;

/** @returns every member of the summaries; members of `after` come first */
export function changesOf({ before, after }: Summaries): Change[] {
  const [old, fresh] = [membersOf(before), membersOf(after)];
  const names = new Set([...Object.keys(fresh), ...Object.keys(old)]);
  return [...names].map((name) => ({ name, before: textIn(old, name), after: textIn(fresh, name) }));
}

export const isChanged = ({ before, after }: Change): boolean => before !== after;

/** Number of changes that a list row shows; the others are counted. */
const NAMED_CHANGES = 2;
/** Longer values are cut in a list row. */
const VALUE_CHARACTERS = 48;

/** @returns the change in one line, for example `role: member → admin`; `done` if the entry has no summaries */
export function outcomeText(entry: Summaries): string {
  const changed = changesOf(entry).filter(isChanged);
  if (changed.length === 0) return "done";
  const named = changed
    .slice(0, NAMED_CHANGES)
    .map(({ name, before, after }) => `${name}: ${[before, after].flatMap(cut).join(" → ")}`);
  const others = changed.length - named.length;
  return [...named, ...(others > 0 ? [`${others} more`] : [])].join("; ");
}

const IDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:sha256:)?[0-9a-f]{64}/g;

/** @returns the same for people: ids and digests are shortened in the middle, and the page of the entry has all of them */
export function shortOutcome(entry: Summaries): string {
  const inShort = (text: string | null) => text?.replaceAll(IDS, shortened) ?? null;
  return outcomeText({ before: inShort(entry.before), after: inShort(entry.after) });
}

/** @returns the list of all entries about a target */
export const entriesAbout = (target: string): string => `${CONSOLE}/audit?${new URLSearchParams({ target })}`;

/** A summary that is not an object was tampered with; it is shown unchanged. */
function membersOf(text: string | null): Record<string, unknown> {
  const summary = summaryIn(text);
  if (isJsonObject(summary)) return summary;
  return summary === null ? {} : { content: summary };
}

const textIn = (members: Record<string, unknown>, name: string): string | undefined =>
  Object.hasOwn(members, name) ? valueText(members[name]) : undefined;

function valueText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null) return "none";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(valueText).join(", ");
  return JSON.stringify(value);
}

const cut = (value: string | undefined): string[] =>
  value === undefined
    ? []
    : [value.length > VALUE_CHARACTERS ? `${value.slice(0, VALUE_CHARACTERS - 1)}…` : value];
