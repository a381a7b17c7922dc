// `policy rollout`: counts the workstations that have a revision, and those that do not.
import { toRollout } from "../../../src/domain/clients/rollout/rollout-wire.ts";
import type { HealthCounts, Rollout } from "../../../src/domain/clients/service.ts";
import { runSynchronously } from "../../../src/platform/steps.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { detailsText } from "../../output/details.ts";
import { tableText } from "../../output/table.ts";
import { numberText } from "./view.ts";

/** @throws DomainError `governance.no_policy`, `governance.not_found` */
export async function rollout({ actor, args, context, domain, output }: Call): Promise<void> {
  const { organizationId } = actor;
  const { revisions } = domain.governance;
  const current = revisions.inForce(organizationId);
  const [reference] = args;
  const revision = reference === undefined ? current : revisions.named(organizationId, reference);
  const found = runSynchronously(domain.clients.rollouts.of(revision, current.id));
  const style = { wide: true, columns: undefined, nowMs: context.clock.nowMs() };
  const tables = [
    countsText("WITH HARNESS", found.harnesses, style),
    countsText("CLIENT VERSION", found.clientVersions, style),
    found.refusals.length === 0 ? "" : tableText(found.refusals, REFUSAL_COLUMNS, style),
  ].filter((text) => text !== "");
  output.result(toRollout(found), [factsText(found), ...tables].join("\n\n"));
}

function factsText({ revision, isInForce, workstations, notSeenSince, notSeenByDays }: Rollout): string {
  return detailsText([
    ["revision", `${numberText(revision)}${isInForce ? "" : ", not current"}`],
    ["published", new Date(revision.createdAtMs)],
    ["current", workstations.current],
    ["outdated", workstations.outdated],
    ["attention", workstations.attention],
    ["not seen since", notSeenSince],
    ...notSeenByDays.map(({ days, clients }) => [`not seen for ${days} d`, clients] as const),
  ]);
}

type Counted = readonly [name: string, counts: HealthCounts];

function countsText(
  header: string,
  counts: ReadonlyMap<string, HealthCounts>,
  style: Parameters<typeof tableText>[2],
): string {
  const columns = [
    { header, value: ([name]: Counted) => name },
    { header: "CURRENT", value: ([, { current }]: Counted) => current },
    { header: "OUTDATED", value: ([, { outdated }]: Counted) => outdated },
    { header: "ATTENTION", value: ([, { attention }]: Counted) => attention },
  ];
  return counts.size === 0 ? "" : tableText([...counts], columns, style);
}

const REFUSAL_COLUMNS = [
  { header: "WORKSTATIONS", value: ({ clients }: Rollout["refusals"][number]) => clients },
  { header: "REASON", value: ({ reason }: Rollout["refusals"][number]) => reason },
  {
    header: "EXAMPLE",
    value: ({ example }: Rollout["refusals"][number]) => example.hostname ?? example.id,
  },
];
