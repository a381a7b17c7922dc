// The lease: one object in the store of the replica, which names the machine that may accept changes. A change succeeds
// only if nobody else has changed the object since it was read.
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Bucket } from "../../../platform/object-store/bucket.ts";
import { StoredLine } from "../terms.ts";

const LeaseSchema = Type.Object({
  term: StoredLine,
  /** names the data directory */
  holder: StoredLine,
  /** for people */
  machine: StoredLine,
  /** differs with each change, so that a holder recognizes its own change after a response was lost */
  nonce: StoredLine,
  /** whether the holder has released it */
  released: Type.Boolean(),
  /** for people; RFC 3339 by the clock of the holder */
  renewed_at: StoredLine,
  /** the last audit entry of the holder at that time; null before the first one */
  audit: Type.Union([Type.Object({ id: Type.Integer(), at: StoredLine }), Type.Null()]),
});

export type Lease = Static<typeof LeaseSchema>;

export interface FoundLease {
  lease: Lease;
  etag: string;
}

/** Every method throws DomainError `object_store.*` if the store is unreachable. */
export interface LeaseObject {
  /** @returns undefined if there is none; an unreadable lease has no holder and counts as held */
  read(signal: AbortSignal): Promise<FoundLease | undefined>;
  /** @param expected ETag; undefined if there must be no lease @returns the new ETag; undefined if another machine was faster */
  change(lease: Lease, expected: string | undefined, signal: AbortSignal): Promise<string | undefined>;
}

const NAME = "lease.json";

/** @param prefix of the replica in the bucket */
export const leaseObjectIn = (bucket: Pick<Bucket, "readText" | "putIf">, prefix: string): LeaseObject => ({
  async read(signal) {
    const found = await bucket.readText(prefix + NAME, { signal });
    return found && { lease: leaseIn(found.text), etag: found.etag };
  },
  change: (lease, expected, signal) =>
    bucket.putIf({ key: prefix + NAME, text: `${JSON.stringify(lease)}\n`, expected }, { signal }),
});

const UNREADABLE: Lease = {
  term: "",
  holder: "",
  machine: "unknown",
  nonce: "",
  released: false,
  renewed_at: "",
  audit: null,
};

/** @returns whether the object is a lease */
export const isReadable = (lease: Lease): boolean => lease !== UNREADABLE;

/** An unreadable lease may be held, so another machine must wait for its duration. */
function leaseIn(text: string): Lease {
  try {
    const found: unknown = JSON.parse(text);
    return Value.Check(LeaseSchema, found) ? found : UNREADABLE;
  } catch {
    return UNREADABLE;
  }
}
