// CON-158: the commands on pages are run on the same data directory, and have the effects of the forms.
import { afterAll, expect, test } from "bun:test";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { createClientsWorld } from "../../../domain/clients/clients-world.ts";
import { reportWith } from "../../../domain/clients/policies.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo } from "../../../support/browser/form-browser.ts";
import { commandsIn, runOn } from "../../../support/cli/shown-commands.ts";
import { publishFirst } from "../../../support/content/policy.ts";
import { capture, withCapture } from "../../../support/content/sessions.ts";
import type { Caller } from "../../../support/server.ts";

const site = await createClientsWorld();
afterAll(() => site[Symbol.asyncDispose]());
await withCapture(site);
const { world, domain } = site;
const admin = await site.signedIn("admin", { email: "admin@example.com" });
const browser = consoleBrowser(site, admin);

/** Runs a command. A command on a page asks for confirmation, as the page does. */
const run = (words: readonly string[], more: readonly string[] = []) => {
  expect(words).not.toContain("--yes");
  return runOn(site, [...words, ...more]);
};

const entries = () => world.db.read.select().from(auditEntries).all();
/** @returns the audit entries without their actor and target */
async function recordedBy(work: () => Promise<unknown>, subjects: readonly string[]) {
  const from = entries().length;
  await work();
  const hidden = (text: string | null) =>
    subjects.reduce((shown, subject) => shown.replaceAll(subject, "<subject>"), text ?? "");
  return entries()
    .slice(from)
    .map(({ action, after }) => `${action} ${hidden(after).replaceAll(/"\d{4}-[^"]*Z"/g, '"<time>"')}`);
}

const member = () => site.signedIn("member");
const report = async ({ accessToken: token }: Caller, instance: string): Promise<string> => {
  const body = reportWith({ instance_id: instance, hostname: instance });
  await site.request("POST", "/client-status", { token, body });
  return domain.clients.inventory.find(site.organizationId, instance).id;
};
const unique = (): string => world.ids.uuid().slice(-12);

interface Subject {
  /** path of the question; its form posts to the same path by default */
  page: string;
  action?: string;
  fields?: Record<string, string>;
  /** texts that distinguish this subject from the other one */
  names: readonly string[];
}

/** Creates one subject for the form and one for the command. */
const ACTIONS: Readonly<Record<string, () => Promise<Subject>>> = {
  ...Object.fromEntries(
    ["make-administrator", "suspend", "end-logins", "remove"].map((action) => [
      `users: ${action}`,
      async () => {
        const { user } = await member();
        const fields = action === "remove" ? { typed: user.email } : {};
        return { page: `/console/users/${user.id}/${action}`, fields, names: [user.id, user.email] };
      },
    ]),
  ),
  "users: resume": async () => {
    const { user } = await member();
    await domain.identity.users.update(world.system, user.id, { status: "suspended" });
    return { page: `/console/users/${user.id}/resume`, names: [user.id, user.email] };
  },
  "users: suspend two": async () => {
    const [one, other] = [(await member()).user, (await member()).user];
    const page = `/console/users/action?act=suspend&id=${one.id}&id=${other.id}`;
    return { page, action: "/console/users/action", names: [one.id, other.id, one.email, other.email] };
  },
  "users: end logins of all that match": async () => {
    const name = `match-${unique()}`;
    await site.signedIn("member", { email: `${name}@example.com` });
    const page = `/console/users/action?act=end_logins&all=1&filter=${encodeURIComponent(`?q=${name}`)}`;
    return { page, action: "/console/users/action", fields: { typed: "1" }, names: [name] };
  },
  "workstations: remove": async () => {
    const id = await report(await member(), unique());
    return {
      page: `/console/clients/action?act=remove&id=${id}`,
      action: "/console/clients/action",
      names: [id],
    };
  },
  "workstations: revoke": async () => {
    const id = await report(await member(), unique());
    return {
      page: `/console/clients/action?act=revoke&id=${id}`,
      action: "/console/clients/action",
      names: [id],
    };
  },
  "workstations: revoke two": async () => {
    const ids = [await report(await member(), unique()), await report(await member(), unique())];
    const page = `/console/clients/action?act=revoke&id=${ids[0]}&id=${ids[1]}`;
    return { page, action: "/console/clients/action", names: ids };
  },
  "workstations: remove all of a filter": async () => {
    const name = unique();
    await report(await member(), name);
    const page = `/console/clients/action?act=remove&all=1&filter=${encodeURIComponent(`?q=${name}`)}`;
    return { page, action: "/console/clients/action", fields: { typed: "1" }, names: [name] };
  },
  ...Object.fromEntries(
    ["extend", "cancel"].map((action) => [
      `invitations: ${action}`,
      async () => {
        const email = `${unique()}@example.com`;
        const { invitation } = await domain.identity.invitations.create(world.system, {
          email,
          role: "member",
        });
        return { page: `/console/invitations/${invitation.id}/${action}`, names: [invitation.id, email] };
      },
    ]),
  ),
  "logins: end one": async () => {
    const { loginSessionId, user } = await member();
    return { page: `/console/logins/${loginSessionId}/end`, names: [loginSessionId, user.id] };
  },
  "captured sessions: delete": async () => {
    const { accessToken: token } = await member();
    const { sessionId } = await capture(site, { token }, unique());
    return { page: `/console/sessions/${sessionId}/delete`, names: [sessionId] };
  },
  "tokens of identity providers: revoke": async () => {
    const label = `entra-${unique()}`;
    const { view } = await domain.scim.tokens.create(world.system, { label, profile: "entra" });
    return { page: `/console/identity/tokens/${view.id}/revoke`, names: [view.id, label] };
  },
};

test.each(Object.entries(ACTIONS))("CON-158 %s: the command does the same as the form", async (_, create) => {
  const byForm = await create();
  const recorded = await recordedBy(async () => {
    const page = await browser.visit(byForm.page);
    await browser.submit(formTo(page, byForm.action ?? byForm.page), byForm.fields ?? {});
  }, byForm.names);
  const byCommand = await create();
  const [words = []] = commandsIn((await browser.visit(byCommand.page)).html);
  const same = await recordedBy(async () => {
    const { exitCode, stderr } = await run(words, ["--yes"]);
    if (exitCode === 2 && stderr.includes("--yes")) await run(words);
  }, byCommand.names);
  expect(recorded).not.toEqual([]);
  expect(same).toEqual(recorded);
});

test("CON-158 the commands of all lists run", async () => {
  await publishFirst(site);
  const { html } = await browser.visit("/console");
  const pages = [...html.matchAll(/href="(\/console[^"#?]*)"/g)].map(([, path = ""]) => path);
  const failed: string[] = [];
  let ran = 0;
  for (const page of new Set(pages)) {
    const answer = await browser.visit(page);
    for (const words of commandsIn(answer.html)) {
      if (!/^(?:list|show|counts|explain|status|history|export)$/.test(words[1] ?? "")) continue;
      const { exitCode, stderr } = await run(words);
      ran += 1;
      if (exitCode !== 0) failed.push(`${page}: ${words.join(" ")}: ${stderr}`);
    }
  }
  expect(failed).toEqual([]);
  expect(ran).toBeGreaterThan(10);
});
