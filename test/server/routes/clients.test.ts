// Tests reports of workstations and the inventory over HTTP.
import { describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import {
  AdminClientStatusPage,
  ClientCounts,
  ClientDetail,
  ClientFacets,
  ClientSummaryPage,
} from "../../../src/domain/clients/inventory/documents.ts";
import {
  ERROR_LENGTH_MAX,
  HARNESS_NAME_LENGTH_MAX,
  HARNESSES_MAX,
  HOSTNAME_LENGTH_MAX,
  INSTANCE_ID_LENGTH_MAX,
  PACKAGES_MAX,
  PLATFORM_LENGTH_MAX,
  REVISION_LENGTH_MAX,
  VERSION_LENGTH_MAX,
} from "../../../src/domain/clients/limits.ts";
import { clientReports } from "../../../src/domain/clients/tables.ts";
import { LIST_EXCESS_MAX } from "../../../src/platform/json/structure.ts";
import { BODY_BYTES_MAX } from "../../../src/server/http/bodies/body.ts";
import { createClientsWorld } from "../../domain/clients/clients-world.ts";
import { reportWith } from "../../domain/clients/policies.ts";
import type { Caller, Sent, TestServer } from "../../support/server.ts";

const LEAST = { instance_id: "i", client_version: "1", platform: "linux", applied: true, files_ok: true };

const post = ({ request }: TestServer, { accessToken: token }: Caller, body: unknown) =>
  request("POST", "/client-status", { token, body });

const countOf = ({ world }: TestServer): number => world.db.read.select().from(clientReports).all().length;

async function asAdministrator() {
  const clients = await createClientsWorld();
  const { accessToken: token } = await clients.signedIn("admin");
  const ask = (method: string, path: string, sent: Sent = {}) =>
    clients.request(method, `/admin/client-status${path}`, { token, ...sent });
  return { ...clients, ask };
}

const text = (length: number) => "x".repeat(length);
const many = <T>(count: number, entry: T): T[] => Array.from({ length: count }, () => entry);
const attempt = (harness: string, revision: string) => ({
  error: "why",
  reconciliation_attempt: { harness, revision },
});

/** The limits of the schema: place, limit, and members with that many characters or items. */
const LIMITS: [string, number, (amount: number) => Record<string, unknown>][] = [
  ["/instance_id", INSTANCE_ID_LENGTH_MAX, (length) => ({ instance_id: text(length) })],
  ["/hostname", HOSTNAME_LENGTH_MAX, (length) => ({ hostname: text(length) })],
  ["/client_version", VERSION_LENGTH_MAX, (length) => ({ client_version: text(length) })],
  ["/platform", PLATFORM_LENGTH_MAX, (length) => ({ platform: text(length) })],
  ["/architecture", PLATFORM_LENGTH_MAX, (length) => ({ architecture: text(length) })],
  ["/config_revision", REVISION_LENGTH_MAX, (length) => ({ config_revision: text(length) })],
  ["/error", ERROR_LENGTH_MAX, (length) => ({ error: text(length) })],
  ["/reconciliation_attempt/harness", HARNESS_NAME_LENGTH_MAX, (length) => attempt(text(length), "r")],
  ["/reconciliation_attempt/revision", REVISION_LENGTH_MAX, (length) => attempt("codex", text(length))],
  ["/harnesses", HARNESSES_MAX, (count) => ({ harnesses: many(count, "codex") })],
  ["/harnesses/0/name", HARNESS_NAME_LENGTH_MAX, (length) => ({ harnesses: [{ name: text(length) }] })],
  ["/harnesses/1", HARNESS_NAME_LENGTH_MAX, (length) => ({ harnesses: ["codex", text(length)] })],
  ["/packages", PACKAGES_MAX, (count) => ({ packages: many(count, {}) })],
];

const pointersIn = ({ errors }: { errors: { pointer: string }[] }): string[] =>
  errors.map(({ pointer }) => pointer).sort();

describe("a report", () => {
  test("is accepted with an empty response, from the smallest body that a client sends", async () => {
    await using clients = await createClientsWorld();
    const response = await post(clients, clients.ana, LEAST);
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect(clients.listed()).toMatchObject([{ instanceId: "i", harnesses: [], packages: [] }]);
  });

  test("may have unknown members at any level and lists in every form", async () => {
    await using clients = await createClientsWorld();
    const body = {
      ...reportWith(),
      later: { deep: [1] },
      harnesses: ["codex", { name: "claude", later: true }, {}],
      packages: [{ id: "one", later: 1 }, {}],
      reconciliation_attempt: { harness: "codex", revision: "r", later: 1 },
      error: "why",
    };
    expect((await post(clients, clients.ana, body)).status).toBe(204);
    expect(clients.listed()).toMatchObject([{ harnesses: body.harnesses, packages: body.packages }]);
  });

  test("may have null for optional members", async () => {
    await using clients = await createClientsWorld();
    const nothing = Object.fromEntries(
      ["hostname", "architecture", "config_revision", "harnesses", "packages"].map((name) => [name, null]),
    );
    const body = { ...LEAST, ...nothing, reconciliation_attempt: null, error: null };
    expect((await post(clients, clients.ana, body)).status).toBe(204);
  });

  test.each([-1, 0, 1])("LIST_EXCESS_MAX times as long a list as allowed, and %i more", async (more) => {
    await using clients = await createClientsWorld();
    const later = many(10 * HARNESSES_MAX, 1); // an unknown member has no limit
    const harnesses = many(LIST_EXCESS_MAX * HARNESSES_MAX + more, "codex");
    const answer = await post(clients, clients.ana, { ...reportWith(), later, harnesses, applied: 1 });
    const { status, detail, errors } = await answer.json();
    if (more <= 0) expect([status, pointersIn({ errors })]).toEqual([422, ["/applied", "/harnesses"]]);
    else
      expect([status, detail, errors]).toEqual([
        400,
        "the list harnesses may have at most 32 elements",
        [{ pointer: "/harnesses", detail: "the list harnesses may have at most 32 elements" }],
      ]);
  });

  test.each<[string, Record<string, unknown>, string[]]>([
    ["lacks a member", { instance_id: undefined, files_ok: undefined }, ["/instance_id", "/files_ok"]],
    ["has a wrong type", { applied: "yes", hostname: 5 }, ["/applied", "/hostname"]],
    ["has no list", { harnesses: {}, packages: "none" }, ["/harnesses", "/packages"]],
    ["has packages by name", { packages: ["one"] }, ["/packages/0"]],
    [
      "has half an attempt",
      { reconciliation_attempt: { harness: "x" } },
      ["/reconciliation_attempt/revision"],
    ],
  ])("refuses a report that %s with 422 and every pointer", async (_, members, pointers) => {
    await using clients = await createClientsWorld();
    const response = await post(clients, clients.ana, { ...LEAST, ...members });
    expect(response.status).toBe(422);
    expect(pointersIn(await response.json())).toEqual(pointers.sort());
    expect(countOf(clients)).toBe(0);
  });

  test.each(LIMITS)("has a limit: %s accepts up to %d", async (pointer, max, membersOf) => {
    await using clients = await createClientsWorld();
    const responseTo = async (amount: number) => {
      const response = await post(clients, clients.ana, { ...LEAST, ...membersOf(amount) });
      return [response.status, response.status === 204 ? [] : pointersIn(await response.json())];
    };
    expect(await responseTo(max - 1)).toEqual([204, []]);
    expect(await responseTo(max)).toEqual([204, []]);
    expect(await responseTo(max + 1)).toEqual([422, [pointer]]);
  });

  test("beyond several limits is refused with all of them together", async () => {
    await using clients = await createClientsWorld();
    const wrong = LIMITS.filter(([pointer]) => pointer !== "/harnesses" && !pointer.endsWith("/name"));
    const members = Object.assign({}, ...wrong.map(([, max, membersOf]) => membersOf(max + 1)), {
      reconciliation_attempt: { harness: text(1_000), revision: text(1_000) },
      error: text(ERROR_LENGTH_MAX + 1),
    });
    const response = await post(clients, clients.ana, { ...LEAST, ...members });
    expect(response.status).toBe(422);
    expect(pointersIn(await response.json())).toEqual(wrong.map(([pointer]) => pointer).sort());
  });

  test("refuses blank values with 400 and every pointer", async () => {
    await using clients = await createClientsWorld();
    const response = await post(clients, clients.ana, { ...LEAST, instance_id: " ", client_version: "" });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      reason: "client_report.invalid",
      errors: [{ pointer: "/instance_id" }, { pointer: "/client_version" }],
    });
    expect(countOf(clients)).toBe(0);
  });

  test("is refused with 400 if it is not JSON, 415 for another media type, and 413 if it is too large", async () => {
    await using clients = await createClientsWorld();
    const { accessToken: token } = clients.ana;
    const statusOf = async (sent: Sent) =>
      (await clients.request("POST", "/client-status", { token, ...sent })).status;
    expect(await statusOf({ body: "{" })).toBe(400);
    expect(await statusOf({ body: "{}", headers: { "content-type": "text/plain" } })).toBe(415);
    expect(await statusOf({ body: " ".repeat(BODY_BYTES_MAX + 1) })).toBe(413);
  });

  test("is accepted from a browser session and refused from a token without the scope", async () => {
    await using clients = await createClientsWorld();
    const sent = { cookie: clients.ana.cookie, body: LEAST };
    expect((await clients.request("POST", "/client-status", sent)).status).toBe(204);
    const reader = await clients.signedIn("member", { scope: "governance:read session:write" });
    expect((await post(clients, reader, LEAST)).status).toBe(403);
  });

  test("leaves the cache of callers valid", async () => {
    await using clients = await createClientsWorld();
    const { db } = clients.world;
    const before = db.revision("access");
    await post(clients, clients.ana, LEAST);
    expect(db.revision("access")).toBe(before);
    expect(db.revision("clients")).toBeGreaterThan(0);
  });
});

