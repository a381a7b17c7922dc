// `clients counts`.
import { toClientCounts } from "../../../src/domain/clients/inventory/documents.ts";
import type { HarnessVersionCount } from "../../../src/domain/clients/inventory/harness-versions.ts";
import { runSynchronously } from "../../../src/platform/steps.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { detailsText } from "../../output/details.ts";
import { type Column, tableText } from "../../output/table.ts";

const VERSION_COLUMNS: readonly Column<HarnessVersionCount>[] = [
  { header: "HARNESS", value: ({ harness }) => harness },
  { header: "VERSION", value: ({ version }) => version },
  { header: "WORKSTATIONS", value: ({ clients }) => clients },
];

export async function counts({ domain, actor, output, context, text }: Call): Promise<void> {
  const { inventory } = domain.clients;
  const { health, versions } = runSynchronously(inventory.countedBy(actor.organizationId, text("by")));
  const style = { wide: false, columns: undefined, nowMs: context.clock.nowMs() };
  const parts = [
    ...(health ? [detailsText(Object.entries(health))] : []),
    ...(versions && versions.versions.length > 0
      ? [tableText(versions.versions, VERSION_COLUMNS, style)]
      : []),
  ];
  output.result(toClientCounts({ health, versions }), parts.join("\n\n"));
}
