// Tests invitations over HTTP: the link that is shown once, statuses, bodies against the documented schemas, limits.
import { describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import {
  AdminInvitation,
  AdminInvitationPage,
  EMAIL_LENGTH_MAX,
  EMAIL_LOCAL_LENGTH_MAX,
  INVITATION_TTL_MS,
} from "../../../../src/domain/identity/model.ts";
import { PER_PAGE_MAX, SEARCH_LENGTH_MAX } from "../../../../src/domain/shared/page.ts";
import { SECOND_MS, toRfc3339 } from "../../../../src/platform/clock.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import {
  BASE_URL,
  createTestServer,
  PASSWORD,
  type TestServer,
  type TestServerOptions,
} from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";
import { START_MS } from "../../../support/world.ts";

const sameServer = sharedServer(createTestServer);
/** Disposed after the last test that uses it. */
const kept = (server: TestServer): TestServer => ({ ...server, [Symbol.asyncDispose]: async () => {} });

const UNKNOWN_ID = "01890000-0000-7000-8000-000000000000";
const LINK = new RegExp(`^${BASE_URL}/accept-invitation\\?token=([\\w-]{43})$`);

type Administration = Awaited<ReturnType<typeof createAdministration>>;

/** A server and an administrator who calls it. */
async function createAdministration(options?: TestServerOptions) {
  const testServer = options ? await createTestServer(options) : kept(await sameServer());
  const admin = await testServer.signedIn("admin", { email: "admin@example.com" });
  const send = (method: string, path: string, body?: unknown) =>
    testServer.request(method, path, { cookie: admin.cookie, ...(body !== undefined && { body }) });
  const invite = (email: string, role = "member") => send("POST", "/admin/invitations", { email, role });
  return { ...testServer, admin, send, invite };
}

const reasonOf = async (response: Response): Promise<string> =>
  `${response.status} ${(await response.json()).reason}`;

/** @returns the secret in the link of the invited person */
const tokenOf = (url: string): Secret => new Secret(LINK.exec(url)?.[1] ?? "");

/** @returns whether the link still works; does not consume it */
function works({ domain }: Administration, url: string): boolean {
  try {
    domain.identity.invitations.getByToken(tokenOf(url));
    return true;
  } catch {
    return false;
  }
}

const accept = ({ domain }: Administration, url: string) =>
  domain.identity.invitations.accept({ token: tokenOf(url), password: new Secret(PASSWORD) });

