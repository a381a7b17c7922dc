// Free space for one more upload: at, below and above the limit.
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { FREE_BYTES_KEPT } from "../../../../src/domain/sessions/limits.ts";
import { requireFreeSpace, reservedFreeBytes } from "../../../../src/domain/sessions/uploads/free-space.ts";
import { FREE_BYTES_MIN } from "../../../../src/platform/files/disk.ts";
import {
  announcementOf,
  createSessionServer,
  type PresignedOnWire,
  presign,
  upload,
} from "../../../support/content/sessions.ts";
import { createWorld } from "../../../support/world.ts";

const LARGE_DISK_BYTES = 1024 ** 4;
const SMALL_DISK_BYTES = 10 * 1024 ** 3;

/** @returns the reason of the refusal */
function outcomeOf(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return Object(error).reason;
  }
}

const diskWith = (availableBytes: number, sizeBytes = SMALL_DISK_BYTES) => ({
  kind: "local" as const,
  space: () => ({ sizeBytes, availableBytes }),
});

test.each([
  [1, undefined],
  [0, undefined],
  [-1, "sessions.disk_low"],
])("SES-41 an upload with %i bytes more than the free space returns %p", async (more, reason) => {
  await using world = await createWorld();
  const store = diskWith(FREE_BYTES_KEPT + 100 + more);
  const wanted = { sizeBytes: 100, store, totalBytesMax: undefined };
  expect(outcomeOf(() => requireFreeSpace(world.db.read, wanted))).toBe(reason);
});

test("SES-41 a share of a large disk stays free", () => {
  expect(reservedFreeBytes({ sizeBytes: LARGE_DISK_BYTES })).toBe(LARGE_DISK_BYTES * 0.05);
  expect(reservedFreeBytes({ sizeBytes: SMALL_DISK_BYTES })).toBe(FREE_BYTES_KEPT);
});

test("SES-41 announced bytes that have not arrived count as used", async () => {
  await using server = await createSessionServer();
  const { accessToken: token } = await server.signedIn("member");
  await presign(server, { token }, announcementOf("text", { size_bytes: 1_000 }));
  const refusal = (availableBytes: number) =>
    outcomeOf(() =>
      requireFreeSpace(server.world.db.read, {
        sizeBytes: 100,
        store: diskWith(FREE_BYTES_KEPT + availableBytes),
        totalBytesMax: undefined,
      }),
    );
  expect([refusal(1_100), refusal(1_099)]).toEqual([undefined, "sessions.disk_low"]);
});

test("SES-41 an announcement without space writes nothing, because announcements that share its commit would fail on a full disk", async () => {
  await using server = await createSessionServer();
  const { accessToken: token } = await server.signedIn("member");
  Object.assign(server.domain.sessions.stores.active, { space: diskWith(0).space });
  await server.world.db.write((tx) =>
    tx.run(sql`CREATE TRIGGER full BEFORE INSERT ON captured_sessions BEGIN SELECT raise(FAIL, 'full'); END`),
  );
  const response = await presign(server, { token }, announcementOf("text"));
  expect([response.status, Object(await response.json()).reason]).toEqual([503, "sessions.disk_low"]);
});

test.each([
  [1, 204],
  [0, 204],
  [-1, 503],
])(
  "SES-41 a body is read if %i bytes more stay free than everything else needs: status %i",
  async (more, status) => {
    await using server = await createSessionServer();
    const { accessToken: token } = await server.signedIn("member");
    const body = "text";
    const presigned: PresignedOnWire = await (await presign(server, { token }, announcementOf(body))).json();
    const { space } = diskWith(FREE_BYTES_MIN + body.length + more);
    Object.assign(server.domain.sessions.stores.of("local"), { space }); // filled up since the announcement
    expect((await upload(server, presigned, body)).status).toBe(status);
  },
);
