// Checks where captured sessions lie: whether the local store can be used and has room, and whether every store that rows name is
// configured. buckets.ts tests the object store itself.
import { keptFree } from "../../domain/sessions/service.ts";
import { bytesText, type DiskSpace } from "../../platform/files/disk.ts";
import type { Examined } from "./content.ts";
import type { Check, Finding } from "./finding.ts";

interface Kept {
  store: string;
  state: string;
  artifacts: number;
  bytes: number;
}

/** @throws DomainError `sessions.store_unset` if sessions lie in a store that is not configured */
export async function checkSessionStore(check: Check, { domain, config }: Examined): Promise<Finding> {
  const { stores, totals, storeState } = domain.sessions;
  const kept = totals();
  for (const { store } of kept.filter(({ artifacts }) => artifacts > 0)) stores.of(store);
  const { active } = stores;
  if (active.kind === "local" && (await storeState()) === "unusable")
    return check.failed(
      "captured sessions cannot be read or written",
      "check the owner and mode of the folder sessions in the data directory",
    );
  return judgeRoom(check, {
    ...{ kept, store: active.kind, space: active.space() },
    totalBytesMax: config.get("sessions.total_bytes_max"),
  });
}

/** @param room `space` is undefined for a store elsewhere, `totalBytesMax` without a quota */
export function judgeRoom(
  check: Check,
  room: {
    kept: readonly Kept[];
    store: string;
    space: DiskSpace | undefined;
    totalBytesMax: number | undefined;
  },
): Finding {
  const { kept, store, space, totalBytesMax } = room;
  const bytes = kept.filter(({ state }) => state !== "failed").reduce((sum, row) => sum + row.bytes, 0);
  const versions = kept.reduce((sum, { artifacts }) => sum + artifacts, 0);
  const detail = `${versions === 1 ? "1 version" : `${versions} versions`}, ${bytesText(bytes)}; uploads go to the store ${store}`;
  if (totalBytesMax !== undefined && bytes >= totalBytesMax)
    return check.warning(
      `${detail}; sessions.total_bytes_max is reached, so uploads are refused`,
      "set sessions.total_bytes_max higher or sessions.retention_days lower; see: quartermaster sessions apply --dry-run",
    );
  if (space && space.availableBytes <= keptFree(space))
    return check.warning(
      `${detail}; ${bytesText(space.availableBytes)} are free and ${bytesText(keptFree(space))} are kept free, so uploads are refused`,
      "free some space, or set sessions.retention_days lower; see: quartermaster sessions apply --dry-run",
    );
  return check.ok(detail);
}
