// The result of checking a publication: the problems, or the stamped document compared with the current one. Documents are JSON
// texts here, which are cheap to copy to a thread.
import { setImmediate } from "node:timers/promises";
import type { Problem } from "../../../platform/errors.ts";
import { PATHS_NAMED_MAX } from "../errors.ts";
import type { GovernanceConfig, Revision } from "../model.ts";
import { diffDocuments } from "./diff.ts";
import { type FinalizeContext, isSameDocument } from "./finalize.ts";

/** A document compared with the current one. */
export interface Validated {
  /** with pointers into the request; if there are any, the other members have no meaning */
  problems: Problem[];
  /** stamped, as JSON */
  document: string;
  /** whether it equals the current document */
  isUnchanged: boolean;
  /** at most PATHS_NAMED_MAX places that differ */
  changed: string[];
}

/** The starting point of every author. */
export interface BaseRevisionText {
  /** the current document, as JSON */
  base: string;
  frame: FinalizeContext;
}

/** @returns the document of a JSON text that this program wrote */
export const parse = (text: string): GovernanceConfig => JSON.parse(text);

/** Like parse. Lets other requests run before and after it, because a text may have megabytes. */
export async function parseInTurn(text: string): Promise<GovernanceConfig> {
  await setImmediate();
  return await setImmediate(parse(text));
}

/** @returns the document as JSON. Lets other requests run before and after it, because a text may have megabytes. */
export const documentText = ({ document }: Pick<Revision, "document">): Promise<string> =>
  textInTurn(document);

/** Like documentText, with the audiences. */
export const policyText = ({
  document,
  audiences,
}: Pick<Revision, "document" | "audiences">): Promise<string> => textInTurn({ document, audiences });

async function textInTurn(value: object): Promise<string> {
  await setImmediate();
  return await setImmediate(JSON.stringify(value));
}

/** @returns the result for a document without problems */
export const accepted = (document: GovernanceConfig, base: GovernanceConfig): Validated => {
  const isUnchanged = isSameDocument(base, document);
  const changed = isUnchanged ? [] : placesOf(base, document);
  return { problems: [], document: JSON.stringify(document), isUnchanged, changed };
};

/** @returns the result for a document with problems */
export const refused = (problems: Problem[]): Validated => ({
  problems,
  document: "",
  isUnchanged: false,
  changed: [],
});

/** @returns only places, because values may be secrets */
export const placesOf = (before: GovernanceConfig, after: GovernanceConfig): string[] =>
  diffDocuments(before, after)
    .slice(0, PATHS_NAMED_MAX)
    .map(({ path }) => path);
