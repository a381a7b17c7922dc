// Tests archive downloads over a real socket: who gets a link, how long it is valid, and that it returns the exact bytes,
// whole or in ranges.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readCatalogFile } from "../../../../src/app/files/catalog-file.ts";
import { LINK_TTL_SECONDS } from "../../../../src/domain/governance/delivery/artifact-links.ts";
import { SECOND_MS } from "../../../../src/platform/clock.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import { publishFirst, publishPackages } from "../../../support/content/policy.ts";
import { tarFile, tarGzOf } from "../../../support/content/tar.ts";
import { createListeningServer, type ListeningServer } from "../../../support/network/listening-server.ts";
import type { Caller } from "../../../support/server.ts";

let site: ListeningServer;
let ana: Caller;
let ben: Caller;
let archive: Stored;
async function open(options: Parameters<typeof createListeningServer>[0] = {}): Promise<void> {
  site = await createListeningServer({ hasConsole: false, ...options });
  ana = await site.signedIn("member", { email: "ana@example.com" });
  ben = await site.signedIn("admin", { email: "ben@example.com" });
  archive = await stored("tool");
  await publishFirst(site);
}
beforeEach(() => open());
afterEach(() => site[Symbol.asyncDispose]());

interface Stored {
  id: string;
  bytes: Uint8Array;
  sha256: string;
}

/** Seeds the catalog with a package from a local archive, as an operator does. */
async function stored(name: string): Promise<Stored> {
  const { directory, system, organizationId } = site.world;
  const bytes = tarGzOf(tarFile(`skills/${name}/SKILL.md`, `how to ${name}`.repeat(100)));
  writeFileSync(join(directory, `${name}.tar.gz`), bytes);
  const sha256 = sha256Hex(bytes);
  const entry = { id: name, version: "1", source_ref: `${name}.tar.gz`, sha256 };
  const file = join(directory, "catalog.json");
  writeFileSync(file, JSON.stringify([{ ...entry, adapters: { kimi: { skills_dir: "skills" } } }]));
  await site.domain.catalog.seed.apply(system, { ...(await readCatalogFile(file)), prune: true });
  const artifact = site.domain.catalog.findArtifact(organizationId, sha256);
  if (!artifact) throw new Error("a local archive becomes an artifact");
  return { id: artifact.id, bytes, sha256 };
}

const packageWith = ({ id, sha256 }: Stored, name = "tool", more: object = {}) =>
  packageOf(name, { artifact_id: id, sha256, ...more });
const ask = (caller = ana, id = archive.id) =>
  site.request("POST", `/package-artifacts/${id}/download`, { token: caller.accessToken });
const outcome = async (pending: Promise<Response>) => {
  const response = await pending;
  return [response.status, (await response.json()).reason];
};

async function linkFor(caller = ana, id = archive.id): Promise<string> {
  const response = await ask(caller, id);
  expect(response.status).toBe(200);
  return (await response.json()).url;
}

describe("a download link", () => {
  test("has the documented form and returns the exact bytes without a credential", async () => {
    await publishPackages(site, { packages: [packageWith(archive)] });
    const response = await ask();
    expect(response.headers.get("cache-control")).toBe("no-store");
    const { url, ...rest } = await response.json();
    expect(rest).toEqual({ method: "GET", headers: {}, expires_in_seconds: LINK_TTL_SECONDS });
    expect(url.startsWith(`${site.origin}/artifacts/`)).toBe(true);
    const file = await fetch(url);
    expect(file.status).toBe(200);
    expect(sha256Hex(await file.bytes())).toBe(archive.sha256);
    expect(Object.fromEntries(file.headers)).toMatchObject({
      "content-type": "application/gzip",
      "content-length": String(archive.bytes.length),
      "content-disposition": `attachment; filename="${archive.sha256}.tar.gz"`,
      "cache-control": "private, no-transform",
      etag: `"${archive.sha256}"`,
    });
  });

  test("is valid for five minutes", async () => {
    await publishPackages(site, { packages: [packageWith(archive)] });
    const url = await linkFor();
    site.world.clock.advance(LINK_TTL_SECONDS * SECOND_MS - 1);
    expect((await fetch(url)).status).toBe(200);
    site.world.clock.advance(1);
    expect(await outcome(fetch(url))).toEqual([403, "artifact.link_refused"]);
  });

  test("is refused if any part of it is changed", async () => {
    await publishPackages(site, { packages: [packageWith(archive)] });
    const url = new URL(await linkFor());
    const changed = (change: (link: URL) => void) => {
      const link = new URL(url);
      change(link);
      return outcome(fetch(link));
    };
    const refused = [403, "artifact.link_refused"];
    const later = String(Number(url.searchParams.get("expires")) + 1);
    const other = (url.searchParams.get("signature") ?? "").replace(/^./, (letter) =>
      letter === "A" ? "B" : "A",
    );
    expect(await changed(({ searchParams }) => searchParams.set("expires", later))).toEqual(refused);
    expect(await changed(({ searchParams }) => searchParams.set("signature", other))).toEqual(refused);
    const foreign = (link: URL) => {
      link.pathname = `/artifacts/${"0".repeat(64)}`;
    };
    expect(await changed(foreign)).toEqual(refused);
    expect((await changed(({ searchParams }) => searchParams.delete("signature")))[0]).toBe(400);
    expect((await changed(({ searchParams }) => searchParams.set("expires", "soon")))[0]).toBe(400);
    expect((await changed((link) => (link.pathname = "/artifacts/..%2Fkeys")))[0]).toBe(400);
  });

  test("works after its package is removed, but not after its bytes are deleted", async () => {
    await publishPackages(site, { packages: [packageWith(archive)] });
    const url = await linkFor();
    await publishPackages(site, { packages: [] });
    expect((await fetch(url)).status).toBe(200);
    await rm(join(site.world.directory, "artifacts/sha256"), { recursive: true });
    expect(await outcome(fetch(url))).toEqual([404, "artifact.not_found"]);
    expect(await outcome(ask())).toEqual([503, "artifact.bytes_missing"]);
  });
});

