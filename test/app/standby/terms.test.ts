// Terms and positions in a folder and in a bucket: which machine is the newest, and how recent its replica is.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bucketReplica, folderReplica, type ReplicaStore } from "../../../src/app/standby/replica-store.ts";
import { FOLDERS_MAX } from "../../../src/app/standby/sftp-replica.ts";
import { replicaStoreOf } from "../../../src/app/standby/standby.ts";
import {
  createRecord,
  listTerms,
  newestPosition,
  PAGES_MAX,
  readRecord,
  replaceRecord,
  TERMS_MAX,
  termName,
} from "../../../src/app/standby/terms.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import type { Config } from "../../../src/platform/config/config.ts";
import { REMOTE_TEXT_BYTES_MAX } from "../../../src/platform/outbound/sftp.ts";
import { freePort } from "../../support/network/free-port.ts";
import {
  type SftpServer,
  sftpConfig,
  sshKeyPair,
  startSftpServer,
} from "../../support/network/sftp-server.ts";
import { createS3Server, type S3Server } from "../../support/object-store/s3-server.ts";
import { bucketAt } from "../../support/object-store/test-bucket.ts";
import { START_MS, temporaryDirectory } from "../../support/world.ts";

const FIRST = "t00000001-aaaaaa";
const SECOND = "t00000002-bbbbbb";

