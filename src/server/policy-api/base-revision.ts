// The revision that a policy change is based on, from the body or from If-Match with a previous ETag.

import type { Revision } from "../../domain/governance/service.ts";
import { DomainError } from "../../platform/errors.ts";
import { ifMatchOf } from "../http/conditional.ts";
import { HttpError } from "../http/problems/problem.ts";

interface Authored {
  /** `base_revision` in the body */
  stated: string | undefined;
  /** @returns the revision in force */
  current(): Revision;
  /** @returns the entity tag of a revision for this caller */
  tagOf(revision: Revision): string;
}

/**
 * Publishes a change on its base revision.
 * @throws HttpError 412 `governance.stale_revision` with the current entity tag and the places changed since, if If-Match
 *   names another revision; 422 if neither body nor header names the base
 */
export async function publishOnBaseRevision(
  request: Request,
  { stated, current, tagOf }: Authored,
  publish: (baseRevision: string) => Promise<Revision>,
): Promise<Revision> {
  const tags = ifMatchOf(request);
  if (!tags) {
    if (stated === undefined) throw baseMissing();
    return await publish(stated);
  }
  const inForce = current();
  const isCurrent = tags.includes("*") || tags.some((tag) => revisionIn(tag) === inForce.id);
  const base = isCurrent ? (stated ?? inForce.id) : (revisionIn(tags[0] ?? "") ?? "");
  try {
    return await publish(base);
  } catch (error) {
    if (!(error instanceof DomainError) || error.reason !== "governance.stale_revision") throw error;
    const { reason, message, hint, problems } = error;
    const headers = { etag: tagOf(current()) };
    throw new HttpError(412, reason, hint ? `${message}; ${hint}` : message, { problems, headers });
  }
}

/** @returns the revision id in a strong entity tag; the part after a dot is ignored */
const revisionIn = (tag: string): string | undefined => /^"([^".]*)[^"]*"$/.exec(tag)?.[1];

function baseMissing(): HttpError {
  const detail = "expected the revision that the change is based on, or its ETag in If-Match";
  return new HttpError(422, "request.invalid", `the body has one problem: /base_revision: ${detail}`, {
    problems: [{ pointer: "/base_revision", detail }],
  });
}
