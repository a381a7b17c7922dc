// Shows single values the same way on every page: times, numbers, sizes, ids, revisions, states, and texts that a workstation or a
// provider reported.
/** @jsxImportSource preact */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { invariant } from "../../../platform/errors.ts";
import type { Reader } from "../reader.ts";
import { exactTime, nearTime, numberText, relativeTime, shortened, sizeText, visibleText } from "./texts.ts";

/** The frame provides the reader to all elements of a page. */
export const ReaderContext = createContext<Reader | undefined>(undefined);

/** @returns the reader of the page that is rendered */
export function useReader(): Reader {
  const reader = useContext(ReaderContext);
  invariant(reader, "the frame provides the reader");
  return reader;
}

/** Characters of `2026-11-23T14:02`. */
const MINUTES_END = 16;

/** A time in the reader's zone: `2 hours ago (Nov 23, 14:02 UTC)`, and after 7 days only the exact time with its year. */
export function Time({ at, none = "never" }: { at: number | string | null | undefined; none?: string }) {
  const { nowMs, zone } = useReader();
  if (at === null || at === undefined) return <span class="muted">{none}</span>;
  const ms = typeof at === "number" ? at : Date.parse(at);
  if (!Number.isFinite(ms)) return <Text value={String(at)} />;
  const relative = relativeTime(ms, nowMs);
  return (
    <time datetime={`${new Date(ms).toISOString().slice(0, MINUTES_END)}Z`}>
      {relative === undefined ? (
        exactTime(ms, zone)
      ) : (
        <>
          {relative} <small>({nearTime(ms, zone)})</small>
        </>
      )}
    </time>
  );
}

/** A number with the reader's grouping. */
export function Count({ value }: { value: number }) {
  return <span class="number">{numberText(value, useReader().language)}</span>;
}

/** A size in B, KiB, MiB or GiB. */
export function Size({ bytes }: { bytes: number }) {
  return <span class="number">{sizeText(bytes, useReader().language)}</span>;
}

/** An untrusted text: its direction is isolated, and control characters are visible. */
export function Text({ value, none = "–" }: { value: string | null | undefined; none?: string }) {
  if (value === null || value === undefined || value === "") return <span class="muted">{none}</span>;
  return <bdi>{visibleText(value)}</bdi>;
}

/** @returns the same as HTML, for thousands of texts on one page; a space for an empty one */
export const textHtml = (value: string): string => `<bdi>${Bun.escapeHTML(visibleText(value)) || " "}</bdi>`;

/** Matches texts that are short and cannot change the direction of their neighbors. */
const PLAIN_WORD = /^[!-~]{1,20}$/;

/**
 * A version or a similar value: as `Text`, but without the element unless it is needed, because every row of a list would have
 * it.
 */
export const Word = ({ value }: { value: string }) =>
  PLAIN_WORD.test(value) ? value : <Text value={value} />;

/** An id or digest, shortened in the middle. The script adds a button that copies all of it. */
export function Id({ value }: { value: string }) {
  const short = shortened(value);
  return (
    <code class="id" title={short === value ? undefined : value}>
      {short}
    </code>
  );
}

/**
 * A button that copies a text. It appears only where the script runs.
 * @param text without one, the text of the element before the button is copied
 */
export function Copy({ text = "", what }: { text?: string; what: string }) {
  return (
    <button class="copy" type="button" data-copy={text} hidden aria-label={`Copy ${what}`}>
      Copy
    </button>
  );
}

/** A value that must be entered elsewhere, such as an address, with a button that copies it. */
export function CopyableValue({ value, what }: { value: string; what: string }) {
  return (
    <>
      <code>
        <Text value={value} />
      </code>{" "}
      <Copy text={value} what={what} />
    </>
  );
}

/** How good a state is. A word always accompanies the color. */
export type Tone = "good" | "attention" | "bad" | "neutral";

/** A state as a word, with a shape and a color that repeat it. */
export function State({ tone, children }: { tone: Tone; children: string }) {
  return <b class={tone}>{children}</b>;
}

/** A revision by its short name, `r43`; its title is the id. */
export function Revision({
  sequence,
  href,
}: {
  sequence: number | null | undefined;
  href?: string | undefined;
}) {
  if (sequence === null || sequence === undefined) return <span class="muted">none</span>;
  return href === undefined ? <>r{sequence}</> : <a href={href}>r{sequence}</a>;
}

/** One named value. */
export interface Fact {
  label: string;
  value: preact.ComponentChildren;
}

/** Named values side by side. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
