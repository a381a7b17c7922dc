// GET /governance-config over HTTP: who gets which document, what clients must support, conditional requests, and that a policy
// that cannot be computed is never sent as an empty one. governance-delivery-gateway.test.ts tests gateway mode.
import { beforeEach, describe, expect, spyOn, test } from "bun:test";
import { governanceRevisions } from "../../../../src/domain/governance/tables.ts";
import { CAPABILITY_LISTS_KEPT_MAX } from "../../../../src/server/policy-api/negotiation.ts";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import { publishFirst, publishPackages } from "../../../support/content/policy.ts";
import { type Caller, createTestServer, METRICS_TOKEN, type TestServer } from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";

const sameServer = sharedServer(createTestServer);

const PATH = "/governance-config";

let site: TestServer;
let ana: Caller;
let ben: Caller;
beforeEach(async () => {
  site = await sameServer();
  ana = await site.signedIn("member", { email: "ana@example.com" });
  ben = await site.signedIn("admin", { email: "ben@example.com" });
});

const get = (caller = ana, headers: Record<string, string> = {}) =>
  site.request("GET", PATH, { token: caller.accessToken, headers });

async function documentOf(caller: Caller) {
  const answer = await get(caller);
  expect(answer.status).toBe(200);
  return await answer.json();
}

const shownTo = async (caller: Caller): Promise<string[]> =>
  (await documentOf(caller)).packages.map(({ id }: { id: string }) => id);

describe("the document", () => {
  test("is the latest published one", async () => {
    const first = await publishFirst(site, { ttl_seconds: 60, required: true });
    expect(await documentOf(ana)).toEqual({
      revision: first,
      contract_version: 1,
      ttl_seconds: 60,
      required: true,
      allowed_harnesses: ["codex", "claude", "kimi", "opencode"],
      harnesses: {},
      packages: [],
    });
    const { id } = await publishPackages(site, { packages: [packageOf("tool")] });
    expect(await documentOf(ana)).toMatchObject({ revision: id, packages: [{ id: "tool" }] });
  });

  test("is the same for a browser", async () => {
    await publishFirst(site);
    const answer = await site.request("GET", PATH, { cookie: ana.cookie });
    expect([answer.status, await answer.json()]).toEqual([200, await documentOf(ana)]);
  });

  test("omits packages for other audiences and their overrides, for administrators too", async () => {
    await publishFirst(site);
    await publishPackages(site, {
      packages: ["all", "anas", "bens", "both"].map((id) => packageOf(id)),
      audiences: { anas: [ana.user.id], bens: [ben.user.id], both: [ana.user.id, ben.user.id] },
      overrides: { codex: { all: { enabled: false }, anas: { enabled: false }, bens: { enabled: false } } },
    });
    expect(await shownTo(ana)).toEqual(["all", "anas", "both"]);
    expect(await shownTo(ben)).toEqual(["all", "bens", "both"]);
    expect(await shownTo(await site.signedIn("member"))).toEqual(["all"]);
    const { harnesses } = await documentOf(ana);
    expect(Object.keys(harnesses.codex.package_overrides)).toEqual(["all", "anas"]);
  });

  test("USE-6 is 404 before the first publication", async () => {
    const answer = await get();
    expect([answer.status, (await answer.json()).reason]).toEqual([404, "governance.no_policy"]);
  });
});

