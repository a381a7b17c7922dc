// Captured sessions for tests of any interface: a server whose policy asks for them, and uploads as the client sends them.

import { eq } from "drizzle-orm";
import { sessionArtifacts } from "../../../src/domain/sessions/tables.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";
import { BASE_URL, createTestServer, type Sent, type TestServer, type TestServerOptions } from "../server.ts";
import { publishFirst } from "./policy.ts";

const PRESIGN_PATH = "/session-uploads/presign";

/** @returns a server whose policy asks for captured sessions of every harness */
export const createSessionServer = async (options: TestServerOptions = {}): Promise<TestServer> =>
  await withCapture(await createTestServer(options));

/** @param more members of the policy @returns the server, after publishing a policy that asks for captured sessions of every harness */
export async function withCapture<T extends Pick<TestServer, "domain" | "world">>(
  server: T,
  more: object = {},
): Promise<T> {
  await publishFirst(server, {
    session_upload: { presign_url: `${BASE_URL}${PRESIGN_PATH}` },
    allowed_harnesses: ["codex", "claude", "kimi", "opencode"],
    ...more,
  });
  return server;
}

type Server = Pick<TestServer, "request">;

/** @returns the client's announcement of these bytes */
export const announcementOf = (bytes: string | Uint8Array, more: object = {}) => ({
  harness: "codex",
  compatibility_profile: "codex-v0_145_0",
  session_id: "0199-native",
  sha256: sha256Hex(bytes),
  size_bytes: Buffer.byteLength(bytes),
  content_type: "application/vnd.blue.session-bundle+tar+gzip",
  cwd: "/home/ada/project",
  artifact_format: "blue-session-bundle-v1",
  resumable: true,
  title: "A title",
  summary: null,
  captured_at_unix_ms: 1_767_225_600_000,
  repository_root: null,
  repository_remote: null,
  ...more,
});

export const presign = (server: Server, credential: Sent, announcement: object): Promise<Response> =>
  server.request("POST", PRESIGN_PATH, { ...credential, body: announcement });

/** @returns path and query of an absolute URL of the service */
export const pathIn = (url: string): string => {
  const { pathname, search } = new URL(url);
  return pathname + search;
};

/** The response of presign. */
export interface PresignedOnWire {
  upload_id: string;
  upload_url: string;
  headers: Record<string, string>;
  complete_url: string;
}

/** Uploads as the client does: with the given headers, and the length that its library declares. */
export const upload = (
  server: Server,
  { upload_url: url, headers }: Pick<PresignedOnWire, "upload_url" | "headers">,
  bytes: string | Uint8Array,
  more: Record<string, string> = {},
): Promise<Response> =>
  server.request("PUT", pathIn(url), {
    body: Buffer.from(bytes),
    headers: { "content-length": String(Buffer.byteLength(bytes)), ...headers, ...more },
  });

/** Announces, uploads and completes. @returns the ids */
export async function capture(
  server: TestServer,
  credential: Sent,
  bytes: string | Uint8Array,
  more: object = {},
): Promise<{ sessionId: string; uploadId: string }> {
  const presigned: PresignedOnWire = await (
    await presign(server, credential, announcementOf(bytes, more))
  ).json();
  await upload(server, presigned, bytes);
  await server.request("POST", presigned.complete_url, credential);
  const row = server.world.db.read
    .select()
    .from(sessionArtifacts)
    .where(eq(sessionArtifacts.id, presigned.upload_id))
    .get();
  if (row?.status !== "complete") throw new Error(`the upload is ${row?.status}`);
  return { sessionId: row.sessionId, uploadId: row.id };
}
