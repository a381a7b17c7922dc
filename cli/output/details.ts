// Formats one item for people, one fact per line. table.ts formats lists.
import { toRfc3339 } from "../../src/platform/clock.ts";
import { printable } from "./printable.ts";

export type Fact = readonly [name: string, value: string | number | boolean | Date | null | undefined];

const GAP = 2;

/** @returns names and values in two columns; an empty value shows as `-`, times are exact */
export function detailsText(facts: readonly Fact[]): string {
  const width = Math.max(...facts.map(([name]) => name.length)) + GAP;
  return facts.map(([name, value]) => `${name.padEnd(width)}${valueText(value)}`).join("\n");
}

function valueText(value: Fact[1]): string {
  if (value instanceof Date) return toRfc3339(value.getTime());
  const text = typeof value === "boolean" ? (value ? "yes" : "no") : printable(String(value ?? ""));
  return text === "" ? "-" : text;
}

/** @returns the time as a Date; null for null */
export const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

/** @returns the time in RFC 3339; null for null */
export const timeOf = (ms: number | null): string | null => (ms === null ? null : toRfc3339(ms));
