// Webhooks of git hosts: only a caller with the secret of a connection triggers a check, and the content is not used.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { rmSync } from "node:fs";
import { PROVIDERS, type Provider } from "../../../../src/domain/catalog/connections/connection.ts";
import { ANNOUNCED_CHECK_DELAY_MS } from "../../../../src/domain/catalog/watching/source-webhooks.ts";
import { lastAnnouncementMs } from "../../../../src/domain/catalog/watching/watch-store.ts";
import { addJob, findJob } from "../../../../src/platform/scheduler/store.ts";
import { jobs } from "../../../../src/platform/scheduler/tables.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { WEBHOOK_BYTES_MAX, WEBHOOKS } from "../../../../src/server/routes/catalog/source-webhooks.ts";
import { createTestServer, type TestServer } from "../../../support/server.ts";
import { connectionTo, mirroringOf } from "../../../support/sources/mirror-site.ts";
import { temporaryDirectory } from "../../../support/world.ts";

const SECRET = "a-secret-of-the-webhook";
const HOUR_MS = 3_600_000;
const JOB = "source-watch";

let work: string;
let site: TestServer;
beforeAll(() => {
  work = temporaryDirectory();
});
afterAll(() => rmSync(work, { recursive: true }));
beforeEach(async () => {
  const host = { origin: "https://forge.example", kind: "gitea" } as const;
  const watching = { watchEveryHours: 24, webhookSecret: new Secret(SECRET) };
  const connections = [
    ...PROVIDERS.map((provider) => connectionTo(host, { ...watching, id: provider, provider })),
    connectionTo(host, { id: "silent", watchEveryHours: 24 }),
  ];
  site = await createTestServer({ hasConsole: false, ...mirroringOf(connections, work) });
  const { clock, db } = site.world;
  await db.write((tx) => addJob(tx, JOB, clock.nowMs() + HOUR_MS), "jobs");
});

afterEach(() => site[Symbol.asyncDispose]());

const signatureOf = (body: string, secret = SECRET): string =>
  createHmac("sha256", secret).update(body).digest("hex");

const send = (id: string, headers: Record<string, string>, body = "{}"): Promise<Response> =>
  site.request("POST", `/hooks/source/${id}`, { headers, body });

const announcedAtMs = (connectionId: string): number =>
  lastAnnouncementMs(site.world.db.read, { organizationId: site.world.organizationId, connectionId });
const nextRunInMs = (): number =>
  (findJob(site.world.db.read, JOB)?.nextRunAtMs ?? 0) - site.world.clock.nowMs();

/** The header with which each host authenticates. */
const PROOFS: Readonly<Record<Provider, (body: string) => Record<string, string>>> = {
  github: (body) => ({ "x-hub-signature": "sha1=00", "x-hub-signature-256": `sha256=${signatureOf(body)}` }),
  gitlab: () => ({ "x-gitlab-token": SECRET }),
  gitea: (body) => ({ "x-gitea-signature": signatureOf(body) }),
  bitbucket_data_center: (body) => ({ "x-hub-signature": `sha256=${signatureOf(body)}` }),
  bitbucket_cloud: (body) => ({ "x-hub-signature": `sha256=${signatureOf(body)}` }),
  git: (body) => ({ "x-hub-signature-256": `sha256=${signatureOf(body).toUpperCase()}` }),
};

describe("SRC-27 a webhook", () => {
  test.each([...PROVIDERS])(
    "accepts a webhook of %s, makes the refs of its connection due, and soon runs the job",
    async (id) => {
      const body = '{"ref":"refs/heads/main"}';
      const response = await send(id, PROOFS[id](body), body);
      expect([response.status, await response.text()]).toEqual([204, ""]);
      expect(announcedAtMs(id)).toBe(site.world.clock.nowMs());
      expect(nextRunInMs()).toBe(ANNOUNCED_CHECK_DELAY_MS);
      site.world.clock.advance(ANNOUNCED_CHECK_DELAY_MS / 2);
      expect((await send(id, PROOFS[id](body), body)).status).toBe(204);
      expect(nextRunInMs()).toBe(ANNOUNCED_CHECK_DELAY_MS / 2); // further webhooks do not delay it
    },
  );

  test.each<[string, Record<string, string>]>([
    ["without a signature", {}],
    ["with an empty one", { "x-gitea-signature": "" }],
    ["with that of another body", { "x-gitea-signature": signatureOf("other") }],
    ["with that of another secret", { "x-gitea-signature": signatureOf("{}", "another secret") }],
    ["with the secret itself", { "x-gitlab-token": SECRET, "x-gitea-signature": SECRET }],
    ["with SHA-1", { "x-hub-signature": `sha1=${createHmac("sha1", SECRET).update("{}").digest("hex")}` }],
  ])("%s is refused, changes nothing, and does not repeat it", async (_name, headers) => {
    const response = await send("gitea", headers);
    expect(response.status).toBe(403);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ reason: "source.webhook_refused" });
    expect(text).not.toContain(SECRET);
    expect([announcedAtMs("gitea"), nextRunInMs()]).toEqual([0, HOUR_MS]);
  });

  test("is unknown without webhook_secret, as is a connection that does not exist", async () => {
    for (const id of ["silent", "absent"]) {
      const response = await send(id, { "x-gitea-signature": signatureOf("{}", "") });
      expect([response.status, (await response.json()).reason]).toEqual([404, "source.no_webhook"]);
    }
  });

  test("is refused while the job does not run, so that the host shows the problem", async () => {
    await site.world.db.write((tx) => tx.delete(jobs).run(), "jobs");
    const response = await send("gitlab", PROOFS.gitlab(""));
    expect([response.status, (await response.json()).reason]).toEqual([503, "source.not_watched"]);
    expect(announcedAtMs("gitlab")).toBe(0);
  });

  test.each([-1, 0, 1])("has at most WEBHOOK_BYTES_MAX bytes: %d beyond", async (beyond) => {
    const body = "x".repeat(WEBHOOK_BYTES_MAX + beyond);
    const response = await send("gitea", { "x-gitea-signature": signatureOf(body) }, body);
    expect(response.status).toBe(beyond > 0 ? 413 : 204);
  });

  test("is limited for each network address", async () => {
    const statuses: number[] = [];
    for (let sent = 0; sent <= WEBHOOKS.burst; sent++) statuses.push((await send("absent", {})).status);
    expect(statuses.slice(-3)).toEqual([404, 404, 429]);
  });
});
