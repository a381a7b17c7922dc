// The effect of the policy on one person, in the console, optionally compared with another.
import { setImmediate } from "node:timers/promises";
import type { Revision } from "../../../../domain/governance/service.ts";
import { HARNESS_KEYS } from "../../../../domain/harnesses/harnesses.ts";
import { DomainError, type Problem } from "../../../../platform/errors.ts";
import type { Console } from "../../../console/console.ts";
import { listValues } from "../../../console/list/list.ts";
import { comparisonOf, type Explained } from "../../../console/parts/explained-rows.ts";
import { type ExplainRequest, explainPage } from "../../../console/policy/explain-page.tsx";
import { isHiddenFrom } from "../../../console/policy/hidden-values.tsx";
import { EXPLAIN_PATH, revisionText } from "../../../console/policy/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { pageRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";

export const explainPages = ({ router, domain }: RouteContext, console: Console) =>
  router.get(
    EXPLAIN_PATH,
    ({ request }) =>
      console.show(request, "administrator", async (reader) => {
        const explainRequest = askedBy(reader);
        const hasDraft = domain.governance.drafts.versionOf(reader.actor) > 0;
        const problems: Problem[] = [];
        const sides =
          explainRequest.user === "" ? [] : await answersFor(domain, reader, { explainRequest, problems });
        const isHidden = isHiddenFrom(reader);
        const comparison = await comparisonOf(sides, (places) =>
          domain.governance.views.shownPlaces(places, { isHidden }),
        );
        return explainPage({ explainRequest, comparison, problems, hasDraft });
      }),
    pageRoute("showPolicyExplanation", "The effect of the policy on one person"),
  );

function askedBy(reader: Reader): ExplainRequest {
  const values = listValues(reader);
  return {
    user: values.user ?? "",
    harness: values.harness ?? HARNESS_KEYS[0],
    installed: values.installed ?? "",
    revision: values.revision ?? "",
    withUser: values.with_user ?? "",
    withRevision: values.with_revision ?? "",
    withDraft: values.with_draft === "yes",
  };
}

/** @param problems receives the problems of the fields, by name */
async function answersFor(
  { governance, identity }: RouteContext["domain"],
  reader: Reader,
  { explainRequest, problems }: { explainRequest: ExplainRequest; problems: Problem[] },
): Promise<Explained[]> {
  const { organizationId } = reader;
  const { revisions } = governance;
  const side = async (field: string, who: string, revision: Revision, name: string): Promise<Explained[]> => {
    try {
      const user = identity.users.find(organizationId, who);
      const question = {
        userId: user.id,
        harness: explainRequest.harness,
        version: explainRequest.installed || undefined,
      };
      const explanation = await governance.explain({ organizationId }, question, revision);
      await setImmediate(); // lets other requests run, because an explanation may have thousands of values
      const refusal = user.status === "active" ? undefined : `the user is ${user.status}`;
      return [{ label: `${user.email}, ${name}`, explanation, refusal }];
    } catch (error) {
      if (!(error instanceof DomainError) || !["invalid", "not_found"].includes(error.kind)) throw error;
      const about = error.reason === "governance.bad_version" ? "installed" : field;
      problems.push({ pointer: `/${about}`, detail: error.message });
      return [];
    }
  };
  const revisionIn = (field: string, reference: string): Revision | undefined => {
    try {
      return reference === ""
        ? revisions.inForce(organizationId)
        : revisions.named(organizationId, reference);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      problems.push({ pointer: `/${field}`, detail: error.message });
      return undefined;
    }
  };
  const first = revisionIn("revision", explainRequest.revision);
  if (!first) return [];
  const sides = await side("user", explainRequest.user, first, revisionText(first));
  const other =
    explainRequest.withRevision === "" ? first : revisionIn("with_revision", explainRequest.withRevision);
  if (other && (explainRequest.withUser !== "" || explainRequest.withRevision !== ""))
    sides.push(
      ...(await side(
        "with_user",
        explainRequest.withUser || explainRequest.user,
        other,
        revisionText(other),
      )),
    );
  const draft = explainRequest.withDraft ? governance.drafts.own(reader.actor) : undefined;
  if (draft) {
    const drafted = {
      ...first,
      document: draft.document,
      audiences: draft.audiences,
      id: `${draft.id}/${draft.version}`,
    };
    sides.push(...(await side("user", explainRequest.user, drafted, "your draft")));
  }
  return sides;
}
