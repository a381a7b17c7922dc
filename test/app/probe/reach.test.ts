// The number of addresses that are tried for a host name.
import { expect, test } from "bun:test";
import type { LookupAddress } from "node:dns";
import { PROBE_LIMITS } from "../../../src/app/probe/probe.ts";
import { ADDRESSES_MAX, reach } from "../../../src/app/probe/reach.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { NamedServer } from "../../../src/platform/outbound/named-server.ts";

/** A resolver for tests, because DNS gives different addresses on each machine. */
class ResolvedServer extends NamedServer {
  addresses: LookupAddress[] = [];

  override async resolve(): Promise<LookupAddress[]> {
    return this.addresses;
  }
}

test.each([-1, 0, 1])(
  "tries the last of %i more addresses than the limit only up to the limit",
  async (step) => {
    const count = ADDRESSES_MAX + step;
    // Other tests listen on 127.0.0.1, at times on the port that the system chooses here.
    const addresses = Array.from({ length: count }, (_, at) => ({
      address: `127.77.0.${at + 1}`,
      family: 4,
    }));
    const last = addresses.at(-1)?.address;
    using listener = Bun.serve({ hostname: String(last), port: 0, fetch: () => new Response() });
    using server = new ResolvedServer(new URL(`http://localhost:${listener.port}`), { limits: PROBE_LIMITS });
    server.addresses = addresses;
    const { findings, isUsable } = await reach(server, systemClock);
    expect(isUsable).toBe(step <= 0);
    const refused = findings.find(({ check }) => check === "connection")?.detail.match(/ECONNREFUSED/g);
    expect(refused).toHaveLength(Math.min(count - 1, ADDRESSES_MAX));
  },
);
