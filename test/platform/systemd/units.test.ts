// Starting units later, with a program named systemctl that records its arguments, because test machines may not run systemd.
import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type UnitStarter, unitStarter } from "../../../src/platform/systemd/units.ts";
import { createSystemctl } from "../../support/installed/systemctl.ts";
import { PREFIX, placeOfWorlds } from "../../support/world.ts";

const UNITS = ["one", "two"];

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(placeOfWorlds, PREFIX));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const started = (folder: string): string =>
  existsSync(join(folder, "started")) ? readFileSync(join(folder, "started"), "utf8") : "";

/** The child of a disposed starter ends immediately, so a short wait shows that it does nothing. */
const ended = (starter: UnitStarter | undefined) => {
  starter?.[Symbol.dispose]();
  return Bun.sleep(50);
};

test("units are enabled and started when the starter runs, not before", () =>
  withFolder(async (folder) => {
    using starter = unitStarter(UNITS, createSystemctl(folder, { installed: UNITS }));
    expect(started(folder)).toBe("");
    expect(await starter?.start()).toBeUndefined();
    expect(started(folder)).toBe("enable --now one two\n");
  }));

test("a starter that is never triggered starts nothing", () =>
  withFolder(async (folder) => {
    await ended(unitStarter(UNITS, createSystemctl(folder, { installed: UNITS })));
    expect(started(folder)).toBe("");
  }));

test("the output of systemctl about a failed unit is returned", () =>
  withFolder(async (folder) => {
    using starter = unitStarter(UNITS, createSystemctl(folder, { installed: UNITS, failure: "Job failed." }));
    expect(await starter?.start()).toBe("Job failed.");
  }));

test("there is no starter without systemd, or for a unit that is not installed", () =>
  withFolder(async (folder) => {
    expect(unitStarter(UNITS, folder)).toBeUndefined();
    expect(unitStarter(UNITS, createSystemctl(folder, { installed: ["one"] }))).toBeUndefined();
  }));
