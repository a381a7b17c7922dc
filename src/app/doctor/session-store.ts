// Checks the stores of captured sessions: whether the local store can be used and has free space, and whether every store that
// rows name is configured. buckets.ts tests the object store itself.

import { LIFECYCLE_RULE_DELAY_DAYS } from "../../domain/sessions/limits.ts";
import { type Kept, keptIn, reservedFreeBytes } from "../../domain/sessions/service.ts";
import { countText } from "../../platform/count-text.ts";
import { bytesText, type DiskSpace } from "../../platform/files/disk.ts";
import type { Examined } from "./domain-checks.ts";
import type { Check, Finding } from "./finding.ts";
import { sessionsText } from "./kept-sessions.ts";

/** @throws DomainError `sessions.store_unset` if sessions are in a store that is not configured */
export async function checkSessionStore(check: Check, { domain, config }: Examined): Promise<Finding> {
  const { stores, totals, storeState, countLost } = domain.sessions;
  const sums = totals();
  for (const { store } of sums.filter(({ artifacts }) => artifacts > 0)) stores.of(store);
  const { active } = stores;
  if (active.kind === "local" && (await storeState()) === "unusable")
    return check.failed(
      "captured sessions cannot be read or written",
      "check the owner and mode of the folder sessions in the data directory",
    );
  return sessionStoreFinding(check, {
    kept: keptIn(sums),
    withoutBytes: countLost(),
    store: active.kind,
    space: active.space(),
    totalBytesMax: config.get("sessions.total_bytes_max"),
    ...(active.kind === "s3" && {
      netDays: config.get("sessions.retention_days") + LIFECYCLE_RULE_DELAY_DAYS,
    }),
  });
}

/** @param room `space` is undefined for an object store, `totalBytesMax` without a quota */
export function sessionStoreFinding(
  check: Check,
  room: {
    kept: Kept;
    /** sessions that are lost */
    withoutBytes: number;
    store: string;
    space: DiskSpace | undefined;
    totalBytesMax: number | undefined;
    /** minimum age in days for a lifecycle rule that removes objects of the bucket; for the store s3 */
    netDays?: number;
  },
): Finding {
  const { kept, withoutBytes, store, space, totalBytesMax, netDays } = room;
  const net =
    netDays === undefined
      ? ""
      : ` (a lifecycle rule of the bucket must not remove objects before ${netDays} days)`;
  const detail = `${sessionsText(kept)}; uploads go to the store ${store}${net}`;
  if (totalBytesMax !== undefined && kept.bytes + kept.announced.bytes >= totalBytesMax)
    return check.warning(
      `${detail}; sessions.total_bytes_max is reached, so uploads are refused`,
      "set sessions.total_bytes_max higher or sessions.retention_days lower; see: quartermaster sessions apply --dry-run",
    );
  if (space && space.availableBytes <= reservedFreeBytes(space))
    return check.warning(
      `${detail}; ${bytesText(space.availableBytes)} are free and ${bytesText(reservedFreeBytes(space))} are kept free, so uploads are refused`,
      "free some space, or set sessions.retention_days lower; see: quartermaster sessions apply --dry-run",
    );
  if (withoutBytes > 0)
    return check.warning(
      `${detail}; ${countText(withoutBytes, "session has", "sessions have")} no bytes, so a download answers 410`,
      "the next upload of a session restores it; restore the files from a backup with them, then run: quartermaster sessions verify",
    );
  return check.ok(detail);
}
