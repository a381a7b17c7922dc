// Completion of uploads to an S3-compatible store: the verification of the bytes, the removal of wrong ones, and the
// responses about a failing store.
import { describe, expect, test } from "bun:test";
import { HASHED_AT_ONCE_MAX } from "../../../../src/domain/sessions/limits.ts";
import { createS3Objects } from "../../../../src/domain/sessions/service.ts";
import { sessionArtifacts } from "../../../../src/domain/sessions/tables.ts";
import {
  announcementOf,
  createSessionServer,
  type PresignedOnWire,
  presign,
} from "../../../support/content/sessions.ts";
import { until } from "../../../support/inference/request-rows.ts";
import {
  createS3Server,
  type S3Server,
  type S3ServerOptions,
  TEST_KEYS,
} from "../../../support/object-store/s3-server.ts";
import { bucketAt } from "../../../support/object-store/test-bucket.ts";
import type { TestServer } from "../../../support/server.ts";

const BYTES = "the bytes of a session";

interface Site extends AsyncDisposable {
  server: TestServer;
  store: S3Server;
  credential: { token: string };
}

async function createSite(options: S3ServerOptions = {}): Promise<Site> {
  const store = createS3Server(options);
  const clock = { nowMs: Date.now };
  const s3Objects = createS3Objects({ bucket: bucketAt(store.origin), prefix: "captured/", clock });
  const server = await createSessionServer({ s3Objects, sessions: { store: "s3" } });
  server.world.clock.set(Date.now()); // the store has its own clock
  const credential = { token: (await server.signedIn("member")).accessToken };
  return {
    server,
    store,
    credential,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

async function announced({ server, credential }: Site): Promise<PresignedOnWire> {
  return await (await presign(server, credential, announcementOf(BYTES))).json();
}

const upload = (presigned: PresignedOnWire) =>
  fetch(presigned.upload_url, { method: "PUT", headers: presigned.headers, body: BYTES });

async function complete({ server, credential }: Site, { complete_url: path }: PresignedOnWire) {
  const response = await server.request("POST", path, credential);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const statusIn = ({ server }: Site) => server.world.db.read.select().from(sessionArtifacts).get()?.status;

/** Replaces the uploaded bytes with others of the same size. Only the operator of a store can do that. */
function replaceObject({ store }: Site): void {
  for (const object of store.buckets.get("sessions")?.values() ?? [])
    Object.assign(object, {
      bytes: Buffer.from(BYTES.toUpperCase()),
      checksum: object.checksum && Buffer.from("0".repeat(32)).toString("base64"),
    });
}

describe("SES-20 the proof of content", () => {
  test.each([
    ["is the digest of a store that tells it", {}, 0],
    ["is one reading of the object if the store tells none", { digests: "unkept" }, 1],
  ] as const)("%s", async (_, options, readings) => {
    await using site = await createSite(options);
    const presigned = await announced(site);
    expect((await upload(presigned)).status).toBe(200);
    site.store.seen.length = 0;
    expect((await complete(site, presigned)).status).toBe(200);
    expect(site.store.seen.filter((line) => line.startsWith("GET ")).length).toBe(readings);
  });

  test("reads a limited number of objects at the same time", async () => {
    await using site = await createSite({ digests: "unkept" });
    const uploads: PresignedOnWire[] = [];
    for (let number = 0; number <= HASHED_AT_ONCE_MAX; number += 1) {
      const announcement = announcementOf(BYTES, { session_id: `session ${number}` });
      const presigned = await (await presign(site.server, site.credential, announcement)).json();
      await upload(presigned);
      uploads.push(presigned);
    }
    const held: (() => void)[] = [];
    site.store.instead = async ({ method }) => {
      if (method === "GET") await new Promise<void>((resolve) => held.push(resolve));
      return undefined;
    };
    const completing = Promise.all(uploads.map((presigned) => complete(site, presigned)));
    const headsSeen = () => site.store.seen.filter((line) => line.startsWith("HEAD ")).length;
    await until(() => headsSeen() === uploads.length && held.length >= HASHED_AT_ONCE_MAX);
    for (const _ of uploads) await fetch(site.store.origin, { method: "HEAD" }); // another GET would arrive in the meantime
    expect(held).toHaveLength(HASHED_AT_ONCE_MAX);
    held[0]?.();
    await until(() => held.length === uploads.length);
    for (const release of held) release();
    expect((await completing).map(({ status }) => status)).toEqual(uploads.map(() => 200));
  });

  test.each([{}, { digests: "unkept" }] as const)(
    "refuses other bytes of equal size and removes them (%j)",
    async (options) => {
      await using site = await createSite(options);
      const presigned = await announced(site);
      await upload(presigned);
      replaceObject(site);
      const refused = await complete(site, presigned);
      expect([refused.status, JSON.parse(refused.text).reason]).toEqual([400, "sessions.content_differs"]);
      expect([statusIn(site), site.store.buckets.get("sessions")?.size]).toEqual(["failed", 0]);
      const again = await announced(site);
      expect(again.upload_id).toBe(presigned.upload_id);
      await upload(again);
      expect((await complete(site, again)).status).toBe(200);
    },
  );

  test("a missing object leaves the upload pending", async () => {
    await using site = await createSite();
    const presigned = await announced(site);
    expect((await complete(site, presigned)).status).toBe(400);
    expect(statusIn(site)).toBe("pending");
  });
});

describe("SES-54 SES-57 a store that fails", () => {
  test.each([
    [
      "answers with its error document",
      () => new Response(`<Error><Key>${TEST_KEYS.accessKeyId}</Key></Error>`, { status: 503 }),
    ],
    [
      "refuses our keys",
      () => new Response(`<Error>${TEST_KEYS.accessKeyId} sessions</Error>`, { status: 403 }),
    ],
    ["redirects elsewhere", () => Response.redirect("http://127.0.0.1:1/", 307)],
  ])(
    "answers 503 without details about a store that %s, and uploads can still be announced",
    async (_, instead) => {
      await using site = await createSite();
      const presigned = await announced(site);
      await upload(presigned);
      site.store.instead = instead;
      const refused = await complete(site, presigned);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "30"]);
      for (const detail of [TEST_KEYS.accessKeyId, "127.0.0.1", "captured/", "Error"])
        expect(refused.text).not.toContain(detail);
      expect((await presign(site.server, site.credential, announcementOf("other"))).status).toBe(200);
      site.store.instead = undefined;
      expect((await complete(site, presigned)).status).toBe(200);
    },
  );

  test("completes nothing if the store answers 200 to everything", async () => {
    await using site = await createSite();
    const presigned = await announced(site);
    site.store.instead = () => new Response("fine");
    expect([400, 503]).toContain((await complete(site, presigned)).status);
    expect(statusIn(site)).not.toBe("complete");
  });
});

test("SES-53 the key of an object contains no text of the client", async () => {
  await using site = await createSite();
  const odd = "../../etc/passwd?x=y#z";
  const announcement = announcementOf(BYTES, { session_id: odd, title: odd, cwd: odd });
  const presigned = await (await presign(site.server, site.credential, announcement)).json();
  await upload(presigned);
  const keys = [...(site.store.buckets.get("sessions")?.keys() ?? [])];
  expect(keys.join()).toMatch(/^captured\/[0-9a-f-]{36}\/[0-9a-f-]{36}\/[0-9a-f-]{36}\.tgz$/);
});
