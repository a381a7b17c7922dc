// Problems while a policy is changed: invalid texts, revisions that no longer exist, two administrators at once, and ranges that no
// workstation meets. No input is lost.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { managedYaml } from "../../../../src/domain/governance/document/yaml.ts";
import { PLACES_LISTED_MAX } from "../../../../src/domain/governance/drafts/draft-merge.ts";
import { COMMENTS_LOST, LAST_VALID_TEXT } from "../../../../src/domain/governance/service.ts";
import { policyDrafts } from "../../../../src/domain/governance/tables.ts";
import type { Actor } from "../../../../src/domain/shared/actor.ts";
import { FORM_TEXT_BYTES_MAX } from "../../../../src/server/console/long-form.ts";
import { reportedHarness, reportWith } from "../../../domain/clients/policies.ts";
import { managedText } from "../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo, type Page } from "../../../support/browser/form-browser.ts";
import { createTestServer } from "../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const [ana, cleo] = [
  await site.signedIn("admin", { email: "ana@example.com" }),
  await site.signedIn("admin", { email: "cleo@example.com" }),
];
const [mine, theirs] = [consoleBrowser(site, ana), consoleBrowser(site, cleo)];
const { governance } = site.domain;
const [DISCARD, EDIT, REVIEW, MERGE, CODEX] = [
  "/console/policy/discard",
  "/console/policy/edit",
  "/console/policy/review",
  "/console/policy/merge",
  "/console/harnesses/codex",
];
const current = () => governance.revisions.inForce(site.world.organizationId);

beforeAll(async () => {
  await governance.deployments.apply(site.world.system, undefined);
});
afterEach(async () => {
  for (const { actor } of [ana, cleo]) {
    const draft = governance.drafts.own(actor);
    if (draft) await governance.drafts.discard(actor, draft.id);
  }
});

const save = async (text: string, from = mine): Promise<Page> =>
  from.submit(formTo(await from.visit(EDIT), EDIT), { text });
const publishAs = (actor: Actor, managedYaml: string) =>
  governance.publishing.publishPolicy(actor, { baseRevision: current().id, managedYaml });
const settings = (count: number, value: number) =>
  managedText({
    harnesses: {
      codex: {
        managed_config: Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value])),
      },
    },
  });

