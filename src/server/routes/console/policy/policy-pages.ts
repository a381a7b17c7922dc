// Reading the policy in the console: in force, history, one revision, differences and rollouts.
import type { Revision } from "../../../../domain/governance/service.ts";
import { DomainError } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import type { Console } from "../../../console/console.ts";
import { found, listValues, numberIn } from "../../../console/list/list.ts";
import { historyPage } from "../../../console/policy/history-list.tsx";
import { diffPage, policyPage, revisionPage } from "../../../console/policy/policy-page.tsx";
import { rolloutPage } from "../../../console/policy/rollout-page.tsx";
import { DIFF_PATH, HISTORY_PATH, POLICY_PATH, ROLLOUT_PATH } from "../../../console/policy/words.ts";
import { pageRoute } from "../../../pages/html.ts";
import { createRouter, type RouteContext } from "../../../router.ts";

/** @returns the pages that show the policy */
export function policyPages({ guard, domain }: RouteContext, console: Console) {
  const { clients, governance } = domain;
  const { revisions, views } = governance;
  /** The canonical text is written in a thread if it is long. */
  const textOf = async (revision: Revision): Promise<string> => {
    const { yaml }: { yaml: string } = JSON.parse(
      new TextDecoder().decode(await views.adminConfig(revision)),
    );
    return yaml;
  };

  return createRouter(guard, "console-policy")
    .get(
      POLICY_PATH,
      ({ request }) =>
        console.show(request, "administrator", async ({ organizationId }) => {
          const revision = revisions.current(organizationId);
          const conflicts = governance.deployments.conflicts(organizationId);
          return policyPage({ revision, text: revision ? await textOf(revision) : "", conflicts });
        }),
      pageRoute("showPolicyPage", "The policy in force"),
    )
    .get(
      HISTORY_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const { organizationId } = reader;
          const { cursor } = listValues(reader);
          const { rows, problems } = await found(() => revisions.list(organizationId, beforeIn(cursor)));
          const counts = await runInTurns(clients.rollouts.onRevisions(organizationId));
          const last = rows?.at(-1)?.sequence ?? 1;
          return historyPage({
            rows: rows?.map((row) => ({ ...row, clients: counts.get(row.id) ?? 0 })),
            next: last > 1 ? last : null,
            isFirst: cursor === undefined,
            problems,
          });
        }),
      pageRoute("showPolicyHistory", "Revisions of the policy, the newest first"),
    )
    .get(
      `${HISTORY_PATH}/:revision`,
      ({ request, params }) =>
        console.show(request, "administrator", async ({ organizationId }) => {
          const revision = revisions.named(organizationId, params.revision);
          const former = formerOf(governance, revision);
          return revisionPage({
            ...{ revision, former, current: revisions.inForce(organizationId), text: await textOf(revision) },
            changes: former ? await views.difference(former, revision) : [],
          });
        }),
      pageRoute("showPolicyRevision", "One revision of the policy"),
    )
    .get(
      DIFF_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const { organizationId } = reader;
          const values = listValues(reader);
          const to =
            values.to === undefined
              ? revisions.inForce(organizationId)
              : revisions.named(organizationId, values.to);
          const from =
            values.from === undefined
              ? (formerOf(governance, to) ?? to)
              : revisions.named(organizationId, values.from);
          return diffPage({ from, to, changes: await views.difference(from, to) });
        }),
      pageRoute("showPolicyDifference", "The difference between two revisions"),
    );
}

/** @returns the page of a rollout */
export const rolloutPages = ({ guard, domain: { clients, governance } }: RouteContext, console: Console) =>
  createRouter(guard, "console-rollout").get(
    `${ROLLOUT_PATH}/:revision`,
    ({ request, params }) =>
      console.show(request, "administrator", async ({ organizationId }) => {
        const revision = governance.revisions.named(organizationId, params.revision);
        const inForce = governance.revisions.inForce(organizationId).id;
        return rolloutPage(await clients.rollouts.shared(revision, inForce));
      }),
    pageRoute("showPolicyRollout", "How a revision arrives at workstations"),
  );

const formerOf = (
  { revisions }: RouteContext["domain"]["governance"],
  { organizationId, sequence }: Revision,
): Revision | undefined => (sequence === 1 ? undefined : revisions.before(organizationId, { sequence }));

/** @throws DomainError `policy.invalid` */
function beforeIn(cursor: string | undefined): number | undefined {
  const before = numberIn(cursor);
  if (!Number.isNaN(before)) return before;
  const problems = [{ pointer: "/cursor", detail: "must be the number of a revision" }];
  throw new DomainError("invalid", "policy.invalid", "the address cannot be used", { problems });
}