describe("the entity tag", () => {
  const tagOf = async (caller: Caller) => (await get(caller)).headers.get("etag") ?? "";

  test("is strong, shared by all callers with the same body, and different for every other body", async () => {
    await publishFirst(site);
    const cleo = await site.signedIn("member");
    await publishPackages(site, {
      packages: [packageOf("all"), packageOf("bens")],
      audiences: { bens: [ben.user.id] },
    });
    const tag = await tagOf(ana);
    expect(tag).toMatch(/^"[^"]+"$/);
    expect(await tagOf(cleo)).toBe(tag);
    expect(await tagOf(ben)).not.toBe(tag);
    await publishPackages(site, { packages: [] });
    expect(await tagOf(ana)).not.toBe(tag);
  });

  test("USE-6 gives 304 without a body until the next publication", async () => {
    await publishFirst(site, { required_client_version: "1.2.3" });
    const capable = { "x-blue-capabilities": "tenant_client_version_pin" };
    const tag = (await get(ana, capable)).headers.get("etag") ?? "";
    const unchanged = await get(ana, { ...capable, "if-none-match": tag });
    expect([unchanged.status, await unchanged.text()]).toEqual([304, ""]);
    expect(unchanged.headers.get("etag")).toBe(tag);
    await publishPackages(site, { packages: [packageOf("tool")] });
    expect((await get(ana, { ...capable, "if-none-match": tag })).status).toBe(200);
  });

  test("answers a known entity tag of any workstation without JSON", async () => {
    await publishFirst(site);
    const tag = await tagOf(ana);
    const other = await site.signInAgain(ana.user);
    const [parse, stringify] = [spyOn(JSON, "parse"), spyOn(JSON, "stringify")];
    const { status } = await get(other, { "if-none-match": tag });
    const texts = [
      ...parse.mock.calls.map(([text]) => text),
      ...stringify.mock.results.map(({ value }) => String(value)),
    ];
    parse.mockRestore();
    stringify.mockRestore();
    expect(status).toBe(304);
    // The log line at level debug, which the test server also reads.
    expect(texts.filter((text) => !text.includes('"http.answered"'))).toEqual([]);
  });

  test("does not match the entity tag of another group", async () => {
    await publishFirst(site);
    await publishPackages(site, { packages: [packageOf("a")], audiences: { a: [ana.user.id] } });
    expect((await get(ben, { "if-none-match": await tagOf(ana) })).status).toBe(200);
  });

  test("comes with the headers that caches need", async () => {
    await publishFirst(site);
    for (const headers of [{}, { "if-none-match": "*" }]) {
      const answer = await get(ana, headers);
      expect(answer.headers.get("cache-control")).toBe("private, no-cache");
      const vary = answer.headers.get("vary")?.split(", ");
      expect(vary).toEqual(["authorization", "cookie", "x-blue-contract-version", "x-blue-capabilities"]);
    }
  });
});

describe("a client", () => {
  const version = (text: string) => ({ "x-blue-contract-version": text });
  const capable = (...names: string[]) => ({ "x-blue-capabilities": names.join(",") });
  const ALL = [
    "adapter_intervals",
    "compiled_harness_registry",
    "transactional_reconcile",
    "versioned_state",
  ];
  const ranged = { harnesses: { claude: { version_requirement: ">=2.0.12" } } };

  test.each([
    ["of the policy's contract with all capabilities", { ...version("3"), ...capable(...ALL) }, 200],
    ["of a later contract with more capabilities", { ...version("4"), ...capable("news", ...ALL) }, 200],
    [
      "with other spaces in its list",
      { ...version("3"), ...capable(...ALL.map((name) => ` ${name} `), "") },
      200,
    ],
    ["of an older contract", { ...version("2"), ...capable(...ALL) }, 426],
    ["of an unreadable contract", { ...version("three"), ...capable(...ALL) }, 426],
    ["of a contract below zero", { ...version("-3"), ...capable(...ALL) }, 426],
    ["without a contract version", capable(...ALL), 426],
    ["without one capability", { ...version("3"), ...capable(...ALL.slice(1)) }, 426],
    [
      "with a prefix of a capability",
      { ...version("3"), ...capable("adapter_interval", ...ALL.slice(1)) },
      426,
    ],
    ["without capabilities", version("3"), 426],
  ])("%s gets the expected status", async (_name, headers, status) => {
    await publishFirst(site, ranged);
    expect((await get(ana, headers)).status).toBe(status);
  });

  test("is checked by its own headers for each policy, regardless of earlier callers", async () => {
    await publishFirst(site);
    const silent = async () => (await get()).status;
    expect(await silent()).toBe(200);
    await publishFirst(site, ranged);
    expect(await silent()).toBe(426);
    const statuses: number[] = [];
    for (const headers of [
      { ...version("3"), ...capable(...ALL) },
      { ...version("2"), ...capable(...ALL) },
      { ...version("3"), ...capable(...ALL.slice(1)) },
      { ...version("3"), ...capable(...ALL) },
    ])
      statuses.push((await get(ana, headers)).status);
    expect(statuses).toEqual([200, 426, 426, 200]);
  });

  test("sends a policy that requires nothing to a client without version headers", async () => {
    await publishFirst(site);
    expect((await get()).status).toBe(200);
  });

  test("gets a short list of its missing capabilities", async () => {
    await publishFirst(site, ranged);
    const { error, reason, title } = await (await get(ana, capable(...ALL.slice(2)))).json();
    expect([reason, title]).toEqual(["governance.client_too_old", "Upgrade Required"]);
    expect(error).toBe(
      "update this client: the policy needs contract 3, while this client speaks 1; adapter_intervals; compiled_harness_registry",
    );
  });

  test("API-7 gets the required version in the text and in machine-readable members", async () => {
    await publishFirst(site, { ...ranged, required_client_version: "1.4.2" });
    const response = await get(ana, { ...version("3"), ...capable(...ALL.slice(1)) });
    const { detail, error, ...members } = await response.json();
    expect(detail).toBe(
      "update this client to version 1.4.2: the policy needs adapter_intervals; tenant_client_version_pin",
    );
    expect(error).toBe(detail);
    expect(response.headers.get("x-blue-required-client-version")).toBe("1.4.2");
    expect(members).toMatchObject({
      required_client_version: "1.4.2",
      required_contract_version: 3,
      missing_capabilities: ["adapter_intervals", "tenant_client_version_pin"],
    });
    await publishFirst(site, ranged);
    expect(await (await get()).json()).not.toHaveProperty("required_client_version");
  });

  test("is refused as too old even if it has the current document", async () => {
    await publishFirst(site, ranged);
    expect((await get(ana, { "if-none-match": "*" })).status).toBe(426);
  });

  test("gets the required version, even when it is too old, but not without a credential", async () => {
    await publishFirst(site, { required_client_version: "1.2.3" });
    const pinned = capable("tenant_client_version_pin");
    const pinOf = (answer: Response) => [answer.status, answer.headers.get("x-blue-required-client-version")];
    const answer = await get(ana, pinned);
    expect(pinOf(answer)).toEqual([200, "1.2.3"]);
    expect(await answer.json()).toMatchObject({ required_client_version: "1.2.3" });
    expect(pinOf(await get())).toEqual([426, "1.2.3"]);
    expect(pinOf(await site.request("GET", PATH, { headers: pinned }))).toEqual([401, null]);
  });

  test("is checked correctly after any number of other clients", async () => {
    await publishFirst(site, ranged);
    for (let other = 0; other <= CAPABILITY_LISTS_KEPT_MAX; other++)
      expect((await get(ana, { ...version("3"), ...capable(`other_${other}`) })).status).toBe(426);
    expect((await get(ana, { ...version("3"), ...capable(...ALL) })).status).toBe(200);
  });
});

