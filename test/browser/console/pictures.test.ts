// The screenshots of the console in the handbook, with the data of the demo. QUARTERMASTER_UPDATE_GOLDEN=1 takes them again; review
// them before you commit them. Times differ in each run, so the test compares headings and not pixels.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { Started } from "../../../src/app/demo/events.ts";
import { heading, press, publish, signIn } from "../../support/browser/browser.ts";
import { borrowChromium } from "../../support/browser/chromium.ts";
import { startDemo } from "../../support/browser/demo.ts";
import { CHAPTERS_FOLDER } from "../../support/content/chapter-files.ts";

const MUST_WRITE = process.env.QUARTERMASTER_UPDATE_GOLDEN === "1";
const WORKSTATIONS = 12;
const LIMIT_MS = 60_000;
const CHECK_EVERY_MS = 500;
const VIEW = { width: 1200, height: 660 };

let demo: Started & AsyncDisposable;
beforeAll(async () => {
  demo = await startDemo(WORKSTATIONS);
}, LIMIT_MS);
afterAll(() => demo[Symbol.asyncDispose]());

interface Picture {
  name: string;
  title: string | RegExp;
  open: string | ((page: Page) => Promise<unknown>);
  colorScheme?: "light" | "dark";
}

/** The checks of a new service take a moment. */
async function openOverview(page: Page): Promise<void> {
  await page.goto("/console");
  for (; (await page.getByText("Not checked yet").count()) > 0; await page.reload())
    await Bun.sleep(CHECK_EVERY_MS);
}

/** Saves another range, and opens the review. */
async function openReview(page: Page): Promise<void> {
  await page.goto("/console/harnesses/claude");
  await page.locator("[name=requirement]").fill(">=2.1.100, <3");
  await press(page, "Save and review");
}

async function publishReview(page: Page): Promise<void> {
  await openReview(page);
  await page.getByLabel(/^Comment/).fill("only versions with the new hooks");
  await publish(page);
  await page.locator("#arrival strong", { hasText: /^[1-9]/ }).waitFor();
}

const PICTURES: readonly Picture[] = [
  { name: "overview", title: "Overview", open: openOverview },
  { name: "workstations", title: "Workstations", open: "/console/clients", colorScheme: "dark" },
  {
    name: "workstation",
    title: /\w-\d+/,
    async open(page) {
      await page.goto("/console/clients?health=attention");
      await page.locator("table.rows tbody a").first().click();
    },
  },
  { name: "harness", title: "Claude", open: "/console/harnesses/claude" },
  { name: "package", title: "Review guide", open: "/console/packages/review-guide" },
  {
    name: "explain",
    title: "Explain the policy",
    open: "/console/policy/explain?user=ana@example.org&harness=claude&installed=2.0.20",
  },
  { name: "review", title: "Review your draft", open: openReview },
  { name: "rollout", title: /^Rollout of r/, open: publishReview, colorScheme: "dark" },
  { name: "audit", title: "Audit log", open: "/console/audit" },
  { name: "own", title: "Your start page", open: "/console/me" },
];

test.each<Picture>(PICTURES)(
  "the handbook has a picture of the console: $name",
  async ({ name, title, open, colorScheme = "light" }) => {
    await using chromium = await borrowChromium();
    const context = await chromium.browser.newContext({ baseURL: demo.url, viewport: VIEW, colorScheme });
    await using _closing = { [Symbol.asyncDispose]: () => context.close() };
    const page = await context.newPage();
    await page.goto("/console/clients");
    await signIn(page, name === "own" ? "ana@example.org" : demo.administrator, demo.password);
    const rows = page.locator("table.rows tbody tr");
    for (; name !== "own" && (await rows.count()) < WORKSTATIONS; await page.reload())
      await Bun.sleep(CHECK_EVERY_MS);
    await (typeof open === "string" ? page.goto(open) : open(page));
    expect(await heading(page)).toMatch(title);
    const picture = await page.screenshot();
    if (MUST_WRITE) writeFileSync(join(CHAPTERS_FOLDER, `pictures/console-${name}.png`), picture);
  },
  LIMIT_MS,
);