const folder = temporaryDirectory();
let server: S3Server;
let files: SftpServer;
beforeAll(async () => {
  server = createS3Server();
  files = await startSftpServer(folder);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await files[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const sftpStoreOf = (config: Config): ReplicaStore => {
  const store = replicaStoreOf(config, { clock: systemClock });
  if (!store) throw new Error("the settings name a replica");
  return store;
};

interface Place {
  store: ReplicaStore;
  put(key: string, atMs: number): void;
}

const places: Readonly<Record<string, (name: string) => Place>> = {
  "a folder": (name) => ({
    store: folderReplica(join(folder, name), `file://${folder}`),
    put(key, atMs) {
      const file = join(folder, name, key);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, "");
      utimesSync(file, atMs / 1000, atMs / 1000);
    },
  }),
  "a folder of a file server": (name) => ({
    store: sftpStoreOf(sftpConfig(folder, files, `/files/${name}`)),
    put(key, atMs) {
      const file = join(folder, "files", name, key);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, "");
      utimesSync(file, atMs / 1000, atMs / 1000);
    },
  }),
  "a bucket": (name) => ({
    store: bucketReplica(bucketAt(server.origin), { url: "s3://sessions", prefix: `${name}/` }),
    put(key, modifiedAtMs) {
      const object = { bytes: new Uint8Array(), contentType: "", checksum: undefined, modifiedAtMs };
      server.buckets.get("sessions")?.set(`${name}/${key}`, object);
    },
  }),
};

describe.each(Object.entries(places))("STB-3 terms in %s", (_, createPlace) => {
  test("an empty place has no term and no position", async () => {
    const { store } = createPlace("empty");
    expect(await listTerms(store)).toEqual([]);
    expect(await newestPosition(store, FIRST)).toBeUndefined();
    expect(await readRecord(store, FIRST)).toBeUndefined();
  });

  test("terms are found by their files and by their records, and other objects are not terms", async () => {
    const { store, put } = createPlace("terms");
    for (const name of ["1", "2", "3"])
      put(`${FIRST}/ltx/0/000000000000000${name}-000000000000000${name}.ltx`, START_MS);
    put("tmp/x", START_MS);
    put("lease.json", START_MS);
    const record = { term: SECOND, from_term: FIRST, machine: "two", began_at: "now", restored: null };
    expect(await createRecord(store, record)).toBe(true);
    expect(await createRecord(store, record)).toBe(false);
    expect(await listTerms(store)).toEqual([FIRST, SECOND]);
    const restored = { audit_id: 3, audit_digest: "d", audit_at: "then" };
    await replaceRecord(store, { ...record, restored });
    expect(await readRecord(store, SECOND)).toEqual({ ...record, restored });
  });

  test("the highest transaction has the newest position, at the time of its first file", async () => {
    const { store, put } = createPlace("positions");
    put(`${FIRST}/ltx/0/000000000000000a-000000000000000a.ltx`, START_MS + 1000);
    put(`${FIRST}/ltx/1/0000000000000001-000000000000000a.ltx`, START_MS + 9000); // merged later
    put(`${FIRST}/ltx/9/0000000000000001-0000000000000009.ltx`, START_MS + 9000);
    expect(await newestPosition(store, FIRST)).toEqual({ transaction: 10, atMs: START_MS + 1000 });
  });

  test("the position of an older Litestream is the time of its newest file", async () => {
    const { store, put } = createPlace("older");
    put(`${FIRST}/generations/0123/snapshots/00000000.snapshot.lz4`, START_MS);
    put(`${FIRST}/generations/0123/wal/00000000_00001038.wal.lz4`, START_MS + 2000);
    expect(await newestPosition(store, FIRST)).toEqual({ transaction: undefined, atMs: START_MS + 2000 });
  });
});

test("STB-3 an invalid record is ignored", async () => {
  const store = folderReplica(join(folder, "odd"), "file:///odd");
  await store.create(`${FIRST}.json`, "{}");
  expect(await readRecord(store, FIRST)).toBeUndefined();
});

describe("STB-9 SFTP", () => {
  const listed = (more: Partial<SftpServer>, path = "/files/known") =>
    listTerms(sftpStoreOf(sftpConfig(folder, { ...files, ...more }, path)));

  test("a server with another host key is refused before it receives any data", async () => {
    const hostKey = sshKeyPair().public;
    expect(listed({ hostKey })).rejects.toMatchObject({
      reason: "standby.store_unreachable",
      kind: "unavailable",
    });
  });

  test("a server that does not admit the key is unavailable", async () => {
    const privateKey = sshKeyPair().private;
    expect(listed({ privateKey })).rejects.toMatchObject({
      message: expect.stringContaining("cannot be used"),
    });
  });

  test("an unreadable or invalid private key is named", async () => {
    expect(listed({ privateKey: "" })).rejects.toMatchObject({ reason: "standby.store_unreachable" });
  });

  test("a server that is down is unavailable", async () => {
    expect(listed({ port: freePort() })).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("folders are read up to a bound", async () => {
    const names = Array.from({ length: FOLDERS_MAX + 1 }, (_, number) =>
      join(folder, "files/deep", FIRST, String(number)),
    );
    for (const name of names) {
      mkdirSync(name, { recursive: true });
      writeFileSync(join(name, "x"), "");
    }
    const store = sftpStoreOf(sftpConfig(folder, files, "/files/deep"));
    expect(await store.list({ prefix: `${FIRST}/` })).toHaveLength(FOLDERS_MAX - 1); // the folder of the term counts as well
  });

  test("a record is read up to a bound", async () => {
    const store = sftpStoreOf(sftpConfig(folder, files, "/files/long"));
    await store.create("x", "a".repeat(REMOTE_TEXT_BYTES_MAX));
    expect(await store.read("x")).toHaveLength(REMOTE_TEXT_BYTES_MAX);
    await store.replace("x", "b".repeat(REMOTE_TEXT_BYTES_MAX + 1));
    expect(await store.read("x")).toHaveLength(REMOTE_TEXT_BYTES_MAX);
  });
});

test("a folder that cannot be read is unavailable", async () => {
  writeFileSync(join(folder, "a-file"), "");
  const store = folderReplica(join(folder, "a-file"), "file:///x");
  expect(store.create("x", "")).rejects.toMatchObject({
    kind: "unavailable",
    reason: "standby.store_unreachable",
  });
});

/** A store with so many objects that each list is full. */
const endless = (key: (number: number) => string): ReplicaStore & { lists: number } => ({
  ...folderReplica(folder, "file:///x"), // has no names()
  lists: 0,
  async list({ max = 1 }) {
    this.lists += 1;
    return Array.from({ length: max }, () => ({ key: key(this.lists), modifiedAtMs: this.lists }));
  },
});

test("terms and pages are read up to a bound", async () => {
  const terms = endless((number) => `${termName(number, "abcdef")}.json`);
  expect(await listTerms(terms)).toHaveLength(TERMS_MAX);
  const snapshots = endless((number) => `${FIRST}/${String(number).padStart(8, "0")}.snapshot.lz4`);
  expect(await newestPosition(snapshots, FIRST)).toEqual({ transaction: undefined, atMs: PAGES_MAX });
});
