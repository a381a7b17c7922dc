// Marks that only a holder of a sealing key can compute: what they depend on, and that they stay valid after the key is replaced.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { openSealing, type Sealing } from "../../../src/platform/crypto/sealing.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { temporaryDirectory } from "../../support/world.ts";

let directory: string;
let sealing: Sealing;
beforeEach(() => {
  directory = temporaryDirectory();
  sealing = openSealing({ directory, ids: systemIds });
});
afterEach(() => rmSync(directory, { recursive: true }));

test("a mark is valid only for its text and its purpose", () => {
  const mac = sealing.mac("text", "links");
  expect(mac).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(sealing.mac("text", "links")).toBe(mac);
  expect(sealing.isMac(mac, "text", "links")).toBe(true);
  expect(sealing.isMac(mac, "texts", "links")).toBe(false);
  expect(sealing.isMac(mac, "text", "cookies")).toBe(false);
  for (const other of ["", mac.slice(1), `${mac}A`, mac.toLowerCase(), `é${mac.slice(1)}`])
    expect([other, sealing.isMac(other, "text", "links")]).toEqual([other, false]);
});

test("every process with the keys creates and accepts the same marks, and none without them", () => {
  const mac = sealing.mac("text", "links");
  expect(openSealing({ directory, ids: systemIds }).isMac(mac, "text", "links")).toBe(true);
  const stranger = openSealing({ directory: join(directory, "others"), ids: systemIds });
  expect(stranger.isMac(mac, "text", "links")).toBe(false);
});

test("older marks stay valid after the next key, which creates different ones", () => {
  const mac = sealing.mac("text", "links");
  sealing.addKey();
  expect(sealing.isMac(mac, "text", "links")).toBe(true);
  expect(sealing.mac("text", "links")).not.toBe(mac);
});

test("the configured key creates them if there is one", () => {
  const provided = new Secret(Buffer.alloc(32, 7).toString("base64"));
  const configured = openSealing({ directory, ids: systemIds, provided });
  const mac = configured.mac("text", "links");
  expect(mac).not.toBe(sealing.mac("text", "links"));
  expect(configured.isMac(mac, "text", "links")).toBe(true);
  expect(configured.isMac(sealing.mac("text", "links"), "text", "links")).toBe(true);
});