test("CON-49 a text that is broken on line 4,000 names the line, and returns unchanged", async () => {
  const lines = Array.from({ length: 5_000 }, (_, at) => `        - rule ${at + 1}`);
  const head = ["revision: x", "harnesses:", "  codex:", "    managed_config:", "      rules:"];
  lines[3_999 - head.length] = '        - "rule without an end';
  const text = [...head, ...lines].join("\n");
  const { html } = await save(text);
  expect(html).toContain("The draft is saved, but it cannot be published as it is.");
  const named = [...html.matchAll(/data-line="?(\d+)/g)].map(([, line]) => Number(line));
  expect(named).toEqual([4_000]);
  expect((await mine.visit(EDIT)).html).toContain("rule without an end\n        - rule 3996\n");
  const file = await mine.visit(`${REVIEW}/draft.yaml`);
  expect(file.html).toStartWith(`# ${LAST_VALID_TEXT}.\nrevision:`);
});

test("CON-53 every difference between a draft whose revision is gone and the current one is decided, and nothing is lost", async () => {
  await publishAs(cleo.actor, managedText({ required: true }));
  await save(managedText({ ttl_seconds: 61 }));
  const { id, version } = governance.drafts.existing(ana.actor);
  await site.world.db.write(
    (tx) => tx.update(policyDrafts).set({ baseRevision: "gone" }).where(eq(policyDrafts.id, id)).run(),
    "unobserved",
  );
  const review = await mine.visit(REVIEW);
  expect(review.html).toContain("The base revision of the draft is gone");
  expect(review.forms.map(({ action }) => action)).not.toContain(REVIEW);
  const stale = { version, draft: id };
  await expect(governance.draftPublishing.publish(ana.actor, stale)).rejects.toMatchObject({
    reason: "governance.stale_revision",
  });
  const question = await mine.submit(formTo(review, MERGE), {});
  expect(question.html).toContain(`The draft differs from r${current().sequence} in 2 places`);
  expect(question.html).not.toContain("Before both");
  const decided = await mine.submit(formTo(question, MERGE), { choice0: "mine", choice1: "mine" });
  expect(decided.html).toContain("The draft is merged.");
  expect(decided.html).toContain("Seconds until a policy is fetched again");
  expect(governance.drafts.existing(ana.actor)).toMatchObject({
    document: { ttl_seconds: 61, required: false },
  });
  await publishAs(cleo.actor, managedText({}));
});

test.each([
  ["ttl_seconds: 71 # an hour\n", true],
  ["# for the lab\nttl_seconds: 71\n", true],
  ["ttl_seconds: 71\n", false],
])("CON-53 a merge says before that it drops the comments of %j: %p", async (line, isSaid) => {
  await save(`${managedYaml(current().document).replace(/^ttl_seconds.*\n/m, "")}${line}`);
  await publishAs(cleo.actor, managedText({ ttl_seconds: 72 }));
  const review = await mine.visit(REVIEW);
  const question = await mine.submit(formTo(review, MERGE), {});
  for (const { html } of [review, question]) expect(html.includes(COMMENTS_LOST)).toBe(isSaid);
  await mine.submit(formTo(question, MERGE), { choice0: "mine" });
  expect(await governance.drafts.textOf(governance.drafts.existing(ana.actor))).not.toContain("#");
  await publishAs(cleo.actor, managedText({}));
});

test("CON-49 a form says before that saving it drops the comments of another text of the draft", async () => {
  const says = async (path: string, sentence: string) => (await mine.visit(path)).html.includes(sentence);
  const policyLost = "saving this form rewrites the text of the policy";
  const harnessLost = "saving this text rewrites the settings of each harness";
  expect(await says(CODEX, policyLost)).toBe(false);
  await save(`# for the lab\n${managedYaml(current().document)}`);
  expect(await says(CODEX, policyLost)).toBe(true);
  expect(await says(REVIEW, "the published policy has none")).toBe(false);
  await mine.submit(formTo(await mine.visit(CODEX), CODEX), {
    allowed: "yes",
    settings: "model: x # small\n",
  });
  expect(await says(CODEX, policyLost)).toBe(false);
  expect(await says("/console/policy/edit", harnessLost)).toBe(true);
  expect(await says(REVIEW, "the published policy has none")).toBe(true);
  await governance.drafts.discard(ana.actor, governance.drafts.existing(ana.actor).id);
});

test("CON-53 a merge that is sent without a choice names the missing one, and merges nothing", async () => {
  await save(managedText({ ttl_seconds: 71 }));
  await publishAs(cleo.actor, managedText({ ttl_seconds: 72 }));
  const question = await mine.submit(formTo(await mine.visit(REVIEW), MERGE), {});
  const { version } = governance.drafts.existing(ana.actor);
  const form = formTo(question, MERGE);
  const { choice0: _proposed, ...fields } = form.fields;
  const again = await mine.submit({ ...form, fields }, {});
  expect([question.status, again.status]).toEqual([200, 400]);
  expect(again.html).toContain("Choose a value for each place; nothing was merged.");
  expect(governance.drafts.existing(ana.actor).version).toBe(version);
  await mine.submit(formTo(again, MERGE), { choice0: "mine" });
  await publishAs(cleo.actor, managedText({}));
});

test("CON-118 values that were published after the reader decided are asked for again", async () => {
  await save(managedText({ ttl_seconds: 71 }));
  await publishAs(cleo.actor, managedText({ ttl_seconds: 72 }));
  const question = await mine.submit(formTo(await mine.visit(REVIEW), MERGE), {});
  await publishAs(cleo.actor, managedText({ ttl_seconds: 73 }));
  const again = await mine.submit(formTo(question, MERGE), { choice0: "mine" });
  expect(again.html).toContain("Decide these places again.");
  expect(again.html).toMatch(/Published:.*73/s);
  expect((await mine.submit(formTo(again, MERGE), { choice0: "mine" })).html).toContain("is merged.");
  expect(governance.drafts.existing(ana.actor).document.ttl_seconds).toBe(71);
  await publishAs(cleo.actor, managedText({}));
});

test("CON-118 the decisions of a merge stay when the draft was saved elsewhere in the meantime", async () => {
  await save(managedText({ ttl_seconds: 74 }));
  await publishAs(cleo.actor, managedText({ ttl_seconds: 75 }));
  const question = await mine.submit(formTo(await mine.visit(REVIEW), MERGE), {});
  await save(managedText({ ttl_seconds: 76 }));
  const stale = await mine.submit(formTo(question, MERGE), { choice0: "mine" });
  expect([stale.status, stale.heading]).toEqual([409, "Merge the draft"]);
  expect(stale.html).toContain("Your choices are kept below");
  expect(stale.html).toMatch(/value="mine" (?:checked|required checked|checked required)/);
  expect(stale.html).toMatch(/Draft:.*76/s);
  expect(governance.drafts.existing(ana.actor).document.ttl_seconds).toBe(76);
  const merged = await mine.submit(formTo(stale, MERGE), { choice0: "mine" });
  expect(merged.html).toContain("is merged.");
  expect(governance.drafts.existing(ana.actor).document.ttl_seconds).toBe(76);
  await publishAs(cleo.actor, managedText({}));
});

test("CON-52 reports that a draft exists that its author no longer shares", async () => {
  await save(managedText({ ttl_seconds: 77 }));
  const { id, version } = governance.drafts.existing(ana.actor);
  await governance.drafts.share(ana.actor, { version }, true);
  const path = `${REVIEW}?draft=${id}`;
  const opened = await theirs.visit(path);
  expect(opened.status).toBe(200);
  await governance.drafts.share(ana.actor, { version: version + 1 }, false);
  for (const answer of [await theirs.visit(path), await theirs.submit(formTo(opened, REVIEW), {})]) {
    expect(answer.path).toBe("/console/policy");
    expect(answer.html).toContain("The author of this draft does not share it");
  }
});

test("CON-62 going back to a revision asks before it replaces a draft, and again after another save", async () => {
  const page = `/console/policy/history/${current().sequence - 1}`;
  const formIn = (found: Page) =>
    formTo(found, found.forms.map(({ action }) => action).find((path) => path.endsWith("/draft")) ?? "");
  const opened = formIn(await mine.visit(page));
  await save(managedText({ ttl_seconds: 81 }));
  const question = await mine.submit(opened, {});
  expect(question.heading).toBe("Replace your draft");
  expect(question.html).toMatch(/Replace \d unpublished changes? with the content of r\d+\?/);
  await save(managedText({ ttl_seconds: 82 }));
  const again = await mine.submit(formIn(question), {});
  expect(again.heading).toBe("Replace your draft");
  expect(governance.drafts.existing(ana.actor).document.ttl_seconds).toBe(82);
  expect((await mine.submit(formIn(again), {})).html).toContain("The draft has the content of r");
});

test("CON-118 a draft that was saved after the question whether to discard it is not discarded", async () => {
  await save(managedText({ ttl_seconds: 83 }));
  const question = await mine.visit(DISCARD);
  await save(managedText({ ttl_seconds: 84 }));
  const again = await mine.submit(formTo(question, DISCARD), {});
  expect([again.status, again.html]).toEqual([
    409,
    expect.stringContaining("The draft was saved after this page was opened."),
  ]);
  expect(governance.drafts.existing(ana.actor).document.ttl_seconds).toBe(84);
  expect((await mine.submit(formTo(again, DISCARD), {})).html).toContain("The draft is discarded.");
});

test("CON-54 one of two administrators who publish at the same moment wins, and the other gets a message and keeps the draft", async () => {
  await save(managedText({ ttl_seconds: 62 }), mine);
  await save(managedText({ required: true }), theirs);
  const before = current().sequence;
  const both = await Promise.all(
    [mine, theirs].map(async (browser) =>
      browser.submit(formTo(await browser.visit(REVIEW), REVIEW), { comment: "at once" }),
    ),
  );
  expect(current().sequence).toBe(before + 1);
  const won = both.filter(({ html }) => html.includes("is published."));
  const [lost] = both.filter((page) => !won.includes(page));
  expect(won).toHaveLength(1);
  expect([lost?.status, lost?.html.includes("Somebody else has published")]).toEqual([409, true]);
  expect(lost?.html).toMatch(/Copy your comment, which is not stored:.*at once/s);
  const loser = current().authorLabel === "ana@example.com" ? theirs : mine;
  const merged = await loser.submit(formTo(await loser.visit(REVIEW), MERGE), {});
  expect((await loser.submit(formTo(merged, REVIEW), { comment: "both" })).html).toContain("is published.");
  expect(current().document).toMatchObject({ ttl_seconds: 62, required: true });
});

test("CON-53 places on the second page of a merge are decided beside those of the first", async () => {
  const count = PLACES_LISTED_MAX + 2;
  await publishAs(cleo.actor, settings(count, 1));
  await save(settings(count, 2));
  await publishAs(cleo.actor, settings(count, 3));
  let page = await mine.submit(formTo(await mine.visit(REVIEW), MERGE), {});
  for (const choice of ["mine", "theirs"]) {
    const form = formTo(page, MERGE);
    const parameters = Object.keys(form.fields).filter((name) => name.startsWith("path"));
    const choices = parameters.flatMap((name) => {
      const field = name.replace("path", "choice");
      return page.html.includes(`type="radio" name="${field}"`) ? [[field, choice]] : [];
    });
    page = await mine.submit(form, Object.fromEntries(choices));
  }
  expect(page.html).toContain("The draft is merged.");
  const { codex } = governance.drafts.existing(ana.actor).document.harnesses;
  const values = Object.values(codex?.managed_config ?? {});
  expect(values.filter((value) => value === 2)).toHaveLength(PLACES_LISTED_MAX);
  expect(values.filter((value) => value === 3)).toHaveLength(2);
});

test("CON-58 a range that shuts out the whole fleet is named before it is published", async () => {
  for (const at of [1, 2]) {
    const report = reportWith({
      instance_id: `shut-${at}`,
      harnesses: [reportedHarness({ version: `0.145.${at}` })],
    });
    await site.request("POST", "/client-status", { token: ana.accessToken, body: report });
  }
  const range = async (requirement: string) =>
    await mine.submit(formTo(await mine.visit(CODEX), CODEX), {
      requirement,
      allowed: "yes",
      unverified: "yes",
      settings: "",
    });
  expect((await range(">=0.145.2")).html).not.toContain("No workstation would");
  const { html } = await range(">=0.146.0");
  expect(html).toContain("No workstation would be allowed to run Codex.");
  expect(html).toContain("Versions that would be refused");
  expect(html).toContain("that have it have a version that the draft refuses.");
  const closed = await save(managedText({ allowed_harnesses: [] }));
  expect(closed.html).toContain("No workstation would be allowed to run Codex.");
  expect(closed.html.replaceAll(/<[^>]*>/g, "")).toContain(
    "The draft does not allow it; 2 workstations have it.",
  );
  expect(closed.html).not.toContain("a version that the draft refuses");
  expect(closed.html).toContain("Required: No harness is allowed");
});

test("CON-51 the form of a harness keeps and reports the typed text when the draft was discarded", async () => {
  await mine.submit(formTo(await mine.visit(CODEX), CODEX), { allowed: "yes", settings: "model: first" });
  const open = formTo(await mine.visit(CODEX), CODEX);
  await governance.drafts.discard(ana.actor, governance.drafts.existing(ana.actor).id);
  const kept = await mine.submit(open, { allowed: "yes", settings: "model: second" });
  expect(kept.status).toBe(409);
  for (const shown of ["the draft was published or discarded, or a restore removed", "model: second"])
    expect(kept.html).toContain(shown);
  await mine.submit(formTo(kept, CODEX), { allowed: "yes", settings: "model: second" });
  expect(governance.drafts.existing(ana.actor).document.harnesses.codex?.managed_config).toEqual({
    model: "second",
  });
});

test("CON-49 CON-51 the form of a harness keeps the typed text when the draft was saved elsewhere, is broken, or the text is too long", async () => {
  const [first, second] = [formTo(await mine.visit(CODEX), CODEX), formTo(await mine.visit(CODEX), CODEX)];
  await mine.submit(first, { allowed: "yes", settings: "model: first" });
  const kept = await mine.submit(second, {
    allowed: "yes",
    settings: "model: second",
    requirement: ">=1",
    unverified: "yes",
  });
  expect(kept.status).toBe(409);
  expect(kept.html).toContain("saved elsewhere after you opened it");
  for (const model of ["first", "second"]) expect(kept.html).toContain(`model: ${model}`);
  expect(
    (await mine.submit(formTo(kept, CODEX), { allowed: "yes", settings: "model: second" })).html,
  ).toContain("Review your draft");
  const long = `# ${"x".repeat(FORM_TEXT_BYTES_MAX)}`;
  const refused = await mine.submit(formTo(await mine.visit(CODEX), CODEX), {
    allowed: "yes",
    settings: long,
  });
  expect(refused.html).toContain("a policy has at most 2097152");
  expect(refused.html).toContain(long.slice(-100));
  await save("revision: x\nrequird: true\n");
  const broken = await mine.submit(formTo(await mine.visit(CODEX), CODEX), {
    allowed: "yes",
    settings: "model: third",
  });
  expect(broken.html).toContain("problems that must be solved first");
  expect(broken.html).toContain("model: third");
});
