// The values of the variables of MCP servers in the console: hidden on every page until asked for, and kept by a form that does not
// show them.
import { afterAll, beforeEach, expect, test } from "bun:test";
import { HIDDEN, HIDDEN_OTHER } from "../../../../src/domain/governance/shown/hidden-secrets.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { type Form, formTo, type Page } from "../../../support/browser/form-browser.ts";
import { publishFirst } from "../../../support/content/policy.ts";
import { createTestServer } from "../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
const { governance } = site.domain;
const current = () => governance.revisions.inForce(site.world.organizationId);

const FORM = "/console/mcp/docs";
/** text that occurs in every value */
const MARK = "s3cr3t";
const ENV = { TOKEN: `${MARK} "&<\u00e9`, PEM: `  ${MARK}\n\n\t${MARK}\n`, "A B": MARK, NONE: "" };
const serverWith = (env: Record<string, string>) => ({ name: "docs", command: "docs", env, disabled: false });
const inFile = (value: string) => ({ harnesses: { codex: { mcp: [serverWith({ TOKEN: value })] } } });

const publish = (env: Record<string, string>) =>
  governance.publishing.publishExtensions(admin.actor, {
    baseRevision: current().id,
    packages: [],
    mcp: { codex: [serverWith(env)] },
  });
const draftOf = () => governance.drafts.existing(admin.actor);
const drafted = () => draftOf().document.harnesses.codex?.mcp[0];
const withMark = (html: string) => html.includes(MARK);

const areasIn = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<textarea[^>]*? name="([^"]*)"[^>]*>\n?([^<]*)/g)].map(([, name = "", text = ""]) => [
      name,
      text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&amp;", "&"),
    ]),
  );

/** The fields that a browser sends for the form: every field of the page, and one button. */
const press = (page: Page, act: string, changed: Record<string, string> = {}): Promise<Page> => {
  const form = formTo(page, FORM);
  const fields = { ...form.fields, ...areasIn(page.html), kind: "local", ...changed };
  return browser.submit({ ...form, fields } satisfies Form, { act });
};

beforeEach(async () => {
  await publishFirst(site, inFile(`${MARK} 0`));
  await publish(ENV);
  if (governance.drafts.own(admin.actor)) await governance.drafts.discard(admin.actor, draftOf().id);
});

test("CON-144 pages about the policy have no value before the reader asks for it", async () => {
  await publish({ ...ENV, TOKEN: `${MARK} 1` });
  await publishFirst(site, inFile(`${MARK} 2`)); // a conflict
  await governance.drafts.saveMcp(
    admin.actor,
    { version: 0 },
    { codex: [serverWith({ ...ENV, NEW: MARK })] },
  );
  const explain = `/console/policy/explain?user=${admin.user.email}&harness=codex&with_draft=yes`;
  const pages = [
    ...["/console/policy", `/console/policy/history/${current().sequence}`, "/console/policy/diff"],
    ...["/console/policy/review", explain],
  ];
  for (const path of pages) {
    const { html } = await browser.visit(path);
    expect([path, withMark(html), html.includes(HIDDEN)]).toEqual([path, false, true]);
    const [, link = ""] = /href="([^"]*values=shown)"/.exec(html) ?? [];
    expect([path, withMark((await browser.visit(link.replaceAll("&amp;", "&"))).html)]).toEqual([path, true]);
  }
  const others = [FORM, "/console/me/policy?harness=codex", "/console/mcp", "/console/mcp.csv"];
  for (const path of others)
    expect([path, withMark((await browser.visit(path)).html)]).toEqual([path, false]);
  expect((await browser.visit("/console/policy")).html).toContain(HIDDEN_OTHER); // the value of the file
  expect((await browser.visit("/console/policy/diff")).html).toContain(
    `<ins><bdi>          TOKEN: ${HIDDEN_OTHER}`,
  );
});

