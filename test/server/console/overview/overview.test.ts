// CON-38: the overview, its JSON counterpart and the number of problems in the header, over the real domain.
import { afterAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { HOUR_MS } from "../../../../src/platform/clock.ts";
import { sourceWord } from "../../../../src/server/console/overview/words.ts";
import { percentText } from "../../../../src/server/console/parts/texts.ts";
import { OverviewDocument } from "../../../../src/server/overview/document.ts";
import {
  AUDIT_ENTRIES_SHOWN,
  EXPIRY_NOTICE_MS,
  FIGURES_KEPT_MS,
  Overview,
  REFUSAL_NOTICE_MS,
  REVISIONS_SHOWN,
} from "../../../../src/server/overview/overview.ts";
import { createClientsWorld } from "../../../domain/clients/clients-world.ts";

const HOSTILE = `<script>alert("x")</script>\u202E`;

const site = await createClientsWorld();
afterAll(() => site[Symbol.asyncDispose]());
const { world, domain } = site;
const admin = await site.signedIn("admin");
const member = await site.signedIn("member");
const { organizationId } = admin.actor;

const shown = async (path = "/console", { cookie } = admin) => {
  const answer = await site.request("GET", path, { cookie });
  return { status: answer.status, html: await answer.text(), location: answer.headers.get("location") };
};
const overview = async () => (await site.request("GET", "/admin/overview", { cookie: admin.cookie })).json();
const countsPass = (): void => world.clock.advance(FIGURES_KEPT_MS);
const withDiagnosis = (diagnose: ConstructorParameters<typeof Overview>[0]["operations"]["diagnose"]) =>
  new Overview({ ...domain, clock: world.clock, operations: { diagnose } });
const sourcesIn = async (made: Overview): Promise<string[]> =>
  (await made.problems(organizationId)).problems.map(({ source }) => source);

const { html: before } = await shown("/console/audit");
const { html: empty } = await shown();

test("CON-15 the header shows the number of problems of the last check, and runs no check itself", async () => {
  expect(before).not.toContain('class="health');
  const { problems } = await overview();
  const { html } = await shown("/console/audit");
  expect(html).toContain(problems.length === 1 ? ">1 problem<" : `>${problems.length} problems<`);
  expect((await shown("/console/audit", await site.signedIn("member"))).html).not.toContain('class="health');
});

describe("CON-38 the overview", () => {
  test("explains how to fill it before any workstation has reported", () => {
    expect(empty).toContain("No workstation has reported yet");
    expect(empty).toContain('data-live="revision clients keys jobs problem"');
  });

  test("leads members to their own page", async () => {
    const { status, location } = await shown("/console", member);
    expect([status, location]).toEqual([303, "/console/me"]);
  });

  test("counts workstations by health, with links to the filtered lists, and the rollout of the newest revision", async () => {
    const former = await site.publish();
    const current = await site.publish();
    for (const [at, revision] of [current, current, former].entries())
      await site.report({ instance_id: `host-${at}`, hostname: `host-${at}`, config_revision: revision });
    await site.report({ instance_id: "bad", config_revision: current, files_ok: false });
    countsPass();
    const { html } = await shown();
    expect(html).toContain('href="/console/clients?health=current"><span class="number">2</span>');
    expect(html).toContain('href="/console/clients?health=outdated"><span class="number">1</span>');
    expect(html).toContain('href="/console/clients?health=attention"><span class="number">1</span>');
    expect(html).toContain(`${percentText(3, 4)} of all workstations have it`);
    expect(html).toContain('<rect class="part" width="75"');
    expect((await overview()).workstations).toEqual({
      total: 4,
      current: 2,
      outdated: 1,
      attention: 1,
      on_newest_revision: 3,
    });
  });

  test("caches its counts briefly, so that many readers cost as much as one", async () => {
    await site.report({ instance_id: "late", config_revision: null });
    expect((await overview()).workstations.total).toBe(4);
    countsPass();
    expect((await overview()).workstations.total).toBe(5);
  });

  test("has the newest revisions and audit entries as text", async () => {
    for (let at = 0; at < REVISIONS_SHOWN; at += 1) await site.publish();
    await world.db.write((tx) => {
      for (let at = 0; at <= AUDIT_ENTRIES_SHOWN; at += 1)
        world.audit.record(tx, { actor: admin.actor, action: "job.run", target: `${HOSTILE}${at}` });
    });
    const answer = await overview();
    expect(Value.Errors(OverviewDocument, answer).First()?.message).toBeUndefined();
    expect([answer.revisions.length, answer.audit.length]).toEqual([REVISIONS_SHOWN, AUDIT_ENTRIES_SHOWN]);
    const { html } = await shown();
    expect(html.match(/<tr id="entry-/g)).toHaveLength(AUDIT_ENTRIES_SHOWN);
    expect(html.match(/<tr id="revision-/g)).toHaveLength(REVISIONS_SHOWN);
    expect(html).not.toContain("<script>alert");
  });
});

describe("CON-38 the problems", () => {
  const OK = { atMs: 0, findings: [{ check: "disk", result: "ok", detail: "fine", remedy: null }] } as const;

  test("shows findings with remedies, failures first, linked to the page that solves them", async () => {
    const findings = [
      { check: "token_memory", result: "warning", detail: "too small", remedy: "make it larger" },
      { check: "jobs", result: "failed", detail: `failed: ${HOSTILE}`, remedy: "quartermaster jobs run x" },
      { check: "disk", result: "skipped", detail: "not known", remedy: null },
    ] as const;
    const made = withDiagnosis(async () => ({ atMs: 0, findings }));
    expect(await sourcesIn(made)).toEqual(["jobs", "token_memory"]);
    expect(made.knownProblems(organizationId)).toBe(2);
  });

  test("shows the problems before slow checks have ended, and the number stays unknown", async () => {
    const never = Promise.withResolvers<never>();
    const made = withDiagnosis(() => never.promise);
    expect(await made.problems(organizationId)).toEqual({ problems: [], checkedAtMs: undefined });
    expect(made.knownProblems(organizationId)).toBeUndefined();
  });

  test("name checks that failed to run", async () => {
    expect(await sourcesIn(withDiagnosis(async () => Promise.reject(new Error("no thread"))))).toEqual([
      "doctor",
    ]);
  });

  test("name invitations from two days before they end, until they end", async () => {
    const made = withDiagnosis(async () => OK);
    const { expiresAtMs } = (
      await domain.identity.invitations.create(admin.actor, { email: "new@example.org", role: "member" })
    ).invitation;
    const at = async (ms: number): Promise<string[]> => {
      world.clock.advance(ms - world.clock.nowMs());
      return await sourcesIn(made);
    };
    expect(await at(expiresAtMs - EXPIRY_NOTICE_MS - 1)).toEqual([]);
    expect(await at(expiresAtMs - EXPIRY_NOTICE_MS)).toEqual(["invitations"]);
    expect(await at(expiresAtMs)).toEqual([]);
  });

  test("name refused requests of the identity provider for a day", async () => {
    const made = withDiagnosis(async () => OK);
    domain.scim.refusals.keep(organizationId, {
      requestId: "req-1",
      actor: "okta",
      method: "POST",
      route: "/scim/v2/Users",
      status: 400,
      scimType: "invalidValue",
      detail: HOSTILE,
    });
    await world.db.write(() => undefined, "unobserved");
    expect(await sourcesIn(made)).toEqual(["refusals"]);
    world.clock.advance(REFUSAL_NOTICE_MS - 1);
    expect(await sourcesIn(made)).toEqual(["refusals"]);
    world.clock.advance(1 + HOUR_MS);
    expect(await sourcesIn(made)).toEqual([]);
  });
});

test.each([
  ["package-source:forge", "Repository connection forge"],
  ["inference-upstream", "Gateway for inference"],
  ["inference-proxy", "Inference proxy"],
  ["token_memory", "Token memory"],
])("the check %s has a name for people", (source, word) => {
  expect(sourceWord(source)).toBe(word);
});
