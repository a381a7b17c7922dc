// The model catalog over HTTP with a real gateway: bodies, statuses, the lists of workstations, and refusals.
import { afterEach, describe, expect, test } from "bun:test";
import { publishFirst } from "../../../support/content/policy.ts";
import { createGatewayServer, type GatewayServer } from "../../../support/gateway/gateway-server.ts";
import { type Caller, createTestServer } from "../../../support/server.ts";
import { shared } from "../../../support/shared.ts";

const MODELS = "/admin/gateway/models";
const REFRESH = `${MODELS}/refresh`;
const ACKNOWLEDGE = `${MODELS}/acknowledge`;
const HARNESS = `${MODELS}/harnesses`;

interface Site {
  server: GatewayServer;
  root: Caller;
}

const made = shared(
  async () => {
    const server = await createGatewayServer();
    await publishFirst(server, { allowed_harnesses: ["codex", "claude"] });
    const root = await server.signedIn("admin");
    return { server, root, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  },
  ({ server }) => server,
);
afterEach(async () => {
  const { upstream } = (await made()).server;
  upstream.models = ["model-a"];
  upstream.heal();
});

const site = (): Promise<Site> => made();
const ask = ({ server, root }: Site, method: string, path: string, body?: unknown) =>
  server.request(method, path, { token: root.accessToken, ...(body !== undefined && { body }) });
const read = async (response: Response) => ({ status: response.status, body: await response.json() });
const catalog = async (here: Site) => (await ask(here, "GET", MODELS)).json();
const revisionOf = ({ server }: Site) =>
  server.domain.governance.revisions.inForce(server.world.organizationId).id;
const assign = (here: Site, harness: string, gateway_models: unknown, more: object = {}) =>
  ask(here, "PUT", `${HARNESS}/${harness}`, { base_revision: revisionOf(here), gateway_models, ...more });

describe("INF-52 the catalog", () => {
  test("is refreshed on request and has every member", async () => {
    const here = await site();
    here.server.upstream.models = [{ id: "b", display_name: "B", metadata: { context: 8 } }, "a"];
    const { status, body } = await read(await ask(here, "POST", REFRESH));
    expect(status).toBe(200);
    const time = new Date(here.server.world.clock.nowMs()).toJSON();
    const seen = {
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      state: "available",
      acknowledged: null,
      assigned_to: [],
      first_seen_at: time,
      last_seen_at: time,
      unavailable_since: null,
    };
    expect(body).toEqual({
      revision: revisionOf(here),
      gateway_type: "litellm",
      refresh_interval_seconds: 300,
      assignments: "none",
      sync: {
        last_refresh_at: time,
        last_successful_refresh_at: time,
        source_revision: expect.stringMatching(/^[0-9a-f]{64}$/),
        latest_error: null,
        latest_error_at: null,
        discovery_supported: true,
        stale: false,
      },
      models: [
        { id: "a", display_name: null, metadata: null, ...seen },
        { id: "b", display_name: "B", metadata: { context: 8 }, ...seen },
      ],
      harnesses: [
        { key: "codex", label: "Codex", exposure: "selected_only", gateway_models: [], default_model: null },
        { key: "claude", label: "Claude", exposure: "catalog", gateway_models: [], default_model: null },
      ],
    });
    expect(await catalog(here)).toEqual(body);
  });

  test("is read conditionally", async () => {
    const here = await site();
    const etag = (await ask(here, "GET", MODELS)).headers.get("etag") ?? "";
    const again = await here.server.request("GET", MODELS, {
      token: here.root.accessToken,
      headers: { "if-none-match": etag },
    });
    expect(again.status).toBe(304);
  });

  test.each([
    ["refuses the admin key", { kind: "status", status: 401 }, 502, "gateway.models_discovery_auth"],
    ["answers with something else", { kind: "garbage" }, 502, "gateway.models_discovery_response"],
    ["answers with too much", { kind: "huge" }, 502, "gateway.models_discovery_response"],
    ["redirects", { kind: "redirect" }, 503, "gateway.models_unavailable"],
    ["hangs up", { kind: "hang-up" }, 503, "gateway.models_unavailable"],
    ["is out of order", { kind: "status", status: 500 }, 503, "gateway.models_unavailable"],
  ] as const)("stays unchanged if the gateway %s", async (_name, fault, status, reason) => {
    const here = await site();
    await ask(here, "POST", REFRESH);
    here.server.upstream.fail("GET /v1/models", fault);
    const refused = await read(await ask(here, "POST", REFRESH));
    expect([refused.status, refused.body.reason]).toEqual([status, reason]);
    const { models, sync } = await catalog(here);
    expect(models).toHaveLength(1);
    expect(refused.body.detail).toContain(sync.latest_error);
    expect(JSON.stringify(refused.body)).not.toContain("127.0.0.1");
  });

  test("is for administrators", async () => {
    const here = await site();
    const { accessToken: token } = await here.server.signedIn("member");
    const responses = await Promise.all([
      here.server.request("GET", MODELS, { token }),
      here.server.request("POST", REFRESH, { token }),
      here.server.request("GET", MODELS),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([403, 403, 401]);
  });

  test("does not exist without gateway mode", async () => {
    await using server = await createTestServer();
    await publishFirst(server);
    const root = await server.signedIn("admin");
    const here = { server: { ...server, upstream: (await site()).server.upstream }, root };
    const responses = await Promise.all([
      ask(here, "GET", MODELS),
      ask(here, "POST", REFRESH),
      ask(here, "POST", ACKNOWLEDGE, { model_id: "a", fingerprint: "b" }),
      assign(here, "codex", ["a"]),
      ask(here, "POST", ACKNOWLEDGE, { unknown: 1 }),
      ask(here, "PUT", `${HARNESS}/codex`, []),
      server.request("PUT", `${HARNESS}/codex`, {
        token: root.accessToken,
        headers: { "content-type": "text/plain" },
      }),
    ]);
    const found = await Promise.all(
      responses.map(async (answer) => [answer.status, (await answer.json()).reason]),
    );
    expect(found).toEqual(responses.map(() => [404, "gateway.off"]));
    const visitor = await server.request("PUT", `${HARNESS}/codex`, { body: [] });
    expect(visitor.status).toBe(401);
  });
});

describe("INF-52 a changed model", () => {
  test("is acknowledged with its fingerprint only, not with a former one", async () => {
    const here = await site();
    await ask(here, "POST", REFRESH);
    const [{ fingerprint: former }] = (await catalog(here)).models;
    here.server.upstream.models = [{ id: "model-a", display_name: "A" }];
    await ask(here, "POST", REFRESH);
    const [{ fingerprint, state }] = (await catalog(here)).models;
    expect(state).toBe("changed");
    const acknowledge = async (members: object) => read(await ask(here, "POST", ACKNOWLEDGE, members));
    const stale = await acknowledge({ model_id: "model-a", fingerprint: former });
    expect([stale.status, stale.body.reason]).toEqual([409, "gateway.model_changed"]);
    const unknown = await acknowledge({ model_id: "model-b", fingerprint });
    expect([unknown.status, unknown.body.reason]).toEqual([404, "gateway.model_not_found"]);
    expect((await acknowledge({ model_id: "model-a" })).status).toBe(422);
    const done = { status: 200, body: { acknowledged: true } };
    expect(await acknowledge({ model_id: "model-a", fingerprint })).toEqual(done);
    expect(await acknowledge({ model_id: "model-a", fingerprint })).toEqual(done);
    expect((await catalog(here)).models[0].state).toBe("available");
  });
});

describe("INF-52 an assignment", () => {
  test("is a new policy revision, once", async () => {
    const here = await site();
    const before = revisionOf(here);
    const { status, body } = await read(
      await assign(here, "codex", ["model-a"], { default_model: "model-a" }),
    );
    expect([status, body]).toEqual([200, { revision: revisionOf(here), harness: "codex" }]);
    expect(body.revision).not.toBe(before);
    expect((await read(await assign(here, "codex", ["model-a"]))).body.revision).toBe(body.revision);
    const { harnesses, assignments } = await catalog(here);
    expect(harnesses[0]).toMatchObject({ gateway_models: ["model-a"], default_model: "model-a" });
    expect(assignments).toBe("incomplete");
    const stale = await assign(here, "codex", [], { base_revision: before });
    expect([stale.status, (await stale.json()).reason]).toEqual([409, "governance.stale_revision"]);
  });

  test("may begin from an entity tag", async () => {
    const here = await site();
    const begin = (tag: string) =>
      here.server.request("PUT", `${HARNESS}/codex`, {
        token: here.root.accessToken,
        headers: { "if-match": tag },
        body: { gateway_models: ["model-a"] },
      });
    const former = `"${revisionOf(here)}"`;
    const { status, headers } = await begin(former);
    expect([status, headers.get("etag")]).toEqual([200, `"${revisionOf(here)}"`]);
    await assign(here, "codex", []);
    expect((await begin(former)).status).toBe(412);
  });

  test.each([
    ["an unknown agent", "vim", ["a"], {}, 400],
    ["an agent that is not allowed", "kimi", ["a"], {}, 400],
    ["an empty id", "codex", [""], {}, 400],
    ["a blank at an end", "codex", ["a "], {}, 400],
    ["an id twice", "codex", ["a", "a"], {}, 400],
    ["201 ids", "codex", Array.from({ length: 201 }, (_, n) => `${n}`), {}, 400],
    ["a default outside of the list", "codex", ["a"], { default_model: "b" }, 400],
    ["a default without a list", "codex", [], { default_model: "a" }, 400],
    ["a list that is text", "codex", "a", {}, 422],
    ["an unknown member", "codex", ["a"], { models: [] }, 422],
    ["no base", "codex", ["a"], { base_revision: undefined }, 422],
  ] as const)("is refused with %s", async (_name, harness, models, more, status) => {
    const here = await site();
    const before = revisionOf(here);
    const refused = await assign(here, harness, models, more);
    expect(refused.status).toBe(status);
    expect(revisionOf(here)).toBe(before);
  });
});

describe("INF-54 a workstation", () => {
  const CAPABILITIES = "gateway_inference_jwt";
  const fetchPolicy = ({ server }: Site, caller: Caller, generation: number) =>
    server.request("GET", "/governance-config", {
      token: caller.accessToken,
      headers: {
        "x-blue-contract-version": String(generation),
        "x-blue-capabilities": generation === 4 ? `${CAPABILITIES},gateway_model_catalog` : CAPABILITIES,
      },
    });

  test("gets the lists once every allowed agent has one; older clients are refused only during that time", async () => {
    const here = await site();
    const ana = await here.server.signedIn("member");
    const statuses = async () => [
      (await fetchPolicy(here, ana, 3)).status,
      (await fetchPolicy(here, ana, 4)).status,
    ];
    const document = async () => (await fetchPolicy(here, ana, 4)).json();
    expect(await statuses()).toEqual([200, 200]);

    await assign(here, "codex", ["model-a"]);
    expect(await statuses()).toEqual([200, 200]);
    const incomplete = await document();
    expect(incomplete.contract_version).toBe(3);
    expect(JSON.stringify(incomplete)).not.toContain("gateway_models");

    await assign(here, "claude", ["model-a", "model-b"], { default_model: "model-b" });
    expect(await statuses()).toEqual([426, 200]);
    const complete = await document();
    expect(complete).toMatchObject({
      contract_version: 4,
      required_capabilities: ["gateway_inference_jwt", "gateway_model_catalog"],
      harnesses: {
        codex: { gateway_models: ["model-a"] },
        claude: { gateway_models: ["model-a", "model-b"], managed_config: { model: "model-b" } },
      },
    });
    expect(Object.keys(complete.gateway).toSorted()).toEqual(["auth_style", "proxy_url", "token", "type"]);

    await assign(here, "codex", []);
    expect(await statuses()).toEqual([200, 200]);
    expect((await document()).contract_version).toBe(3);
  });
});
