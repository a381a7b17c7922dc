// GitHub apps: what is signed, what a token is limited to, and how long it is used (SRC-13).
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { importSPKI } from "jose";
import type { Connection } from "../../../../src/domain/catalog/connections/connection.ts";
import { RESPONSE_BYTES_MAX } from "../../../../src/domain/catalog/connections/hosts/responses.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { connectionTo, createMirrorSite, type MirrorSite } from "../../../support/sources/mirror-site.ts";
import { createRepositoryHost, type RepositoryHost } from "../../../support/sources/repository-host.ts";
import { githubApp } from "../../../support/sources/repository-responses.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs1", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});

let host: RepositoryHost;
let site: MirrorSite;
beforeAll(async () => {
  githubApp.key = await importSPKI(publicKey, "RS256");
  return () => {
    githubApp.key = undefined;
  };
});
beforeEach(async () => {
  githubApp.minted = 0;
  githubApp.expiresAt = "2026-01-01T01:00:00Z";
  host = createRepositoryHost("github");
  host.branches.set("main", host.commit({ "SKILL.md": "# Guide\n" }));
  site = await createMirrorSite([connectionTo(host, { credential: appOf(githubApp.id) })]);
});
afterEach(async () => {
  githubApp.id = "12345";
  host[Symbol.dispose]();
  await site[Symbol.asyncDispose]();
});

const key = new Secret(privateKey);
const appOf = (appId: string) => () => ({ kind: "app" as const, appId, key });

const movedTo = (location: string) => new Response(null, { status: 301, headers: { location } });

const reasonOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => "answered",
    (error: unknown) => (error instanceof DomainError ? error.reason : error),
  );

describe("SRC-13 a token of an app", () => {
  test("is limited to reading the repository, and shared by simultaneous requests", async () => {
    await site.inspect();
    await site.inspect();
    expect(githubApp.minted).toBe(1);
  });

  test("is renewed a minute before its end", async () => {
    await site.inspect();
    site.world.clock.set(Date.parse("2026-01-01T00:58:59Z"));
    await site.inspect();
    expect(githubApp.minted).toBe(1);
    expect(site.sources.mirrors.credentialEnds()).toEqual([{ id: "host", seconds: 61 }]);
  });

  test("renews a token that was revoked in the middle, once", async () => {
    await site.inspect();
    host.token = "revoked-meanwhile";
    await site.inspect();
    expect(githubApp.minted).toBeGreaterThan(1);
  });

  test.each<[string, () => Partial<Connection>]>([
    ["host", () => ({ apiBase: host.origin.replace("127.0.0.1", "localhost") })],
    [
      "app",
      () => {
        githubApp.id = "67890";
        return { credential: appOf(githubApp.id) };
      },
    ],
  ])("is not used for another %s of the same connection", async (_, changed) => {
    await site.inspect();
    const [connection] = site.connections;
    if (connection) site.connections[0] = { ...connection, ...changed() };
    await site.inspect();
    expect(githubApp.minted).toBe(2);
  });

  test("reports a token that the host refuses again", async () => {
    host.instead = (request) =>
      request.url.includes("/git/") ? Response.json({}, { status: 401 }) : undefined;
    expect(await reasonOf(site.inspect())).toBe("source.credential_refused");
  });

  test.each<[string, () => Response, string]>([
    ["without end", () => new Response(new Uint8Array(RESPONSE_BYTES_MAX + 1)), "source.bad_answer"],
    ["with a page", () => new Response("<!doctype html>"), "source.bad_answer"],
    [
      "with a limit",
      () => new Response("", { status: 403, headers: { "retry-after": "7" } }),
      "source.rate_limited",
    ],
    ["with an error", () => new Response("", { status: 500 }), "source.host_down"],
    ["with another name", () => movedTo("/repositories/1/installation"), "source.renamed"],
    ["from elsewhere", () => movedTo("https://other.example/"), "source.bad_answer"],
  ])("reports the reason if the host responds %s", async (_, answer, reason) => {
    host.instead = (request) => (request.url.endsWith("/installation") ? answer() : undefined);
    expect(await reasonOf(site.inspect())).toBe(reason);
  });

  test("is not given to another app", async () => {
    githubApp.id = "999";
    site.connections[0] = connectionTo(host, {
      credential: () => ({ kind: "app", appId: "12345", key: new Secret(privateKey) }),
    });
    expect(await reasonOf(site.inspect())).toBe("source.credential_refused");
  });
});
