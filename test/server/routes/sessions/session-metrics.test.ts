// Metrics of captured sessions.
import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { addSessionMetrics } from "../../../../src/app/service/jobs/session-jobs.ts";
import {
  diskFull,
  storeUnavailable,
  uploadNotFound,
  uploadsBusy,
} from "../../../../src/domain/sessions/errors.ts";
import { UPLOAD_WINDOW_MS } from "../../../../src/domain/sessions/limits.ts";
import { markPlaces } from "../../../../src/domain/sessions/objects/removal-store.ts";
import { UploadTally } from "../../../../src/domain/sessions/uploads/tally.ts";
import { HOUR_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import {
  announcementOf,
  capture,
  createSessionServer,
  type PresignedOnWire,
  pathIn,
  presign,
  upload,
} from "../../../support/content/sessions.ts";
import type { TestServer } from "../../../support/server.ts";

const figuresOf = async (server: TestServer) => {
  const metrics = new Registry();
  addSessionMetrics(metrics, server.domain.sessions);
  const page = (await metrics.metrics()).split("\n");
  return (name: string) =>
    Object.fromEntries(
      page
        .map((line) => new RegExp(`^quartermaster_${name}(?:\\{\\w+="(\\w+)"\\})? (\\d+)$`).exec(line))
        .flatMap((found) => (found ? [[found[1] ?? "", Number(found[2])]] : [])),
    );
};

/** @returns the outcomes that were counted */
const outcomesOf = async (server: TestServer) => {
  const all = Object.entries((await figuresOf(server))("session_uploads_total"));
  return Object.fromEntries(all.filter(([, uploads]) => uploads > 0));
};

const announced = async (server: TestServer, token: string, name: string): Promise<PresignedOnWire> =>
  await (await presign(server, { token }, announcementOf(name, { session_id: name }))).json();

test("SES-48 uploads are counted by outcome from zero, with the bytes of complete ones", async () => {
  await using server = await createSessionServer({ uploadTimes: { idleMs: 20, wholeMs: 1_000 } });
  const { accessToken: token } = await server.signedIn("member");
  const before = (await figuresOf(server))("session_uploads_total");
  expect([Object.keys(before).length, ...new Set(Object.values(before))]).toEqual([12, 0]);
  await capture(server, { token }, "text");
  await capture(server, { token }, "more text", { session_id: "second" });
  expect((await figuresOf(server))("session_upload_bytes_total")).toEqual({ "": 13 });
  const one = await announced(server, token, "other");
  expect((await upload(server, one, "OTHER")).status).toBe(422);
  const two = await announced(server, token, "another");
  const altered = { ...two, upload_url: two.upload_url.replace(/.$/, (last) => (last === "A" ? "E" : "A")) };
  expect((await upload(server, altered, "another")).status).toBe(403);
  expect((await upload(server, two, "too long for it")).status).toBe(400);
  expect((await upload(server, two, "cut", { "content-length": "7" })).status).toBe(400);
  const silent = new ReadableStream<Uint8Array>();
  const headers = { ...two.headers, "content-length": "7" };
  const slow = await server.request("PUT", pathIn(two.upload_url), { body: silent, headers });
  expect(slow.status).toBe(408);
  const complete = () => server.request("POST", two.complete_url, { token });
  expect((await complete()).status).toBe(400);
  server.world.clock.advance(UPLOAD_WINDOW_MS);
  expect((await complete()).status).toBe(400);
  const counted = { complete: 2, digest_mismatch: 1, refused: 2, cut: 1, too_slow: 1 };
  expect(await outcomesOf(server)).toEqual({ ...counted, not_uploaded: 1, window_over: 1 });
});

test.each([
  ["busy", uploadsBusy()],
  ["disk_full", diskFull(undefined)],
  ["store_unavailable", storeUnavailable()],
  ["refused", uploadNotFound()],
  ["failed", new Error("a fault")],
])("SES-48 an upload counts as %s by its error, which is passed on", async (outcome, error) => {
  const tally = new UploadTally();
  await expect(tally.watch(() => Promise.reject(error))).rejects.toBe(error);
  expect(Object.entries(tally.outcomes).filter(([, uploads]) => uploads > 0)).toEqual([[outcome, 1]]);
});

test("SES-48 versions are counted by state, and stored bytes by store", async () => {
  await using server = await createSessionServer();
  const { accessToken: token } = await server.signedIn("member");
  const none = { pending: 0, stored: 0, complete: 0, superseded: 0, failed: 0 };
  expect((await figuresOf(server))("sessions")).toEqual(none);
  await capture(server, { token }, "text");
  await announced(server, token, "announced");
  await upload(server, await announced(server, token, "stored"), "stored");
  expect((await figuresOf(server))("sessions")).toEqual({ ...none, pending: 1, stored: 1, complete: 1 });
  expect((await figuresOf(server))("session_objects_bytes")).toEqual({ local: 10, s3: 0 });
});

test("SES-42 SES-48 reports how long objects have waited for their deletion", async () => {
  await using server = await createSessionServer();
  const { db, clock } = server.world;
  const since = async () => (await figuresOf(server))("session_removal_waiting_since_timestamp_seconds")[""];
  expect(await since()).toBe(0);
  const markedAtMs = clock.nowMs();
  const object = { store: "local", place: announcementOf("text").sha256, sizeBytes: 4 } as const;
  await db.write((tx) => markPlaces(tx, [object], markedAtMs));
  clock.advance(HOUR_MS);
  expect(await since()).toBe(markedAtMs / SECOND_MS);
  await server.domain.sessions.retention.run(server.world.system, new AbortController().signal);
  expect(await since()).toBe(0);
});