describe("the bytes of an archive", () => {
  let url: string;
  beforeEach(async () => {
    await publishPackages(site, { packages: [packageWith(archive)] });
    url = await linkFor();
  });
  const part = (headers: Record<string, string>) => fetch(url, { headers });
  const tag = () => `"${archive.sha256}"`;

  test.each([
    ["a range", "bytes=2-5", (all: Uint8Array) => all.slice(2, 6)],
    ["everything from a place on", "bytes=9-", (all: Uint8Array) => all.slice(9)],
    ["the last of them", "bytes=-4", (all: Uint8Array) => all.slice(-4)],
  ])("serves a part of an archive: %s", async (_name, range, wanted) => {
    const response = await part({ range });
    expect(response.status).toBe(206);
    expect(await response.bytes()).toEqual(wanted(archive.bytes));
    expect(response.headers.get("content-range")).toMatch(
      new RegExp(`^bytes \\d+-\\d+/${archive.bytes.length}$`),
    );
    expect(response.headers.get("etag")).toBe(tag());
  });

  test("resume where a download stopped, and restart if the archive has changed", async () => {
    expect((await part({ range: "bytes=2-5", "if-range": tag() })).status).toBe(206);
    const whole = await part({ range: "bytes=2-5", "if-range": '"other"' });
    expect([whole.status, sha256Hex(await whole.bytes())]).toEqual([200, archive.sha256]);
  });

  test("refuses a range beyond the end of an archive", async () => {
    const response = await part({ range: `bytes=${archive.bytes.length}-` });
    expect(response.status).toBe(416);
    expect(response.headers.get("content-range")).toBe(`bytes */${archive.bytes.length}`);
  });

  test("sends no bytes to a caller that has them, nor with HEAD", async () => {
    expect((await part({ "if-none-match": tag() })).status).toBe(304);
    const head = await fetch(url, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(archive.bytes.length)]);
  });
});

describe("an archive is available", () => {
  test("serves an archive to users in the audience of its package, and not to an administrator outside it", async () => {
    await publishPackages(site, { packages: [packageWith(archive)], audiences: { tool: [ana.user.id] } });
    expect((await ask(ana)).status).toBe(200);
    expect(await outcome(ask(ben))).toEqual([404, "artifact.not_found"]);
  });

  test("serves an archive to users in the audience of one of several packages that contain it", async () => {
    await publishPackages(site, {
      packages: [packageWith(archive, "anas"), packageWith(archive, "bens")],
      audiences: { anas: [ana.user.id], bens: [ben.user.id] },
    });
    expect([(await ask(ana)).status, (await ask(ben)).status]).toEqual([200, 200]);
    expect((await ask(await site.signedIn("member"))).status).toBe(404);
  });

  test("serves an archive to users whose platform it supports", async () => {
    const { id: artifact_id, sha256 } = archive;
    const source = { source_ref: "https://packages.example.com/mac.tar.gz", artifact_id, sha256 };
    await publishPackages(site, {
      packages: [packageOf("tool", { platform_sources: { "macos-aarch64": source } })],
    });
    expect((await ask()).status).toBe(200);
  });

  test("serves an archive to browsers and to any token, whatever its scopes", async () => {
    await publishPackages(site, { packages: [packageWith(archive)] });
    const narrow = await site.signInAgain(ana.user, { scope: "session:write" });
    expect((await ask(narrow)).status).toBe(200);
    const path = `/package-artifacts/${archive.id.toUpperCase()}/download`;
    expect((await site.request("POST", path, { cookie: ana.cookie })).status).toBe(200);
  });

  test("serves no archive if the id is unknown or malformed", async () => {
    await publishPackages(site, { packages: [packageWith(archive)] });
    expect(await outcome(ask(ana, site.world.ids.uuid()))).toEqual([404, "artifact.not_found"]);
    expect((await ask(ana, "tool")).status).toBe(400);
    const unpublished = await stored("other");
    expect(await outcome(ask(ana, unpublished.id))).toEqual([404, "artifact.not_found"]);
  });

  test.each([0, 1, 3])(
    "SRC-9 serves archives to workstations that follow one of the last %d revisions",
    async (former) => {
      await site[Symbol.asyncDispose]();
      await open({ formerRevisionsServed: former });
      await publishPackages(site, { packages: [packageWith(archive)], audiences: { tool: [ana.user.id] } });
      const statuses: number[] = [];
      for (let later = 1; later <= former + 1; later++) {
        await publishPackages(site, { packages: [packageOf(`other-${later}`)] });
        statuses.push((await ask(ana)).status);
        expect((await ask(ben)).status).toBe(404);
      }
      expect(statuses).toEqual([...Array(former).fill(200), 404]);
    },
  );
});
