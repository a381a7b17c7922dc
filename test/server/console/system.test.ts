// CON-91 to CON-96: the pages about the installation, over the real domain.
import { afterAll, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { RESPONSES_PER_CALLER_MAX } from "../../../src/domain/idempotency/service.ts";
import { addJob } from "../../../src/platform/scheduler/store.ts";
import { jobs } from "../../../src/platform/scheduler/tables.ts";
import { JOB_TEXTS } from "../../../src/server/console/system/words.ts";
import { consoleBrowser } from "../../support/browser/console-browser.ts";
import { formTo } from "../../support/browser/form-browser.ts";
import { publishFirst } from "../../support/content/policy.ts";
import { createTestServer } from "../../support/server.ts";
import { readSources } from "../../support/source.ts";

const site = await createTestServer({ consoleAuditors: () => ["auditor@example.com"] });
afterAll(() => site[Symbol.asyncDispose]());
const { world, domain } = site;
const admin = await site.signedIn("admin");
const browser = consoleBrowser(site, admin);
const auditor = consoleBrowser(site, await site.signedIn("member", { email: "auditor@example.com" }));

const newestEntry = () =>
  domain.auditLog.listByKey(admin.actor.organizationId, { limit: 1 }).items[0] ?? { action: "", target: "" };

describe("CON-91 the installation", () => {
  test("shows problems with their remedies, the service, the disk and outgoing connections", async () => {
    const { status, html } = await browser.visit("/console/system");
    expect(status).toBe(200);
    expect(html).toContain("no backup has been made yet");
    expect(html).toContain('data-copy="quartermaster backup create"');
    expect(html).toContain("quartermaster doctor --deep");
    for (const label of [
      "Version",
      "Schema",
      "Running since",
      "Free disk space",
      "Write-ahead log",
      "Request log",
    ])
      expect(html).toContain(`<dt>${label}</dt>`);
    expect(html).toContain("The settings allow no outgoing connection");
  });

  test("examines all: deep checks run for administrators, auditors see their findings", async () => {
    const before = await browser.visit("/console/system");
    expect(before.html).toContain("They have not run since the service started.");
    expect((await auditor.visit("/console/system")).html).not.toContain("Examine all");
    const examined = await browser.submit(formTo(before, "/console/system/examination"), {});
    expect(examined.html).toContain("All checks have run.");
    const { html } = await auditor.visit("/console/system");
    expect(html.match(/<bdi>foreign keys<\/bdi>/g)).toHaveLength(1);
    const state = await site.request("GET", "/admin/doctor/examination", { cookie: admin.cookie });
    const { last, ...rest } = await state.json();
    expect(rest).toEqual({ state: "done", problem: null });
    expect(last.checks.map(({ check }: { check: string }) => check)).toContain("integrity");
  });
});

describe("CON-92 the jobs", () => {
  const later = world.clock.nowMs() + 3_600_000;
  const act = async (name: string, action: string) =>
    browser.submit(formTo(await browser.visit("/console/system/jobs"), `/console/system/jobs/${name}`), {
      act: action,
    });

  test("explains that there are no jobs yet", async () => {
    expect((await browser.visit("/console/system/jobs")).html).toContain("There are no jobs yet.");
  });

  test("CON-92 has a description of every job", async () => {
    const named = (await readSources(["src"])).flatMap(({ text }) =>
      [...text.matchAll(/(?:_JOB = |\.register\(\{[^}]*?\bname: )"([a-z]+(?:-[a-z]+)*)"/g)].map(
        ([, name = ""]) => name,
      ),
    );
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((name) => !JOB_TEXTS.has(name))).toEqual([]);
  });

  test("shows the jobs with what they do, their last result and its error as text", async () => {
    const nowMs = world.clock.nowMs();
    await world.db.write((tx) => {
      for (const name of ["access-sweep", "backup"]) addJob(tx, name, later);
      const ran = { lastStartedAtMs: nowMs - 2_000, lastFinishedAtMs: nowMs, lastOutcome: "failed" } as const;
      tx.update(jobs)
        .set({ ...ran, lastError: "<script>alert(1)</script>\u202e" })
        .where(eq(jobs.name, "backup"))
        .run();
    });
    const { html } = await browser.visit("/console/system/jobs");
    for (const text of [
      "Removes logins, codes and links that have expired",
      "has not run yet",
      ">Failed<",
      ">2\u00a0s<",
    ])
      expect(html).toContain(text);
    expect(html).not.toContain("<script>alert");
    expect(html).toContain("quartermaster jobs run backup");
  });

  test.each([
    ["run", "starts within two seconds", "job.run"],
    ["pause", "is paused", "job.pause"],
    ["resume", "is resumed", "job.resume"],
  ])("can be told to %s, which is recorded", async (action, text, entry) => {
    expect((await act("access-sweep", action)).html).toContain(`access-sweep ${text}`);
    expect(newestEntry()).toMatchObject({ action: entry, target: "access-sweep" });
  });

  test("say if nothing changed, and refuse unknown actions and jobs", async () => {
    expect((await act("backup", "resume")).html).toContain("Nothing changed");
    expect((await act("backup", "explode")).status).toBe(400);
    const form = formTo(await browser.visit("/console/system/jobs"), "/console/system/jobs/backup");
    const unknown = { ...form, action: "/console/system/jobs/unknown" };
    expect((await browser.submit(unknown, { act: "run" })).status).toBe(404);
  });

  test("CON-118 does not run a job that another person has paused, and names that person", async () => {
    const bea = await site.signedIn("admin", { email: "bea@example.com" });
    const path = "/console/system/jobs/backup";
    const opened = formTo(await browser.visit("/console/system/jobs"), path);
    const state = () => domain.jobs.list().find(({ name }) => name === "backup");
    await domain.jobs.pause(bea.actor, "backup");
    const before = state();
    const stale = await browser.submit(opened, { act: "run" });
    expect([stale.status, state()]).toEqual([409, before]);
    const words = stale.html.replaceAll(/<[^>]+>/g, "");
    expect(words).toMatch(/bea@example.com paused backup .*, after you opened this page/);
    expect(words).toContain("Your action, “Run now”, was not performed.");
    await domain.jobs.resume(bea.actor, "backup");
    await domain.jobs.pause(bea.actor, "backup");
    expect((await browser.submit(formTo(stale, path), { act: "resume" })).status).toBe(409);
    expect(state()?.paused).toBe(true);
    expect((await act("backup", "resume")).html).toContain("backup is resumed");
    expect(state()?.paused).toBe(false);
  });

  test("shows auditors the jobs without buttons", async () => {
    const { html, forms } = await auditor.visit("/console/system/jobs");
    expect(html).toContain("access-sweep");
    expect(forms.filter(({ action }) => action.startsWith("/console/system"))).toEqual([]);
  });
});

describe("CON-93 the backups", () => {
  test("makes and verifies backups and shows the restore as a command with the reason", async () => {
    const empty = await browser.visit("/console/system/backups");
    expect(empty.html).toContain("has no backup yet");
    const made = await browser.submit(formTo(empty, "/console/system/backups"), {});
    expect(made.html).toMatch(/Made backup-\w+\.qmb\./);
    expect(made.html).toContain("the service must be stopped");
    expect(made.html).toMatch(/quartermaster backup restore \S+\.qmb --dry-run/);
    expect(newestEntry().action).toBe("backup.create");
    const verified = await browser.submit(formTo(made, "/console/system/backups/verify"), {});
    expect(verified.html).toMatch(/backup-\w+\.qmb is intact\./);
    expect(verified.html).toContain(">Intact</b>");
  });

  test("CON-121 a form sent again makes no second backup and shows the same result, also while the first is being made", async () => {
    const form = formTo(await browser.visit("/console/system/backups"), "/console/system/backups");
    const count = () => domain.backups.made().length;
    const before = count();
    const [first, second] = await Promise.all([browser.submit(form, {}), browser.submit(form, {})]);
    const third = await browser.submit(form, {});
    const results = [first, second, third].map(({ html }) => /Made (backup-[\w-]+\.qmb)\./.exec(html)?.[1]);
    expect(results).toEqual(Array(3).fill(expect.stringMatching(/^backup-/)));
    expect([new Set(results).size, count() - before]).toEqual([1, 1]);
    await browser.submit(formTo(third, "/console/system/backups"), {});
    expect(count() - before).toBe(2);
  });

  test("CON-122 a form sent again says that the file of its backup is gone, and leads to the page that makes another", async () => {
    const form = formTo(await browser.visit("/console/system/backups"), "/console/system/backups");
    const made = await browser.submit(form, {});
    const [, name = ""] = /Made (backup-[\w-]+\.qmb)\./.exec(made.html) ?? [];
    const path = domain.backups.made().find((backup) => backup.path.endsWith(name))?.path ?? "";
    await Bun.file(path).delete();
    const { status, html } = await browser.submit(form, {});
    expect(status).toBe(409);
    expect(html).toContain("This form made a backup earlier, but its file is no longer in the folder.");
    expect(html).toContain('<a href="/console/system/backups">See the backups and make another one</a>');
  });

  test("CON-122 a damaged form is refused in words for people, and makes no backup", async () => {
    const form = formTo(await browser.visit("/console/system/backups"), "/console/system/backups");
    const before = domain.backups.made().length;
    const { status, html } = await browser.submit(form, { once: "two words" });
    expect([status, domain.backups.made().length]).toEqual([400, before]);
    expect(html).toContain("Nothing was done, because the form arrived damaged");
    expect(html).toContain('<a href="/console/system/backups">Open a new form</a>');
    expect(html).not.toContain("Idempotency-Key");
  });

  test("makes no file for the form of somebody whose responses are as many as are kept", async () => {
    const busy = await site.signedIn("admin", { email: "busy@example.com" });
    const expiresAtMs = world.clock.nowMs() + 5_000;
    await world.db.write((tx) => {
      tx.run(sql`INSERT INTO idempotent_answers WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${RESPONSES_PER_CALLER_MAX})
      SELECT 'row ' || i, ${busy.user.id}, 'x', 'x', ${expiresAtMs} FROM n`);
    });
    const of = consoleBrowser(site, busy);
    const form = formTo(await of.visit("/console/system/backups"), "/console/system/backups");
    const files = (html: string) => html.match(/data-label="File"/g)?.length;
    const before = files((await of.visit("/console/system/backups")).html);
    const { status, html } = await of.submit(form, {});
    expect(status).toBe(429);
    expect(html).toContain("you sent 1000 such forms in the last 24 hours");
    expect(files((await of.visit("/console/system/backups")).html)).toBe(before);
    await world.db.write((tx) =>
      tx.run(sql`DELETE FROM idempotent_answers WHERE caller_id = ${busy.user.id}`),
    );
  });

  test("answers 404 for the verification of a backup that does not exist", async () => {
    const form = formTo(await browser.visit("/console/system/backups"), "/console/system/backups/verify");
    for (const id of ["", "../quartermaster.db", "<script>alert(1)</script>"]) {
      const { status, html } = await browser.submit(form, { id });
      expect([status, html.includes("<script>alert")]).toEqual([404, false]);
    }
  });

  test("shows auditors the backups without buttons", async () => {
    const { html, forms } = await auditor.visit("/console/system/backups");
    expect(html).toContain(".qmb");
    expect(forms.filter(({ action }) => action.startsWith("/console/system"))).toEqual([]);
  });
});

describe("CON-94 the keys", () => {
  test("lists the keys with their state and what lies under them, without a key", async () => {
    const { html } = await browser.visit("/console/system/keys");
    for (const text of [
      ">Signs</b>",
      ">Seals</b>",
      "Gateway mode is off",
      "/console/system/keys/sealing/rotate",
    ])
      expect(html).toContain(text);
    expect(html).not.toMatch(/PRIVATE KEY|"d":/);
  });

  test.each([
    ["access_tokens", "signing_key.rotate"],
    ["sealing", "sealing_key.rotate"],
  ])("rotates the keys of %s after the word was typed", async (kind, entry) => {
    const path = `/console/system/keys/${kind}/rotate`;
    const question = await browser.visit(path);
    expect(question.html).not.toContain("<script");
    const refused = await browser.submit(formTo(question, path), { typed: "yes" });
    expect([refused.status, newestEntry().action === entry]).toEqual([400, false]);
    expect(refused.html).toContain("Type rotate to confirm.");
    const done = await browser.submit(formTo(refused, path), { typed: " rotate " });
    expect(done.html).toContain("The new key is in use.");
    expect(newestEntry().action).toBe(entry);
  });

  test.each([
    ["access_tokens", () => domain.access.keys.list().length],
    ["sealing", () => domain.sealingKeys.list().length],
  ])(
    "CON-121 rotates the keys of %s once for a form that is sent twice, with the same result",
    async (kind, count) => {
      const path = `/console/system/keys/${kind}/rotate`;
      const form = formTo(await browser.visit(path), path);
      const before = count();
      for (const [answer] of [
        await Promise.all([
          browser.submit(form, { typed: "rotate" }),
          browser.submit(form, { typed: "rotate" }),
        ]),
        [await browser.submit(form, { typed: "rotate" })],
      ])
        expect(answer?.html).toContain("The new key is in use.");
      expect(count() - before).toBe(1);
    },
  );

  test("CON-146 refuses to rotate keys by a browser that was not confirmed recently where a second factor is demanded", async () => {
    await using strict = await createTestServer({ access: { secondFactor: "everyone" } });
    const caller = await strict.signedIn("admin");
    const before = strict.domain.sealingKeys.list().length;
    const strictBrowser = consoleBrowser(strict, caller);
    for (const kind of ["access_tokens", "sealing"]) {
      const path = `/console/system/keys/${kind}/rotate`;
      const answer = await strictBrowser.submit(formTo(await strictBrowser.visit(path), path), {
        typed: "rotate",
      });
      expect(answer.html).not.toContain("The new key is in use.");
    }
    expect(strict.domain.sealingKeys.list()).toHaveLength(before);
  });

  test("answers 404 for keys of another kind and refuses gateway keys without a gateway", async () => {
    expect((await browser.visit("/console/system/keys/x/rotate")).status).toBe(404);
    const path = "/console/system/keys/inference_tokens/rotate";
    const answer = await browser.submit(formTo(await browser.visit(path), path), { typed: "rotate" });
    expect([answer.status, answer.heading]).toEqual([409, "Not possible"]);
  });
});

describe("CON-95 the settings", () => {
  test("have value, origin and effect, and secrets only as set or unset", async () => {
    const { status, html } = await browser.visit("/console/system/settings");
    expect(status).toBe(200);
    expect(html.match(/<td data-label="?Setting"?>/g)?.length).toBeGreaterThan(50);
    expect(html).toContain("after a restart");
    expect(html).toContain("<bdi>unset</bdi>");
  });
});

describe("CON-96 the configuration export", () => {
  test("says what to do while no policy is published", async () => {
    const { status, html } = await browser.visit("/console/system/export");
    expect([status, html.includes("quartermaster policy apply policy.yaml")]).toEqual([200, true]);
  });

  test("is a file without secrets, and lists the places of what was left out", async () => {
    const content = JSON.stringify({
      scim: { token: "sk-very-secret" },
      server: { listen: "</pre><script>" },
    });
    await using other = await createTestServer({ configuration: () => ({ content, secrets: [] }) });
    await publishFirst(other);
    const { html } = await consoleBrowser(other, await other.signedIn("admin")).visit(
      "/console/system/export",
    );
    expect(html).toContain("<bdi>/scim/token</bdi>");
    expect(html).toContain("<pre>quartermaster policy export</pre>"); // CON-17
    expect(html).not.toContain("sk-very-secret");
    expect(html).not.toContain("<script>");
  });
});
