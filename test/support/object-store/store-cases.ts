// Requirements for every store of captured sessions: the data directory, a store of the tests, or a real one. The cases
// need no test runner, because `bun run test:s3` also runs them.
import { equal, ok, rejects } from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import type { ObjectStore } from "../../../src/domain/sessions/service.ts";
import { DomainError } from "../../../src/platform/errors.ts";

export interface StoreCase {
  /** a sentence about the store */
  name: string;
  run(store: ObjectStore): Promise<void>;
}

type Placed = Parameters<ObjectStore["uploadRequest"]>[0];

export const sha256Of = (bytes: Uint8Array | string): string =>
  createHash("sha256").update(bytes).digest("hex");

/** @returns a new artifact with this content, and its place */
export function artifactOf(store: ObjectStore, content: Uint8Array | string): Placed & { bytes: Buffer } {
  const bytes = Buffer.from(content);
  const announced = {
    id: randomUUID(),
    organizationId: "0f8fad5b-d9cb-469f-a165-70867728950e",
    sessionId: randomUUID(),
    sha256: sha256Of(bytes),
    sizeBytes: bytes.length,
    contentType: "application/gzip",
    artifactFormat: "blue-session-bundle-v1",
  } as const;
  return { ...announced, place: store.placeOf(announced), bytes };
}

const PIECE_BYTES = 64 * 1024;
const LARGE_BYTES = 24 * 1024 * 1024;

export const STORE_CASES: readonly StoreCase[] = [
  {
    name: "stores bytes, finds them with size and digest, and returns them",
    async run(store) {
      const artifact = artifactOf(store, `hello ${randomUUID()}`);
      equal(await store.inspect(artifact.place), undefined);
      equal(await store.hash(artifact.place), undefined);
      await put(store, artifact);
      const found = await store.inspect(artifact.place);
      equal(found?.sizeBytes, artifact.sizeBytes);
      ok(found?.sha256 === artifact.sha256 || found?.sha256 === null);
      equal(await store.hash(artifact.place), artifact.sha256);
      equal(String(await contentOf(store, artifact.place)), String(artifact.bytes));
    },
  },
  {
    name: "stores an empty object",
    async run(store) {
      const artifact = artifactOf(store, "");
      await put(store, artifact);
      equal((await store.inspect(artifact.place))?.sizeBytes, 0);
      equal(await store.hash(artifact.place), artifact.sha256);
    },
  },
  {
    name: "stores many megabytes that arrive in pieces",
    async run(store) {
      const artifact = artifactOf(store, Buffer.alloc(LARGE_BYTES, randomUUID()));
      await put(store, artifact);
      equal(await store.hash(artifact.place), artifact.sha256);
      await store.remove(artifact.place);
    },
  },
  {
    name: "accepts the same bytes again",
    async run(store) {
      const artifact = artifactOf(store, `again ${randomUUID()}`);
      await put(store, artifact);
      await put(store, artifact);
      equal(await store.hash(artifact.place), artifact.sha256);
    },
  },
  {
    name: "refuses bytes with another digest and stores nothing",
    async run(store) {
      const artifact = artifactOf(store, `right ${randomUUID()}`);
      const other = Buffer.from(artifact.bytes).fill("x");
      await rejects(
        put(store, artifact, other),
        (error) => error instanceof DomainError && error.reason === "artifact.digest_mismatch",
      );
      equal(await store.inspect(artifact.place), undefined);
    },
  },
  {
    name: "ends a transfer when its source fails, and stores nothing",
    async run(store) {
      const artifact = artifactOf(store, `broken ${randomUUID()}`);
      async function* broken() {
        yield artifact.bytes.subarray(0, 3);
        throw new Error("the source broke");
      }
      await rejects(store.put(artifact.place, broken(), artifact), /the source broke/);
      equal(await store.inspect(artifact.place), undefined);
    },
  },
  {
    name: "removes an object, and succeeds if it is already gone",
    async run(store) {
      const artifact = artifactOf(store, `gone ${randomUUID()}`);
      await put(store, artifact);
      await store.remove(artifact.place);
      await store.remove(artifact.place);
      equal(await store.inspect(artifact.place), undefined);
      await rejects(contentOf(store, artifact.place));
    },
  },
  {
    name: "lists every object with its size and time, but not its own marker",
    async run(store) {
      const artifacts = ["a", "bb"].map((content) => artifactOf(store, `${content} ${randomUUID()}`));
      for (const artifact of artifacts) await put(store, artifact);
      await store.claim();
      const listed = await Array.fromAsync(store.list());
      for (const { place, sizeBytes } of artifacts)
        equal(listed.find((found) => found.place === place)?.sizeBytes, sizeBytes);
      ok(listed.every(({ modifiedAtMs }) => Math.abs(modifiedAtMs - Date.now()) < 600_000));
      ok(listed.every(({ place }) => !place.includes("quartermaster")));
    },
  },
  {
    name: "is usable, and belongs to this installation after a claim",
    async run(store) {
      await store.check();
      await store.claim();
      equal(await store.isOurs(), true);
    },
  },
];

