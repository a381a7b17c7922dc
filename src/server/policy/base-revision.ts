// The revision that an author of the policy began from: said in the body, or by If-Match with the ETag of what was read.

import type { Revision } from "../../domain/governance/service.ts";
import { DomainError } from "../../platform/errors.ts";
import { ifMatchOf } from "../http/conditional.ts";
import { HttpError } from "../http/problems/problem.ts";

interface Authored {
  /** `base_revision` of the body */
  stated: string | undefined;
  /** @returns the revision in force */
  current(): Revision;
  /** @returns the entity tag of what the caller reads of a revision */
  tagOf(revision: Revision): string;
}

/**
 * Publishes on the revision that the caller began from.
 * @throws HttpError 412 `governance.stale_revision` with the current entity tag and the places that have changed since, where
 *   If-Match names another revision; 422 where neither says which revision it was
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

/** @returns the id of the revision in a strong entity tag; what follows a dot is no part of it */
const revisionIn = (tag: string): string | undefined => /^"([^".]*)[^"]*"$/.exec(tag)?.[1];

function baseMissing(): HttpError {
  const detail = "expected the revision that the author began from, or its ETag in If-Match";
  return new HttpError(422, "request.invalid", `the body has one problem: /base_revision: ${detail}`, {
    problems: [{ pointer: "/base_revision", detail }],
  });
}
