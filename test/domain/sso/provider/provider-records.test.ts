// What is recorded about a provider: how often the same thing is written, and which failure is shown.
import { expect, test } from "bun:test";
import { ProviderRecords } from "../../../../src/domain/sso/provider/provider-records.ts";
import { findProvider } from "../../../../src/domain/sso/provider/provider-store.ts";
import { MINUTE_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import { createWorld } from "../../../support/world.ts";

const ISSUER = "https://id.example.org";

async function recording() {
  const world = await createWorld();
  const row = () => findProvider(world.db.read, ISSUER);
  return {
    world,
    records: new ProviderRecords(world, ISSUER),
    startMs: world.clock.nowMs(),
    errorAt: () => [row()?.lastErrorReason, (row()?.lastErrorAtMs ?? 0) - world.clock.nowMs()],
    successAtMs: () => row()?.lastSuccessAtMs,
  };
}

test("there is no error and no success before the first record", async () => {
  const { world, records } = await recording();
  await using _ = world;
  expect(records.read()).toEqual({ lastErrorReason: null, lastSuccessAtMs: null });
  expect(records.metadata.load()).toBeUndefined();
  await records.metadata.save({ text: "{}", atMs: 0 });
  expect(records.metadata.load()).toEqual({ text: "{}", atMs: 0 });
});

test("the same error is written every ten seconds, and another one immediately", async () => {
  const { world, records, errorAt } = await recording();
  await using _ = world;
  await records.noteError("sso.clock");
  world.clock.advance(10 * SECOND_MS - 1);
  await records.noteError("sso.clock");
  expect(errorAt()).toEqual(["sso.clock", 1 - 10 * SECOND_MS]);
  await records.noteError("sso.token_invalid");
  expect(errorAt()).toEqual(["sso.token_invalid", 0]);
  world.clock.advance(10 * SECOND_MS);
  await records.noteError("sso.token_invalid");
  expect(errorAt()).toEqual(["sso.token_invalid", 0]);
});

test("a success is written once a minute, but immediately after an error, which it clears", async () => {
  const { world, records, startMs, errorAt, successAtMs } = await recording();
  await using _ = world;
  const after = async (ms: number) => {
    world.clock.advance(ms);
    await records.noteSuccess();
    return Number(successAtMs()) - startMs;
  };
  expect([await after(0), await after(MINUTE_MS - 1), await after(1)]).toEqual([0, 0, MINUTE_MS]);
  await records.noteError("sso.clock");
  expect(await after(1)).toBe(MINUTE_MS + 1);
  expect(errorAt()[0]).toBeNull();
  await records.noteError("sso.clock");
  expect(errorAt()).toEqual(["sso.clock", 0]);
});

test("a failure that a browser reports is noted every ten seconds, and never instead of one that the service saw", async () => {
  const { world, records, errorAt } = await recording();
  await using _ = world;
  await records.noteReport("sso.callback_error");
  await records.noteReport("sso.callback_issuer");
  expect(errorAt()).toEqual(["sso.callback_error", 0]);
  world.clock.advance(10 * SECOND_MS);
  await records.noteReport("sso.callback_issuer");
  expect(errorAt()).toEqual(["sso.callback_issuer", 0]);
  await records.noteError("sso.clock");
  world.clock.advance(10 * SECOND_MS);
  await records.noteReport("sso.callback_error");
  expect(errorAt()).toEqual(["sso.clock", -10 * SECOND_MS]);
});
