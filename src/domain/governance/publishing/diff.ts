// The differences between two policies, place by place. Only administrators see values; logs and the audit log name places only.
import { isDeepStrictEqual } from "node:util";
import { pointerOf } from "../../../platform/errors.ts";
import type { Revision } from "../model.ts";
import { splitParts } from "./document-paths.ts";
import { commonNames } from "./merge-order.ts";

/** One place that differs; a side without a value there lacks its member. */
export interface Change {
  /** as in document-paths.ts */
  path: string;
  /** set if only the order of the list differs: the sides are the names of the common entries */
  order?: true;
  before?: unknown;
  after?: unknown;
}

/** @returns every place where the documents differ, as deep as it can be named, ignoring `revision` */
export function diffDocuments(before: object, after: object): Change[] {
  const changes: Change[] = [];
  compareAt([], withoutRevision(before), { after: withoutRevision(after), changes });
  return changes;
}

/** @returns the same for revisions; an audience is a place below `/package_audiences` */
export const diffRevisions = (before: RevisionContent, after: RevisionContent): Change[] => [
  ...diffDocuments(before.document, after.document),
  ...diffAudiences(before, after),
];

const STAMPS = /^\/(?:contract_version|required_capabilities|minimum_client_version|gateway)(?:\/|$)/;

/** @returns whether publishing writes the place itself */
export const isStamp = ({ path }: Pick<Change, "path">): boolean => STAMPS.test(path);

/** @returns the places where the audiences differ */
export const changedAudiences = (
  before: Pick<RevisionContent, "audiences">,
  after: Pick<RevisionContent, "audiences">,
): string[] => diffAudiences(before, after).map(({ path }) => path);

const diffAudiences = (
  before: Pick<RevisionContent, "audiences">,
  after: Pick<RevisionContent, "audiences">,
): Change[] => diffDocuments({ package_audiences: before.audiences }, { package_audiences: after.audiences });

type RevisionContent = Pick<Revision, "document" | "audiences">;

/** @returns the document without its revision id */
function withoutRevision(document: object): object {
  const { revision: _, ...rest } = { revision: undefined, ...document };
  return rest;
}

/** `undefined` means no value. */
function compareAt(
  path: readonly string[],
  before: unknown,
  { after, changes }: { after: unknown; changes: Change[] },
): void {
  if (isDeepStrictEqual(before, after)) return;
  const [from, to] = [splitParts(path, before), splitParts(path, after)];
  if (!from || !to || Array.isArray(before) !== Array.isArray(after)) {
    changes.push({
      path: pointerOf(path),
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    });
    return;
  }
  if (Array.isArray(before)) compareOrders(path, [...from.keys()], { after: [...to.keys()], changes });
  for (const name of new Set([...from.keys(), ...to.keys()])) {
    compareAt([...path, name], from.get(name), { after: to.get(name), changes });
  }
}

function compareOrders(
  path: readonly string[],
  before: readonly string[],
  { after, changes }: { after: readonly string[]; changes: Change[] },
): void {
  const [from, to] = [commonNames(before, after), commonNames(after, before)];
  if (!isDeepStrictEqual(from, to))
    changes.push({ path: pointerOf(path), order: true, before: from, after: to });
}