test.each(["", "{", "null", "{}", "[]", '{"revision":"other"}'])(
  "a policy whose row holds %p is answered with 503, never as empty",
  async (document) => {
    await publishFirst(site);
    await site.world.db.write((tx) => {
      tx.update(governanceRevisions).set({ document }).run();
    });
    const answer = await get();
    expect([answer.status, (await answer.json()).reason]).toEqual([503, "governance.not_computed"]);
    expect(answer.headers.get("retry-after")).toBe("10");
    expect(site.logged.filter(({ event }) => event === "http.failed")).toHaveLength(1);
  },
);

test("fetches are counted by outcome, and the revision is exposed", async () => {
  await using own = await createTestServer();
  const { accessToken: token } = await own.signedIn("member");
  const fetch = (headers: Record<string, string> = {}) => own.request("GET", PATH, { token, headers });
  const figures = async () => {
    const page = await (await own.request("GET", "/metrics", { token: METRICS_TOKEN })).text();
    return page.split("\n").filter((line) => /^quartermaster_policy_(?:fetches_total|revision)/.test(line));
  };
  const fetched = (counts: Record<string, number>) =>
    ["sent", "unchanged", "no_policy", "key_needed", "client_too_old", "refused", "failed"].map(
      (result) => `quartermaster_policy_fetches_total{result="${result}"} ${counts[result] ?? 0}`,
    );
  expect(await figures()).toEqual(["quartermaster_policy_revision 0", ...fetched({})]);
  await fetch();
  await publishFirst(own, { required_client_version: "1.2.3" });
  await fetch();
  const capable = { "x-blue-capabilities": "tenant_client_version_pin" };
  await fetch(capable);
  await fetch({ ...capable, "if-none-match": "*" });
  await own.request("GET", PATH);
  const forged = async () => (await own.request("GET", PATH, { token: `${token}x` })).status;
  let refused = 2;
  while ((await forged()) !== 429) refused += 1;
  expect(await figures()).toEqual([
    "quartermaster_policy_revision 1",
    ...fetched({ no_policy: 1, client_too_old: 1, sent: 1, unchanged: 1, refused }),
  ]);
});
