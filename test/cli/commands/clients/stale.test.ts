// `clients list|remove|revoke --stale` at its limit: a workstation that reported exactly so many days ago is not stale yet.
import { describe, expect, test } from "bun:test";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { type Bench, createInstallation } from "../../../support/in-process.ts";
import { publishOn, reportOn } from "../../../support/installed/installed-clients.ts";
import { inInstallation } from "../../../support/installed/installed-login.ts";

/** A workstation with its own login that reported so long ago. */
async function lastSeen(bench: Bench, agoMs: number): Promise<void> {
  const config_revision = await publishOn(bench);
  await reportOn(bench, [{ instance_id: "i-1", hostname: "lab-1", config_revision }]);
  bench.clock.advance(agoMs);
}

const listed = async (bench: Bench, filter = ""): Promise<unknown> =>
  (await bench.json(`clients list${filter}`)).total;

const grantStates = (bench: Bench): Promise<string[]> =>
  inInstallation(bench, async ({ domain }) =>
    domain.access.logins.list({ kind: "grant", show: "all" }).items.map(({ state }) => state),
  );

describe.each([
  ["just below", -1, 0],
  ["exactly at", 0, 0],
  ["just above", 1, 1],
])("a workstation %s the limit", (_where, ms, stale) => {
  test.each(["", " --q lab"])("is listed as the filter says (%p)", async (more) => {
    using bench = await createInstallation();
    await lastSeen(bench, DAY_MS + ms);
    expect(await listed(bench, ` --stale 1d${more}`)).toBe(stale);
  });

  test.each([
    ["remove", ""],
    ["revoke", ""],
    ["remove", " --q lab"],
    ["revoke", " --q lab"],
  ])("meets `clients %s --stale 1d%s` as it is listed", async (verb, more) => {
    using bench = await createInstallation();
    await lastSeen(bench, DAY_MS + ms);
    const line = `clients ${verb} --stale 1d${more}`;
    await bench.run(`${line} --dry-run`);
    expect(await listed(bench)).toBe(1);
    await bench.run(`${line} --yes`);
    expect(await listed(bench)).toBe(1 - stale);
    expect(await grantStates(bench)).toEqual([verb === "revoke" && stale === 1 ? "revoked" : "active"]);
  });
});