describe("the inventory", () => {
  test("shows all members of each client and the current revision", async () => {
    await using clients = await asAdministrator();
    const revision = await clients.publish();
    await post(clients, clients.ana, reportWith({ config_revision: revision }));
    const response = await clients.ask("GET", "");
    const page = await response.json();
    expect(Value.Errors(AdminClientStatusPage, page).First()).toBeUndefined();
    const { harnesses, packages } = reportWith();
    expect(page).toEqual({
      items: [
        {
          id: expect.any(String),
          user_email: "ana@example.org",
          instance_id: "instance-1",
          hostname: "lab-14",
          client_version: "0.1.0",
          platform: "linux",
          architecture: "x86_64",
          config_revision: revision,
          applied: true,
          files_ok: true,
          harnesses,
          packages,
          error: null,
          status: "current",
          status_reasons: [],
          first_seen_at: "2026-01-01T00:00:00.000Z",
          last_seen_at: "2026-01-01T00:00:00.000Z",
          activity_status: "recent",
        },
      ],
      page: 1,
      per_page: 25,
      total: 1,
      total_pages: 1,
      current_revision: revision,
      next_cursor: null,
    });
  });

  test("shows summaries on request, and one workstation with its login and companions", async () => {
    await using clients = await asAdministrator();
    const revision = await clients.publish();
    for (const instance_id of ["one", "two"])
      await post(clients, clients.ana, reportWith({ instance_id, config_revision: revision }));
    const page = await (await clients.ask("GET", "?view=summary&sort=host_asc&per_page=1")).json();
    expect(Value.Errors(ClientSummaryPage, page).First()).toBeUndefined();
    expect([page.total, page.total_is_exact]).toEqual([2, true]);
    const query = `?view=summary&sort=host_asc&per_page=1&cursor=${page.next_cursor}`;
    const second = await (await clients.ask("GET", query)).json();
    expect(second).toMatchObject({ total: 2, next_cursor: null });
    const [{ id }, companion] = [page.items[0], second.items[0]];
    expect(page.items).toMatchObject([
      {
        user_id: clients.ana.user.id,
        harnesses: { wanted: 1, reconciled: 1 },
        packages: { reported: 1, applied: 1 },
      },
    ]);
    const one = await (await clients.ask("GET", `/${id.toUpperCase()}`)).json();
    expect(Value.Errors(ClientDetail, one).First()).toBeUndefined();
    expect(one).toMatchObject({
      id,
      current_revision: revision,
      companions: [{ id: companion.id, hostname: "lab-14" }],
      login_session_id: clients.ana.loginSessionId,
    });
    for (const unknown of [clients.world.ids.uuid(), "lab-14", "%00"])
      expect((await clients.ask("GET", `/${unknown}`)).status).toBe(404);
  });

  test("is counted by health and by version of the harnesses", async () => {
    await using clients = await asAdministrator();
    await post(clients, clients.ana, reportWith());
    const health = { current: 0, outdated: 1, attention: 0 };
    const counts = await (await clients.ask("GET", "/counts")).json();
    expect(Value.Errors(ClientCounts, counts).First()).toBeUndefined();
    expect(counts).toMatchObject({
      health,
      harness_version: { items: [{ harness: "codex", workstations: 1 }] },
    });
    expect(await (await clients.ask("GET", "/counts?by=health")).json()).toEqual({ health });
    const wrong = await clients.ask("GET", "/counts?by=health,age");
    expect(await wrong.json()).toMatchObject({ status: 400, errors: [{ pointer: "/by" }] });
  });

  test("accepts every filter in the query", async () => {
    await using clients = await asAdministrator();
    await post(clients, clients.ana, reportWith());
    const totalOf = async (query: string): Promise<number> =>
      (await (await clients.ask("GET", `?${query}`)).json()).total;
    const { id } = clients.ana.user;
    for (const fits of [
      "q=LAB",
      `user_id=${id}`,
      "harness=codex",
      "health=outdated",
      "last_seen_from=2026-01-01&last_seen_to=2026-01-01",
      "sort=last_seen_asc&page=1&per_page=1",
    ])
      expect([fits, await totalOf(fits)]).toEqual([fits, 1]);
    for (const fitsNot of [
      "q=other",
      `user_id=${clients.world.ids.uuid()}`,
      "harness=Codex",
      "health=current",
      "last_seen_from=2026-01-02",
      "last_seen_to=2025-12-31",
    ])
      expect([fitsNot, await totalOf(fitsNot)]).toEqual([fitsNot, 0]);
  });

  test("refuses invalid and unknown parameters", async () => {
    await using clients = await asAdministrator();
    const wrong = [
      "page=x",
      "per_page=0",
      "user_id=ana",
      "health=well",
      "sort=id",
      "last_seen_from=x",
      "q2=x",
    ];
    for (const query of wrong)
      expect([query, (await clients.ask("GET", `?${query}`)).status]).toEqual([query, 400]);
    expect(await (await clients.ask("GET", `?${wrong.slice(0, 4).join("&")}`)).json()).toMatchObject({
      reason: "client.invalid",
      errors: [
        { pointer: "/page" },
        { pointer: "/per_page" },
        { pointer: "/user_id" },
        { pointer: "/health" },
      ],
    });
  });

  test("has facets", async () => {
    await using clients = await asAdministrator();
    await post(clients, clients.ana, reportWith());
    const { id } = clients.ana.user;
    const facets = await (await clients.ask("GET", `/facets?user_q=ana&selected_user_id=${id}`)).json();
    expect(Value.Check(ClientFacets, facets)).toBe(true);
    expect(facets).toEqual({ users: [{ id, email: "ana@example.org" }], harnesses: ["codex"] });
    expect((await clients.ask("GET", "/facets?selected_user_id=ana")).status).toBe(400);
  });

  test("removes a deleted client and answers 404 to a second deletion", async () => {
    await using clients = await asAdministrator();
    await post(clients, clients.ana, reportWith());
    const [{ id } = { id: "" }] = clients.listed();
    const first = await clients.ask("DELETE", `/${id}`);
    expect([first.status, await first.text()]).toEqual([204, ""]);
    expect(clients.listed()).toEqual([]);
    const second = await clients.ask("DELETE", `/${id}`);
    expect([second.status, (await second.json()).reason]).toEqual([404, "client.not_found"]);
  });

  test("accepts upper-case ids", async () => {
    await using clients = await asAdministrator();
    await post(clients, clients.ana, reportWith());
    const [{ id, hostname } = { id: "", hostname: "" }] = clients.listed();
    const user = clients.ana.user.id.toUpperCase();
    expect(await (await clients.ask("GET", `?user_id=${user}`)).json()).toMatchObject({
      items: [{ hostname }],
    });
    const facets = await clients.ask("GET", `/facets?user_q=nobody&selected_user_id=${user}`);
    expect(await facets.json()).toMatchObject({ users: [{ id: clients.ana.user.id }] });
    expect((await clients.ask("DELETE", `/${id.toUpperCase()}`)).status).toBe(204);
  });

  test("answers 404 to the deletion of a malformed id", async () => {
    await using clients = await asAdministrator();
    await post(clients, clients.ana, reportWith());
    for (const id of [
      clients.world.ids.uuid(),
      "no-uuid",
      "lab-14",
      "%00",
      "%ff",
      "a%2Fb",
      "x".repeat(2_000),
    ])
      expect([id, (await clients.ask("DELETE", `/${id}`)).status]).toEqual([id, 404]);
    expect(clients.listed()).toHaveLength(1);
  });

  test("refuses members", async () => {
    await using clients = await asAdministrator();
    await post(clients, clients.ana, reportWith());
    const [{ id } = { id: "" }] = clients.listed();
    const { accessToken: token } = clients.ana;
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/facets"],
      ["GET", "/counts"],
      ["GET", `/${id}`],
      ["DELETE", `/${id}`],
    ] as const)
      expect((await clients.ask(method, path, { token })).status).toBe(403);
    expect(clients.listed()).toHaveLength(1);
  });
});