/** Requirements for stores whose URLs workstations use without the service. */
export const ADDRESS_CASES: readonly StoreCase[] = [
  {
    name: "accepts exactly the announced bytes at an address, even repeatedly",
    async run(store) {
      const artifact = artifactOf(store, `upload ${randomUUID()}`);
      const send = sender(store, artifact);
      equal((await send(artifact.bytes)).status, 200);
      equal((await send(artifact.bytes)).status, 200);
      equal(await store.hash(artifact.place), artifact.sha256);
    },
  },
  {
    name: "refuses other, more and fewer bytes, another type and a missing digest",
    async run(store) {
      const artifact = artifactOf(store, `strict ${randomUUID()}`);
      const send = sender(store, artifact);
      const { bytes } = artifact;
      equal((await send(Buffer.from(bytes).fill("x"))).status, 400);
      equal((await send(Buffer.concat([bytes, bytes]))).status, 403);
      equal((await send(bytes.subarray(1))).status, 403);
      equal((await send(bytes, { "content-type": "text/html" })).status, 403);
      equal((await send(bytes, { "x-amz-checksum-sha256": undefined })).status, 403);
      equal(await store.inspect(artifact.place), undefined);
    },
  },
  {
    name: "refuses reads at upload addresses and writes at download addresses",
    async run(store) {
      const artifact = artifactOf(store, `apart ${randomUUID()}`);
      await put(store, artifact);
      const upload = store.uploadRequest(artifact, soon()).url;
      const download = store.downloadUrl(artifact, { fileName: "codex-1.tgz", expiresAtSeconds: soon() });
      for (const method of ["GET", "DELETE"]) ok(isRefused((await fetch(upload, { method })).status));
      ok(isRefused((await fetch(download, { method: "PUT", body: "other" })).status));
      ok(isRefused((await fetch(download, { method: "DELETE" })).status));
      equal(await store.hash(artifact.place), artifact.sha256);
    },
  },
  {
    name: "serves the bytes at a signed address with our name and type, and refuses a changed address",
    async run(store) {
      const artifact = artifactOf(store, `download ${randomUUID()}`);
      await put(store, artifact);
      const url = store.downloadUrl(artifact, { fileName: "codex-1.tgz", expiresAtSeconds: soon() });
      const response = await fetch(url);
      equal(await response.text(), String(artifact.bytes));
      equal(response.headers.get("content-type"), "application/octet-stream");
      equal(response.headers.get("content-disposition"), 'attachment; filename="codex-1.tgz"');
      const altered = url.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
      ok(isRefused((await fetch(altered)).status));
    },
  },
  {
    name: "refuses an expired address",
    async run(store) {
      const artifact = artifactOf(store, `late ${randomUUID()}`);
      await put(store, artifact);
      const expiresAtSeconds = Math.floor(Date.now() / 1_000) + 1;
      const url = store.downloadUrl(artifact, { fileName: "codex-1.tgz", expiresAtSeconds });
      await Bun.sleep(2_100);
      ok(isRefused((await fetch(url)).status));
    },
  },
];

const isRefused = (status: number): boolean => status >= 400 && status < 500;

const soon = (): number => Math.floor(Date.now() / 1_000) + 300;

const put = (store: ObjectStore, artifact: Placed & { bytes: Buffer }, bytes = artifact.bytes) =>
  store.put(artifact.place, piecesOf(bytes), artifact);

async function* piecesOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES)
    yield bytes.subarray(start, start + PIECE_BYTES);
}

const contentOf = async (store: ObjectStore, place: string): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(store.read(place)));

/** @returns a client that sends the given request to the URL of the artifact */
function sender(store: ObjectStore, artifact: Placed) {
  const { url, method, headers } = store.uploadRequest(artifact, soon());
  return (body: Buffer, changed: Record<string, string | undefined> = {}) => {
    const sent = Object.entries({ ...headers, ...changed }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    return fetch(url, { method, headers: Object.fromEntries(sent), body: new Uint8Array(body) });
  };
}
