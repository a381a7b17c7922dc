// Formats gateway keys as table columns and text, without secrets, and warns about pending revocations.
import type { KeyView } from "../../../src/domain/gateway/service.ts";
import { countText } from "../../../src/platform/count-text.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isServiceRunning } from "../../data-directory/service-state.ts";
import { colorOf } from "../../output/color.ts";
import { dateOf, detailsText } from "../../output/details.ts";
import type { Column } from "../../output/table.ts";

export const KEY_COLUMNS: readonly Column<KeyView>[] = [
  { header: "EMAIL", value: ({ email }) => email },
  { header: "STATE", value: ({ state }) => state, color: ({ state }) => colorOf(state) },
  { header: "PROBLEM", value: ({ problem }) => problem },
  { header: "NEXT ATTEMPT", value: ({ nextAttemptAtMs }) => dateOf(nextAttemptAtMs) },
  { header: "RECONCILED", value: ({ reconciledAtMs }) => dateOf(reconciledAtMs) },
  { header: "EXPIRES", value: ({ expiresAtMs }) => dateOf(expiresAtMs) },
  { header: "ALIAS", value: ({ alias }) => alias, isWide: true },
  { header: "EXTERNAL ID", value: ({ externalId }) => externalId, isWide: true },
  { header: "FAILURES", value: ({ failures }) => failures, isWide: true },
  { header: "INVALIDATED", value: ({ invalidatedAtMs }) => dateOf(invalidatedAtMs), isWide: true },
  { header: "SEALED UNDER", value: ({ sealingKeyId }) => sealingKeyId, isWide: true },
  { header: "USER ID", value: ({ userId }) => userId, isWide: true },
];

/** @returns every fact about a key, one per line */
export const keyText = (document: Readonly<Record<string, string | number | null>>): string =>
  detailsText(Object.entries(document).map(([name, value]) => [name.replaceAll("_", " "), value]));

/** Warns if gateway mode is off, and if no service is running that could carry out pending revocations. */
export function warnOfPendingRevocations({ domain: { gateway }, config, output }: Call): void {
  const { revocationsPending } = gateway.figures();
  const waiting = `${countText(revocationsPending, "revocation")} at the gateway`;
  if (!gateway.mode) {
    output.warning(OFF);
    if (revocationsPending > 0)
      output.warning(`${waiting} will not be carried out until a service runs with gateway mode on`);
    return;
  }
  if (revocationsPending > 0 && !isServiceRunning({ config }))
    output.warning(`${waiting} will be carried out when a service runs, or now by \`keys reconcile\``);
}

const OFF =
  "gateway mode is off in this configuration, so keys are neither created nor reconciled; pass the configuration file of the service with --config";