describe("an invitation", () => {
  test("is returned with a working link", async () => {
    await using testServer = await createAdministration();
    const response = await testServer.invite(" Ben@Example.com ", "admin");
    expect(response.status).toBe(201);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const { id, invitation_url: url, ...invitation } = await response.json();
    expect(invitation).toEqual({
      email: "ben@example.com",
      role: "admin",
      status: "pending",
      inviter_email: "admin@example.com",
      expires_at: toRfc3339(START_MS + INVITATION_TTL_MS),
      created_at: toRfc3339(START_MS),
    });
    expect(url).toMatch(LINK);
    expect(url).not.toContain(id);
    expect(await accept(testServer, url)).toMatchObject({ email: "ben@example.com", role: "admin" });
  });

  test("shows its link in no later response and not in the log", async () => {
    await using testServer = await createAdministration();
    const { id, invitation_url: url } = await (await testServer.invite("ben@example.com")).json();
    const secret = tokenOf(url).reveal();
    for (const path of ["/admin/invitations", `/admin/invitations/${id}`]) {
      expect(await (await testServer.send("GET", path)).text()).not.toContain(secret);
    }
    const resent = await testServer.send("POST", `/admin/invitations/${id}/resend`);
    expect(await resent.text()).not.toContain(secret);
    expect(JSON.stringify(testServer.logged)).not.toContain(secret);
  });

  test("is returned in the documented shape, including expired ones", async () => {
    await using testServer = await createAdministration();
    const { id } = await (await testServer.invite("ben@example.com")).json();
    const show = async () => await (await testServer.send("GET", `/admin/invitations/${id}`)).json();
    const invitation = await show();
    expect([...Value.Errors(AdminInvitation, invitation)]).toEqual([]);
    expect(Object.keys(invitation).sort()).toEqual(Object.keys(AdminInvitation.properties).sort());
    await nextDay(testServer);
    expect((await show()).status).toBe("expired");
  });

  const WRONG: [body: unknown, outcome: string][] = [
    [{}, "422 request.invalid"],
    [{ email: "ben@example.com" }, "422 request.invalid"],
    [{ email: 1, role: "member" }, "422 request.invalid"],
    [{ email: "ben@example.com", role: "member", note: "hi" }, "422 request.invalid"],
    [{ email: "ben@example.com", role: "owner" }, "400 identity.invalid"],
    [{ email: "a@b@example.com", role: "member" }, "400 identity.invalid"],
    [{ email: "", role: "member" }, "400 identity.invalid"],
    [{ email: "ADMIN@example.com", role: "member" }, "409 user.exists"],
  ];
  test.each(WRONG)("refuses an invitation of %j: %s", async (body, outcome) => {
    await using testServer = await createAdministration();
    expect(await reasonOf(await testServer.send("POST", "/admin/invitations", body))).toBe(outcome);
  });

  const local = (length: number) => `${"a".repeat(length)}@example.com`;
  const label = "d".repeat(60);
  const whole = (length: number) => {
    const domain = `${label}.${label}.${label}.example`;
    return `${"a".repeat(length - domain.length - 1)}@${domain}`;
  };
  test.each([
    [local(EMAIL_LOCAL_LENGTH_MAX - 1), 201],
    [local(EMAIL_LOCAL_LENGTH_MAX), 201],
    [local(EMAIL_LOCAL_LENGTH_MAX + 1), 400],
    [whole(EMAIL_LENGTH_MAX - 1), 201],
    [whole(EMAIL_LENGTH_MAX), 201],
    [whole(EMAIL_LENGTH_MAX + 1), 400],
  ])("answers an invitation of an address as long as %s with %d", async (email, status) => {
    await using testServer = await createAdministration();
    expect((await testServer.invite(email)).status).toBe(status);
  });

  test("reports all invalid members together", async () => {
    await using testServer = await createAdministration();
    const { errors } = await (await testServer.invite("nobody", "owner")).json();
    expect(errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual(["/email", "/role"]);
  });

  test("refuses to invite an address again until its invitation expires", async () => {
    await using testServer = await createAdministration();
    const { invitation_url: first } = await (await testServer.invite("ben@example.com")).json();
    expect(await reasonOf(await testServer.invite("BEN@example.com"))).toBe("409 invitation.pending");
    await nextDay(testServer);
    const { invitation_url: second } = await (await testServer.invite("ben@example.com")).json();
    expect([works(testServer, first), works(testServer, second)]).toEqual([false, true]);
  });
});

/** Advances the clock past the expiry of invitations and renews the administrator's browser session, which expires too. */
async function nextDay(testServer: Administration): Promise<void> {
  testServer.world.clock.advance(INVITATION_TTL_MS);
  const { cookie } = await testServer.signInAgain(testServer.admin.user);
  testServer.admin.cookie = cookie;
}

describe("the list", () => {
  test("shows the newest first, in pages and in the documented shape", async () => {
    await using testServer = await createAdministration();
    for (const name of ["ann", "ben", "eva"]) await testServer.invite(`${name}@example.com`);
    const page = await (await testServer.send("GET", "/admin/invitations?per_page=2")).json();
    expect([...Value.Errors(AdminInvitationPage, page)]).toEqual([]);
    const { items, ...envelope } = page;
    expect(envelope).toEqual({ page: 1, per_page: 2, total: 3, total_pages: 2 });
    expect(items.map(({ email }: { email: string }) => email)).toEqual([
      "eva@example.com",
      "ben@example.com",
    ]);
  });

  test.each([
    ["", 3],
    ["?status=outstanding", 2],
    ["?role=admin", 1],
    ["?q=BEN", 1],
    ["?q=_", 0],
  ])("filtered by %p has %d invitations", async (query, total) => {
    await using testServer = await createAdministration();
    await testServer.invite("ann@example.com", "admin");
    await testServer.invite("ben@example.com");
    const { id } = await (await testServer.invite("eva@example.com")).json();
    await testServer.send("DELETE", `/admin/invitations/${id}`);
    expect(await (await testServer.send("GET", `/admin/invitations${query}`)).json()).toMatchObject({
      total,
    });
  });

  test.each([
    ["page=0", 400],
    ["page=1", 200],
    [`per_page=${PER_PAGE_MAX}`, 200],
    [`per_page=${PER_PAGE_MAX + 1}`, 400],
    [`q=${"q".repeat(SEARCH_LENGTH_MAX)}`, 200],
    [`q=${"q".repeat(SEARCH_LENGTH_MAX + 1)}`, 400],
    ["status=pending", 400],
    ["role=owner", 400],
    ["sort=email", 400],
  ])("requested with %s is answered %d", async (query, status) => {
    await using testServer = await createAdministration();
    expect((await testServer.send("GET", `/admin/invitations?${query}`)).status).toBe(status);
  });
});

describe("renewing", () => {
  test("keeps the link, or creates a new one and invalidates the old one", async () => {
    await using testServer = await createAdministration();
    const { id, invitation_url: first } = await (await testServer.invite("ben@example.com")).json();
    await nextDay(testServer);
    expect(works(testServer, first)).toBe(false);
    const resent = await testServer.send("POST", `/admin/invitations/${id}/resend`);
    expect(resent.status).toBe(200);
    const renewed = await resent.json();
    expect(renewed).toMatchObject({ id, status: "pending" });
    expect(renewed.expires_at).toBe(toRfc3339(START_MS + 2 * INVITATION_TTL_MS));
    expect(Object.keys(renewed)).not.toContain("invitation_url");
    expect(works(testServer, first)).toBe(true);

    const regenerated = await testServer.send("POST", `/admin/invitations/${id}/regenerate`);
    expect([regenerated.status, regenerated.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const { invitation_url: second, ...invitation } = await regenerated.json();
    expect(Value.Check(AdminInvitation, invitation)).toBe(true);
    expect([works(testServer, first), works(testServer, second)]).toEqual([false, true]);
  });

  const WAYS = ["resend", "regenerate"];
  test.each(WAYS)("is refused for a closed or unknown invitation: %s", async (way) => {
    await using testServer = await createAdministration();
    const { id, invitation_url: url } = await (await testServer.invite("ben@example.com")).json();
    const other = await (await testServer.invite("eva@example.com")).json();
    await accept(testServer, url);
    await testServer.send("DELETE", `/admin/invitations/${other.id}`);
    const renew = async (which: string) =>
      await reasonOf(await testServer.send("POST", `/admin/invitations/${which}/${way}`));
    expect(await renew(id)).toBe("409 invitation.closed");
    expect(await renew(other.id)).toBe("409 invitation.closed");
    expect(await renew(UNKNOWN_ID)).toBe("404 invitation.not_found");
    expect(await renew("no-uuid")).toBe("404 invitation.not_found");
  });
});

describe("canceling", () => {
  test("invalidates the link and may be repeated", async () => {
    await using testServer = await createAdministration();
    const { id, invitation_url: url } = await (await testServer.invite("ben@example.com")).json();
    for (const _again of [1, 2]) {
      expect((await testServer.send("DELETE", `/admin/invitations/${id}`)).status).toBe(204);
    }
    expect(works(testServer, url)).toBe(false);
    expect((await (await testServer.send("GET", `/admin/invitations/${id}`)).json()).status).toBe("canceled");
  });

  test("is refused after the invitation was accepted", async () => {
    await using testServer = await createAdministration();
    const { id, invitation_url: url } = await (await testServer.invite("ben@example.com")).json();
    await accept(testServer, url);
    const outcome = await reasonOf(await testServer.send("DELETE", `/admin/invitations/${id}`));
    expect(outcome).toBe("409 invitation.accepted");
  });

  test.each(["GET", "DELETE"])("%s of an unknown or malformed id is 404", async (method) => {
    await using testServer = await createAdministration();
    for (const id of [UNKNOWN_ID, "no-uuid", "%F0%9F%92%A9"]) {
      const outcome = await reasonOf(await testServer.send(method, `/admin/invitations/${id}`));
      expect(outcome).toBe("404 invitation.not_found");
    }
  });
});

test("an identity provider prevents new invitations and the renewal of earlier ones", async () => {
  await using before = await createAdministration();
  const { id } = await (await before.invite("ben@example.com")).json();
  const testServer = await createTestServer({ world: before.world, identity: { mode: "oidc" } });
  const send = async (path: string, body?: unknown) => {
    const sent = { cookie: before.admin.cookie, ...(body !== undefined && { body }) };
    return await reasonOf(await testServer.request("POST", path, sent));
  };
  const body = { email: "eva@example.com", role: "member" };
  expect(await send("/admin/invitations", body)).toBe("409 invitation.disabled");
  expect(await send(`/admin/invitations/${id}/resend`)).toBe("409 invitation.disabled");
  expect(await send(`/admin/invitations/${id}/regenerate`)).toBe("409 invitation.disabled");
});

describe("the limit of invitations for one administrator", () => {
  const LIMITED = { limits: { invitationsPerActor: 3, windowSeconds: 900 } };

  test("counts new links and returns the time to wait", async () => {
    await using testServer = await createAdministration(LIMITED);
    const { id } = await (await testServer.invite("ann@example.com")).json();
    expect((await testServer.invite("ben@example.com")).status).toBe(201);
    expect((await testServer.send("POST", `/admin/invitations/${id}/regenerate`)).status).toBe(200);
    testServer.world.clock.advance(100 * SECOND_MS);
    const fourth = await testServer.invite("eva@example.com");
    expect([fourth.status, fourth.headers.get("retry-after")]).toEqual([429, "800"]);
    expect((await fourth.json()).reason).toBe("access.too_many_attempts");
    const again = await testServer.send("POST", `/admin/invitations/${id}/regenerate`);
    expect(again.status).toBe(429);
    testServer.world.clock.advance(800 * SECOND_MS);
    expect((await testServer.invite("eva@example.com")).status).toBe(201);
  });

  test("leaves no trace of a refused invitation and does not count failed attempts", async () => {
    await using testServer = await createAdministration(LIMITED);
    for (let attempt = 0; attempt < 5; attempt += 1) {
      expect((await testServer.invite("admin@example.com")).status).toBe(409);
    }
    for (const name of ["ann", "ben", "eva"]) await testServer.invite(`${name}@example.com`);
    expect((await testServer.invite("kim@example.com")).status).toBe(429);
    expect(await (await testServer.send("GET", "/admin/invitations")).json()).toMatchObject({ total: 3 });
  });

  test("is separate for each administrator and does not apply to the operator", async () => {
    await using testServer = await createAdministration(LIMITED);
    for (const name of ["ann", "ben", "eva"]) await testServer.invite(`${name}@example.com`);
    const { accessToken: token } = await testServer.signedIn("admin");
    const body = { email: "kim@example.com", role: "member" };
    expect((await testServer.request("POST", "/admin/invitations", { token, body })).status).toBe(201);
    const operator = { ...testServer.world.system, kind: "operator" as const, label: "root" };
    for (let number = 0; number < 4; number += 1) {
      const invitation = { email: `op${number}@example.com`, role: "member" };
      await testServer.domain.identity.invitations.create(operator, invitation);
    }
    expect(await (await testServer.send("GET", "/admin/invitations")).json()).toMatchObject({ total: 8 });
  });
});
