// Invitations in the console.
import { afterAll, describe, expect, test } from "bun:test";
import { CONFIRMATION_TTL_MS } from "../../../src/domain/access/second-factor/model.ts";
import { INVITED_AT_ONCE_MAX } from "../../../src/server/console/people/invitation-list.tsx";
import { PROBLEM_BYTES_MAX } from "../../../src/server/http/problems/problem.ts";
import { REPEATED_CHARACTERS_MAX } from "../../../src/server/routes/console/people/invitation-pages.ts";
import { consoleBrowser } from "../../support/browser/console-browser.ts";
import { type FormBrowser, formTo, type Page } from "../../support/browser/form-browser.ts";
import { createTestServer, PASSWORD } from "../../support/server.ts";

const site = await createTestServer({ limits: { invitationsPerActor: INVITED_AT_ONCE_MAX + 20 } });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "admin@example.com" });
const { invitations } = site.domain.identity;
const { organizationId } = site.world;

const read = async (path = "", { request } = site, { cookie } = admin) => {
  const answer = await request("GET", `/console/invitations${path}`, { cookie });
  return { status: answer.status, html: await answer.text() };
};
const hidden = (html: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? "";
/** Opens the page at the path and sends its form, twice if asked. */
const send = async (path: string, fields: Record<string, string> = {}, times = 1) => {
  const { html } = await read(path);
  const form = { csrf: hidden(html, "csrf"), once: hidden(html, "once"), ...fields };
  const answers = [];
  for (let time = 0; time < times; time += 1) {
    const answer = await site.request("POST", `/console/invitations${path}`, {
      cookie: admin.cookie,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(form).toString(),
    });
    answers.push({ status: answer.status, headers: answer.headers, html: await answer.text() });
  }
  return answers;
};
const linksIn = (html: string): string[] => [
  ...new Set([...html.matchAll(/accept-invitation\?token=([\w-]{43})/g)].map(([, token = ""]) => token)),
];
const invitationOf = (email: string) => {
  const [found] = invitations.list(organizationId, { q: email }).items;
  if (!found) throw new Error(`${email} is not invited`);
  return found;
};

const LONG_WORD_CHARACTERS = 20_000;

describe("CON-73 invitations", () => {
  test("explain how to fill the list", async () => {
    const { status, html } = await read();
    expect([status, html.includes("Nobody has been invited yet.")]).toEqual([200, true]);
  });

  test("repeat only a part of an invalid address", async () => {
    const [answer] = await send("", { addresses: "&".repeat(LONG_WORD_CHARACTERS), role: "member" });
    expect(answer?.html).toContain("0 people invited");
    expect(answer?.html.length).toBeLessThan(PROBLEM_BYTES_MAX);
    expect(answer?.html).toContain("&amp;…");
  });

  test("makes invitations for pasted addresses, with a result for each, only once for a repeated form", async () => {
    const addresses = "ana@example.com, <bob@example.com>;\r\nana@example.com\n admin@example.com <script>x";
    const [first, again] = await send("", { addresses, role: "member" }, 2);
    expect([first?.status, first?.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(first?.html).toContain("2 people invited");
    expect(first?.html).toContain("admin@example.com already belongs to a user.");
    expect(first?.html).toContain("&lt;script>x");
    expect(linksIn(first?.html ?? "")).toHaveLength(2);
    expect(linksIn(again?.html ?? "")).toEqual(linksIn(first?.html ?? ""));
    expect(invitations.list(organizationId, {}).total).toBe(2);
    const { html } = await read();
    expect([html.includes("bob@example.com"), linksIn(html)]).toEqual([true, []]);
    expect((await read("?q=ana&role=member&status=outstanding")).html).not.toContain("bob@example.com");
    expect((await read("?role=x")).status).toBe(400);
  });

  test.each([
    [INVITED_AT_ONCE_MAX - 1, 200],
    [INVITED_AT_ONCE_MAX, 200],
    [INVITED_AT_ONCE_MAX + 1, 400],
    [0, 400],
  ])("%p addresses are answered with %p", async (count, status) => {
    const words = Array.from({ length: count }, (_, index) => `no-address-${index}`);
    const [answer] = await send("", { addresses: words.join("\n") });
    expect(answer?.status).toBe(status);
    if (count > INVITED_AT_ONCE_MAX) {
      expect(answer?.html).toContain("You entered 101 addresses. Invite at most 100 at a time.");
      expect(answer?.html).toContain("no-address-100</textarea>");
    }
  });

  test.each([REPEATED_CHARACTERS_MAX, REPEATED_CHARACTERS_MAX + 1, 50_000])(
    "%p characters are refused with the maximum, and shown again unless they are too many",
    async (length) => {
      const words = Array.from({ length: 200 }, (_, index) => `a-${index}`).join("\n");
      const [answer] = await send("", { addresses: words.padEnd(length, "z") });
      expect(answer?.status).toBe(400);
      expect(answer?.html).toContain("You entered 200 addresses. Invite at most 100 at a time.");
      expect(answer?.html.includes("z</textarea>")).toBe(length <= REPEATED_CHARACTERS_MAX);
    },
  );

  test("CON-121 CON-145 get a new link only once for a repeated form, and the old one stops working", async () => {
    const { id } = invitationOf("bob@example.com");
    expect((await read(`/${id}/new-link`)).html).toContain("The old one stops working now.");
    const [first, again] = await send(`/${id}/new-link`, {}, 2);
    expect(linksIn(first?.html ?? "")).toHaveLength(1);
    expect(linksIn(again?.html ?? "")).toEqual(linksIn(first?.html ?? ""));
  });

  test("CON-121 CON-122 a form sent again with other lines invites only the new ones, and a damaged one nobody", async () => {
    const browser = consoleBrowser(site, admin);
    const list = formTo(await browser.visit("/console/invitations"), "/console/invitations");
    const first = await browser.submit(list, { addresses: "second@example.com" });
    const more = await browser.submit(list, { addresses: "first@example.com\nsecond@example.com" });
    expect(linksIn(more.html).slice(1)).toEqual(linksIn(first.html));
    const damaged = await browser.submit(list, { addresses: "third@example.com", once: "two words" });
    expect([damaged.status, invitations.list(organizationId, { q: "third" }).total]).toEqual([400, 0]);
    expect(damaged.html).toContain("Nothing was done, because the form arrived damaged");
  });

  test("CON-145 a form that is sent again does not show a link that was canceled or replaced since", async () => {
    const browser = consoleBrowser(site, admin);
    const list = formTo(await browser.visit("/console/invitations"), "/console/invitations");
    const addresses = "replaced@example.com\ncanceled@example.com\nwaiting@example.com";
    const first = await browser.submit(list, { addresses });
    expect(first.html).toContain("No other page shows them. Encrypted copies are kept for 24 hours");
    const path = `/console/invitations/${invitationOf("replaced@example.com").id}/new-link`;
    const question = formTo(await browser.visit(path), path);
    const renewed = await browser.submit(question, {});
    await invitations.cancel(site.world.system, invitationOf("canceled@example.com").id);

    const again = await browser.submit(list, { addresses });
    expect(linksIn(again.html)).toEqual(linksIn(first.html).slice(2));
    expect(again.html.split("its link no longer works")).toHaveLength(3);
    expect(linksIn((await browser.submit(question, {})).html)).toEqual(linksIn(renewed.html));

    await invitations.regenerate(site.world.system, invitationOf("replaced@example.com").id);
    const late = await browser.submit(question, {});
    expect([late.status, linksIn(late.html)]).toEqual([409, []]);
    expect(late.html).toContain("that link no longer works");
  });

  test("extends and cancels invitations after a confirmation", async () => {
    const { id, expiresAtMs } = invitationOf("ana@example.com");
    site.world.clock.advance(60_000);
    const [extended] = await send(`/${id}/extend`);
    expect([extended?.status, invitations.show(organizationId, id).expiresAtMs]).toEqual([
      303,
      expiresAtMs + 60_000,
    ]);
    await send(`/${id}/cancel`);
    expect(invitations.show(organizationId, id).status).toBe("canceled");
    const [late] = await send(`/${id}/extend`);
    expect([late?.status, late?.html.includes("was accepted or canceled")]).toEqual([409, true]);
    expect([(await read(`/${id}/x`)).status, (await read("/x/cancel")).status]).toEqual([404, 404]);
  });

  test("explain why they are closed if an identity provider signs people in", async () => {
    await using closed = await createTestServer({ identity: { mode: "oidc" } });
    const { html } = await read("", closed, await closed.signedIn("admin"));
    expect(html).toContain("the identity provider manages sign-in");
    expect(html).not.toContain("Invite people");
  });
});

test("CON-147 the limit on invitations applies to the form and to the API", async () => {
  const invite = async (name: string) =>
    (
      await site.request("POST", "/admin/invitations", {
        token: admin.accessToken,
        body: { email: `${name}@example.com`, role: "member" },
      })
    ).status;
  let sent = 0;
  while ((await invite(`limited-${sent}`)) === 201) sent += 1;
  expect(await invite("one-more")).toBe(429);
  const [form] = await send("", { addresses: "by-form@example.com", role: "member" });
  expect(form?.html).toMatch(/[Tt]oo many/);
  expect(invitations.list(organizationId, { q: "by-form" }).items).toEqual([]);
});

describe("CON-146 a sender who must confirm who it is sends the same form again", () => {
  test("keeps the addresses and the role", async () => {
    await using own = await createTestServer();
    const browser = consoleBrowser(own, await own.signedIn("admin", { email: "boss@example.com" }));
    const PATH = "/console/invitations";
    const open = formTo(await browser.visit(PATH), PATH);
    own.world.clock.advance(CONFIRMATION_TTL_MS);
    const emails = "one@example.com\ntwo@example.com";
    const kept = await browser.submit(open, { addresses: emails, role: "admin" });
    expect(own.domain.identity.invitations.list(own.world.organizationId, {}).items).toEqual([]);
    expect(formTo(kept, PATH).fields).toMatchObject({ role: "admin" });
    await confirmAndSend(browser, kept, PATH);
    const { items } = own.domain.identity.invitations.list(own.world.organizationId, {});
    expect(items.map(({ email, role }) => [email, role]).toSorted()).toEqual([
      ["one@example.com", "admin"],
      ["two@example.com", "admin"],
    ]);
  });

  test.each(["extend", "new-link"])(
    "keeps the action %s on the invitation of an administrator",
    async (action) => {
      await using own = await createTestServer();
      const boss = await own.signedIn("admin", { email: "boss@example.com" });
      const browser = consoleBrowser(own, boss);
      const { invitations } = own.domain.identity;
      const wanted = { email: "one@example.com", role: "admin" };
      const { invitation } = await invitations.create(own.world.system, wanted);
      const PATH = `/console/invitations/${invitation.id}/${action}`;
      const question = formTo(await browser.visit(PATH), PATH);
      own.world.clock.advance(CONFIRMATION_TTL_MS);
      const kept = await browser.submit(question, {});
      const expiry = () => invitations.show(own.world.organizationId, invitation.id).expiresAtMs;
      expect(expiry()).toBe(invitation.expiresAtMs);
      await confirmAndSend(browser, kept, PATH);
      expect(expiry()).toBe(invitation.expiresAtMs + CONFIRMATION_TTL_MS);
    },
  );
});

/** Confirms in another tab as the page of the refused form says, and sends the form again. */
async function confirmAndSend(browser: FormBrowser, kept: Page, path: string): Promise<void> {
  expect([kept.status, kept.heading]).toEqual([403, "Confirm that it is you"]);
  const again = formTo(kept, path);
  const [, confirm = ""] = /href="([^"]*second-factor[^"]*)"/.exec(kept.html) ?? [];
  const question = await browser.visit(confirm.replaceAll("&amp;", "&"));
  await browser.submit(formTo(question, "/account/second-factor/confirm"), { password: PASSWORD });
  await browser.submit(again, {});
}
