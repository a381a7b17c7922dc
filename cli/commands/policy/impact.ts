// `policy impact`: shows which users and workstations a policy file or a draft would affect.

import { toPolicyImpact } from "../../../src/domain/clients/rollout/impact-wire.ts";
import type { HarnessImpact, PackageImpact, PolicyImpact } from "../../../src/domain/clients/service.ts";
import { carryOverAudiences } from "../../../src/domain/governance/delivery/audiences.ts";
import type { Revision } from "../../../src/domain/governance/service.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { runSynchronously } from "../../../src/platform/steps.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { withFileContext } from "../../exit.ts";
import { detailsText } from "../../output/details.ts";
import { tableText } from "../../output/table.ts";
import { sourceOf } from "./apply.ts";
import { draftOf, warnOfProblems } from "./draft.ts";

/** @throws DomainError `governance.invalid`, `policy_draft.none` */
export async function impact(call: Call): Promise<void> {
  const { actor, context, domain, output } = call;
  const before = domain.governance.revisions.inForce(actor.organizationId);
  const after = await wantedBy(call, before);
  const found = runSynchronously(domain.clients.impactOf(actor.organizationId, { before, after }));
  const style = { wide: true, columns: undefined, nowMs: context.clock.nowMs() };
  const { harnesses, packages } = found;
  const tables = [
    ...(harnesses.length === 0 ? [] : [tableText(harnesses, HARNESS_COLUMNS, style)]),
    ...(packages.length === 0 ? [] : [tableText(packages, PACKAGE_COLUMNS, style)]),
  ];
  output.result(toPolicyImpact(found), [workstationsText(found), ...tables].join("\n\n"));
}

type Policy = Pick<Revision, "document" | "audiences">;

async function wantedBy(call: Call, before: Policy): Promise<Policy> {
  const { actor, args, domain, text } = call;
  const author = text("draft");
  const [file] = args;
  if ((author === undefined) === (file === undefined))
    throw new DomainError("invalid", "policy.impact", "name either a policy file or --draft ADMINISTRATOR");
  if (author !== undefined) {
    const { draft } = draftOf(call, author);
    warnOfProblems(call, draft);
    return draft;
  }
  const path = file ?? "";
  return await withFileContext(path, async () => {
    const plan = domain.governance.documents.plan(actor.organizationId, await sourceOf(call, path));
    return {
      document: plan.document,
      audiences: carryOverAudiences(before.audiences, plan.document.packages),
    };
  });
}

const workstationsText = ({ workstations, gatewayKeys }: PolicyImpact): string =>
  detailsText([
    ["workstations", workstations.total],
    ...(workstations.counted < workstations.total
      ? [["counted (seen most recently)", workstations.counted] as const]
      : []),
    ["become outdated", workstations.outdated],
    ["would be refused", workstations.refused],
    ["client too old", workstations.clientTooOld],
    ...(gatewayKeys === 0 ? [] : [["gateway keys touched", gatewayKeys] as const]),
    ...(workstations.uncounted === 0 ? [] : [["not counted yet", workstations.uncounted] as const]),
  ]);

const HARNESS_COLUMNS = [
  { header: "HARNESS", value: ({ harness }: HarnessImpact) => harness },
  { header: "INSTALLED", value: ({ installed }: HarnessImpact) => installed },
  { header: "REFUSED", value: ({ refused }: HarnessImpact) => refused },
  { header: "ADMITTED", value: ({ admitted }: HarnessImpact) => admitted },
  {
    header: "REFUSED VERSIONS",
    value: ({ versions }: HarnessImpact) =>
      versions
        .map(({ version, clients }) => `${version === "" ? "unreadable" : version} (${clients})`)
        .join(", "),
  },
];

const PACKAGE_COLUMNS = [
  { header: "PACKAGE", value: ({ id }: PackageImpact) => id },
  { header: "FROM", value: ({ from }: PackageImpact) => from },
  { header: "TO", value: ({ to }: PackageImpact) => to },
  { header: "PEOPLE GAINING", value: ({ gaining }: PackageImpact) => gaining.count },
  { header: "PEOPLE LOSING", value: ({ losing }: PackageImpact) => losing.count },
];
