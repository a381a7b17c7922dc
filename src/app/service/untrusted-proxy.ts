// Reports a proxy that is not in the settings: a warning in the log, and a note for `status` and `doctor`.
import type { Domain } from "../../domain/domain.ts";
import { untrustedProxyRemedy, untrustedProxyText } from "../../domain/system/untrusted-proxies.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { UntrustedPeer } from "../../server/listener/peer-address.ts";

/** Reports the first such proxy only. A failure to store the note is logged as well. */
export function reportUntrustedProxy(
  first: Promise<UntrustedPeer>,
  untrustedProxies: Pick<Domain["untrustedProxies"], "note">,
  log: Log,
): void {
  const recordProxy = async () => {
    const seen = await first;
    const next = untrustedProxyRemedy(seen.peer);
    log.warning("proxy.untrusted", { ...seen, because: untrustedProxyText(seen), next });
    await untrustedProxies.note(seen);
  };
  recordProxy().catch((error: unknown) => log.error("proxy.record_failed", { error }));
}
