// `clients list|remove|revoke --stale` at its limit: a workstation that reported exactly so many days ago is stale, as in the API.
import { describe, expect, test } from "bun:test";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { createInstallation, type Workspace } from "../../../support/in-process.ts";
import { publishOn, reportOn } from "../../../support/installed/installed-clients.ts";
import { inInstallation } from "../../../support/installed/installed-login.ts";

/** A workstation with its own login that reported so long ago. */
async function lastSeen(workspace: Workspace, agoMs: number): Promise<void> {
  const config_revision = await publishOn(workspace);
  await reportOn(workspace, [{ instance_id: "i-1", hostname: "lab-1", config_revision }]);
  workspace.clock.advance(agoMs);
}

const listed = async (workspace: Workspace, filter = ""): Promise<unknown> =>
  (await workspace.json(`clients list${filter}`)).total;

const grantStates = (workspace: Workspace): Promise<string[]> =>
  inInstallation(workspace, async ({ domain }) =>
    domain.access.logins.list({ kind: "grant", show: "all" }).items.map(({ state }) => state),
  );

describe.each([
  ["just below", -1, 0],
  ["exactly at", 0, 1],
  ["just above", 1, 1],
])("a workstation %s the limit", (_where, ms, stale) => {
  test.each(["", " --q lab"])("is listed by the filter: %p", async (more) => {
    using workspace = await createInstallation();
    await lastSeen(workspace, DAY_MS + ms);
    expect(await listed(workspace, ` --stale 1d${more}`)).toBe(stale);
  });

  test.each([
    ["remove", ""],
    ["revoke", ""],
    ["remove", " --q lab"],
    ["revoke", " --q lab"],
  ])("has the same age in the list and for `clients %s --stale 1d%s`", async (verb, more) => {
    using workspace = await createInstallation();
    await lastSeen(workspace, DAY_MS + ms);
    const line = `clients ${verb} --stale 1d${more}`;
    await workspace.run(`${line} --dry-run`);
    expect(await listed(workspace)).toBe(1);
    await workspace.run(`${line} --yes`);
    expect(await listed(workspace)).toBe(1 - stale);
    expect(await grantStates(workspace)).toEqual([verb === "revoke" && stale === 1 ? "revoked" : "active"]);
  });
});
