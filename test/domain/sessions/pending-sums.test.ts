// The sums of each user's pending uploads, which database triggers maintain, compared with sums over all uploads.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { count, eq, sum } from "drizzle-orm";
import { sessionArtifacts, sessionPending } from "../../../src/domain/sessions/tables.ts";
import {
  announcementOf,
  createSessionServer,
  type PresignedOnWire,
  presign,
  upload,
} from "../../support/content/sessions.ts";
import type { TestServer } from "../../support/server.ts";

const BYTES = "the bytes of a session";

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await createSessionServer();
  token = (await server.signedIn("member")).accessToken;
});
afterAll(() => server[Symbol.asyncDispose]());

const kept = () => server.world.db.read.select().from(sessionPending).all();

const counted = () =>
  server.world.db.read
    .select({
      userId: sessionArtifacts.userId,
      uploads: count(),
      bytes: sum(sessionArtifacts.sizeBytes).mapWith(Number),
    })
    .from(sessionArtifacts)
    .where(eq(sessionArtifacts.status, "pending"))
    .groupBy(sessionArtifacts.userId)
    .all();

async function announce(at: number, more: object = {}): Promise<PresignedOnWire> {
  const announcement = announcementOf(BYTES, { session_id: `native-${at}`, ...more });
  return await (await presign(server, { token }, announcement)).json();
}

const remove = ({ upload_id: id }: PresignedOnWire) => {
  const { organizationId } = server.world;
  const sessionId = server.domain.sessions.artifact({ organizationId, id })?.sessionId;
  return server.request("DELETE", `/session-uploads/${sessionId}`, { token });
};

test("SES-9 the sums of pending uploads follow every change of an upload", async () => {
  const uploads: (number | undefined)[] = [];
  const look = () => {
    expect(kept()).toEqual(counted());
    uploads.push(kept()[0]?.uploads);
  };
  const first = await announce(1);
  look();
  const second = await announce(2);
  look();
  await announce(2, { size_bytes: 1 });
  look();
  await announce(2);
  await upload(server, second, BYTES.toUpperCase()); // fails
  look();
  await announce(2);
  look();
  await upload(server, first, BYTES);
  await server.request("POST", first.complete_url, { token });
  look();
  await remove(second);
  look();
  await remove(first);
  look();
  expect(uploads).toEqual([1, 2, 2, 1, 2, 1, undefined, undefined]);
});
