// The effect of the policy on one user and one harness, in the format of the API for administrators and for the user.
import type { Explanation } from "../../domain/governance/service.ts";
import { toRfc3339 } from "../../platform/clock.ts";

/** @returns the explanation with every package of the policy */
export const explanationDocument = ({ revision, ...explanation }: Explanation) => ({
  revision: revision.id,
  number: revision.sequence,
  published_at: toRfc3339(revision.createdAtMs),
  harness: explanation.harness,
  allowed: explanation.isAllowed,
  required: explanation.isRequired,
  version_refusal: explanation.versionRefusal ?? null,
  values: explanation.values.map(({ line = null, ...value }) => ({ ...value, line })),
  defaults: explanation.defaults,
  packages: explanation.packages.map(({ line = null, ...offered }) => ({ ...offered, line })),
});
