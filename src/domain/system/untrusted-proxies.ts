// Remembers the last peer that sent a forwarding header without being a trusted proxy, for operators. It survives restarts; the
// settings of the reader decide whether it still matters.
import { type Clock, DAY_MS } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import * as store from "./store.ts";

/** How long it is reported after it was last seen, because a caller may have forged the header. */
export const UNTRUSTED_PROXY_REPORTED_MS = 7 * DAY_MS;

/** The setting that must name a proxy. */
export const PROXY_SETTING = "server.trusted_proxies";

export interface UntrustedProxy {
  /** network address; null for a peer on a Unix socket */
  peer: string | null;
  /** the forwarding header that it sent */
  header: string;
  /** UTC milliseconds */
  seenAtMs: number;
}

/** @returns the memory of the last untrusted proxy; created once, in domain.ts */
export const createUntrustedProxies = ({ db, clock }: { db: Db; clock: Clock }) => ({
  note: (seen: Pick<UntrustedProxy, "peer" | "header">): Promise<void> =>
    db.writeInBackground(
      (tx) => store.putUntrustedProxy(tx, { ...seen, seenAtMs: clock.nowMs() }),
      "unobserved",
    ),

  /** Forgets the last one if the settings of the service trust it now. */
  async forgetTrusted(isTrusted: (peer: string | null) => boolean): Promise<void> {
    const seen = store.findUntrustedProxy(db.read);
    if (seen && isTrusted(seen.peer)) await db.write(store.removeUntrustedProxy, "unobserved");
  },

  /**
   * @param isTrusted by the current settings
   * @returns the last one that was seen within UNTRUSTED_PROXY_REPORTED_MS and is still not trusted
   */
  find(isTrusted: (peer: string | null) => boolean): UntrustedProxy | undefined {
    const seen = store.findUntrustedProxy(db.read);
    if (!seen || isTrusted(seen.peer)) return undefined;
    return clock.nowMs() - seen.seenAtMs < UNTRUSTED_PROXY_REPORTED_MS ? seen : undefined;
  },
});

/** @returns the problem as a text for log, `status` and `doctor` */
export const untrustedProxyText = ({ peer, header }: Pick<UntrustedProxy, "peer" | "header">): string =>
  `${peer ?? "a peer on the Unix socket"} sent the header ${header}, but is not a trusted proxy: if it is your proxy, everyone behind it shares the limits of one address`;

export const untrustedProxyRemedy = (peer: string | null): string =>
  peer === null
    ? `name the proxy in ${PROXY_SETTING}, for example 127.0.0.1; peers on the Unix socket are trusted where any proxy is`
    : `if it is your proxy, add ${peer} to ${PROXY_SETTING} and restart the service`;