test("CON-144 secrets in settings and arguments are hidden until the reader asks for them, and the review warns of new ones", async () => {
  const withSecrets = (mark: string) => ({
    harnesses: {
      codex: {
        managed_config: {
          api_key: mark,
          headers: [`--password=${mark}`],
          model: "large",
          proxy: `https://ana:${mark}@proxy.example`,
        },
        mcp: [{ ...serverWith({}), args: ["-v", "--token", mark] }],
      },
    },
  });
  await publishFirst(site, withSecrets(`${MARK} 1`));
  const { codex } = withSecrets(`${MARK} 2`).harnesses;
  const { version } = await governance.drafts.saveMcp(admin.actor, { version: 0 }, { codex: codex.mcp });
  const text = await governance.drafts.textOf(draftOf());
  await governance.drafts.savePolicy(admin.actor, { version }, text.replaceAll(`${MARK} 1`, `${MARK} 2`));
  const explain = `user=${admin.user.email}&harness=codex&with_draft=yes`;
  const paths = [
    ...["/console/policy", `/console/policy/history/${current().sequence}`, "/console/policy/diff"],
    ...["/console/policy/review", `/console/policy/explain?${explain}`, "/console/me/policy?harness=codex"],
  ];
  for (const path of paths) {
    const { html } = await browser.visit(path);
    expect([path, withMark(html), html.includes(HIDDEN), html.includes("large")]).toEqual([
      path,
      false,
      true,
      true,
    ]);
    const [, link = ""] = /href="([^"]*values=shown)"/.exec(html) ?? [];
    const shown = await browser.visit(link.replaceAll("&amp;", "&"));
    expect([path, withMark(shown.html), shown.html.includes("Hide values")]).toEqual([path, true, true]);
  }
  const { html } = await browser.visit("/console/policy/review");
  expect(html).toContain(HIDDEN_OTHER);
  const [, warning = ""] = /id="secrets">(.*?)<\/section>/s.exec(html) ?? [];
  const places = ["api_key", "proxy", "docs args 2", "headers.0"];
  expect(places.filter((place) => !warning.includes(place))).toEqual([]);
});

test("CON-144 a merge hides the values that both changed, and links to them", async () => {
  await governance.drafts.saveMcp(
    admin.actor,
    { version: 0 },
    { codex: [serverWith({ TOKEN: `${MARK} 3` })] },
  );
  await publish({ ...ENV, TOKEN: `${MARK} 4` });
  const { html } = await browser.submit(
    formTo(await browser.visit("/console/policy/review"), "/console/policy/merge"),
    {},
  );
  expect([withMark(html), html.includes(HIDDEN_OTHER), html.includes("policy/review?values=shown")]).toEqual([
    false,
    true,
    true,
  ]);
});

test("CON-144 a form that shows no value saves every value unchanged", async () => {
  const page = await browser.visit(FORM);
  expect(withMark(page.html)).toBe(false);
  const more = await press(page, "add_arg:0");
  const { status } = await press(more, "save", {
    arg0: "-y",
    harness_codex: "yes",
    enabled: "yes",
    accepted: "yes",
  });
  expect([status, drafted()]).toEqual([200, { ...serverWith(ENV), args: ["-y"] }]);
});

test("CON-144 a variable is renamed, replaced, removed and shown without the others", async () => {
  const rest = { harness_codex: "yes", enabled: "yes", accepted: "yes" };
  const shown = await press(await browser.visit(FORM), "show_env:0", rest);
  expect(shown.html.split(MARK)).toHaveLength(2);
  const replaced = await press(shown, "new_env:2", rest);
  const removed = await press(replaced, "drop_env:1", rest);
  await press(removed, "save", { ...rest, env_name0: "KEY", env_value1: "new" });
  expect(drafted()).toEqual(serverWith({ KEY: ENV.TOKEN, "A B": "new", NONE: "" }));
});

test("CON-144 CON-118 a value that was saved elsewhere in the meantime is neither shown nor overwritten", async () => {
  const rest = { harness_codex: "yes", enabled: "yes", accepted: "yes" };
  const page = await browser.visit(FORM);
  await governance.drafts.saveMcp(
    admin.actor,
    { version: 0 },
    { codex: [serverWith({ ...ENV, TOKEN: "newer" })] },
  );
  const stale = await press(page, "save", rest);
  expect([stale.status, withMark(stale.html), stale.html.includes("newer")]).toEqual([409, false, false]);
  await press(stale, "save", rest);
  expect(drafted()).toEqual(serverWith({ ...ENV, TOKEN: "newer" }));
  await governance.drafts.saveMcp(admin.actor, draftOf(), { codex: [serverWith({ TOKEN: "newer" })] });
  const gone = await press(stale, "save", { ...rest, version: String(draftOf().version) });
  expect(gone.status).toBe(400);
  expect(gone.html).toContain("Variable PEM needs its value again");
  expect(drafted()).toEqual(serverWith({ TOKEN: "newer" }));
});

test("CON-119 CON-144 a value that was entered in a session that ended must be entered again", async () => {
  const rest = { harness_codex: "yes", enabled: "yes", accepted: "yes" };
  const page = await press(await browser.visit(FORM), "new_env:0", rest);
  const entered = {
    ...formTo(page, FORM),
    fields: { ...formTo(page, FORM).fields, ...rest, env_value0: MARK },
  };
  const question = await browser.submit(entered, { csrf: "0", act: "save" });
  expect([question.status, withMark(question.html)]).toEqual([403, false]);
  const again = await browser.submit(formTo(question, FORM), {});
  expect([again.status, governance.drafts.own(admin.actor)]).toEqual([400, undefined]);
  expect(again.html).toContain("Variable TOKEN needs its value again");
});
