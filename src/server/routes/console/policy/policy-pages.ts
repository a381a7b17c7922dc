// Reading the policy in the console: in force, history, one revision, differences and rollouts.
import type { Revision } from "../../../../domain/governance/service.ts";
import type { Console } from "../../../console/console.ts";
import { listValues } from "../../../console/list/list.ts";
import { CONFLICTS_SHOWN_MAX } from "../../../console/policy/conflicts-part.tsx";
import { isHiddenFrom } from "../../../console/policy/hidden-values.tsx";
import { diffPage, policyPage, revisionPage } from "../../../console/policy/policy-page.tsx";
import { rolloutPage } from "../../../console/policy/rollout-page.tsx";
import { drawTextDifference } from "../../../console/policy/text-difference.tsx";
import { DIFF_PATH, HISTORY_PATH, POLICY_PATH, ROLLOUT_PATH } from "../../../console/policy/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { pageRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { withNames } from "./audience-names.ts";

export function policyPages({ router, domain }: RouteContext, console: Console) {
  const { governance } = domain;
  const { revisions, views } = governance;
  const differenceOf = async (reader: Reader, from: Revision, to: Revision) => {
    const isHidden = isHiddenFrom(reader);
    const changes = withNames(domain, reader, await views.difference(from, to, isHidden));
    return { from, changes, text: drawTextDifference(await views.textDifference(from, to, isHidden)) };
  };

  return router
    .get(
      POLICY_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const revision = revisions.current(reader.organizationId);
          const request = { limit: CONFLICTS_SHOWN_MAX, isHidden: isHiddenFrom(reader) };
          const conflicts = await governance.fileConflicts.shown(reader.organizationId, request);
          const text = revision && (await views.shownText(revision, request.isHidden));
          const draft = governance.drafts.ownOrFirst(reader.actor);
          return policyPage({ revision, text, conflicts, draft });
        }),
      pageRoute("showPolicyPage", "The policy in force"),
    )
    .get(
      `${HISTORY_PATH}/:revision`,
      ({ request, params }) =>
        console.show(request, "administrator", async (reader) => {
          const revision = revisions.named(reader.organizationId, params.revision);
          const former = formerOf(governance, revision);
          return revisionPage({
            revision,
            current: revisions.inForce(reader.organizationId),
            text: await views.shownText(revision, isHiddenFrom(reader)),
            difference: former && (await differenceOf(reader, former, revision)),
            draftVersion: governance.drafts.versionOf(reader.actor),
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
          return diffPage({ to, ...(await differenceOf(reader, from, to)) });
        }),
      pageRoute("showPolicyDifference", "The difference between two revisions"),
    );
}

export const rolloutPages = ({ router, domain: { clients, governance } }: RouteContext, console: Console) =>
  router.get(
    `${ROLLOUT_PATH}/:revision`,
    ({ request, params }) =>
      console.show(request, "administrator", async ({ organizationId }) => {
        const revision = governance.revisions.named(organizationId, params.revision);
        const inForce = governance.revisions.inForce(organizationId).id;
        return rolloutPage(await clients.rollouts.shared(revision, inForce), formerOf(governance, revision));
      }),
    pageRoute("showPolicyRollout", "Rollout of a revision to workstations"),
  );

const formerOf = (
  { revisions }: RouteContext["domain"]["governance"],
  { organizationId, sequence }: Revision,
): Revision | undefined => (sequence === 1 ? undefined : revisions.before(organizationId, { sequence }));
