// Checks that one more upload fits on our own disk, together with all announced uploads, and within the operator's quota.
import type { Connection } from "../../../platform/database/database.ts";
import { type DiskSpace, FREE_BYTES_MIN } from "../../../platform/files/disk.ts";
import { diskFull, diskLow, quotaReached } from "../errors.ts";
import { FREE_BYTES_KEPT, FREE_SHARE_KEPT } from "../limits.ts";
import type { ObjectStore } from "../objects/object-store.ts";
import { totals } from "../store.ts";

/** @throws DomainError `sessions.disk_low`, `sessions.quota_reached` */
export function requireFreeSpace(
  connection: Connection,
  wanted: {
    sizeBytes: number;
    store: Pick<ObjectStore, "kind" | "space">;
    totalBytesMax: number | undefined;
  },
): void {
  const { sizeBytes, store, totalBytesMax } = wanted;
  const space = store.space();
  if (space === undefined && totalBytesMax === undefined) return;
  const sums = totals(connection);
  const announced = sums.find((sum) => sum.store === store.kind && sum.state === "pending")?.bytes ?? 0;
  if (space && space.availableBytes - announced - sizeBytes < reservedFreeBytes(space)) throw diskLow();
  const all = sums.filter(({ state }) => state !== "failed").reduce((sum, { bytes }) => sum + bytes, 0);
  if (totalBytesMax !== undefined && all + sizeBytes > totalBytesMax) throw quotaReached();
}

/**
 * Checks again, because the disk may have filled up since the announcement. The last bytes of the disk are reserved for other
 * writes, such as sign-ins.
 * @param receivingBytes bytes of all bodies that are being received, including this one
 * @throws DomainError `artifact.disk_full`
 */
export function requireLastBytes(store: Pick<ObjectStore, "space">, receivingBytes: number): void {
  const space = store.space();
  if (space && space.availableBytes - receivingBytes < FREE_BYTES_MIN) throw diskFull(undefined);
}

/** @returns the number of bytes that uploads must leave free */
export const reservedFreeBytes = ({ sizeBytes }: Pick<DiskSpace, "sizeBytes">): number =>
  Math.max(FREE_BYTES_KEPT, FREE_SHARE_KEPT * sizeBytes);
