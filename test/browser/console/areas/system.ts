// The installation: checks, jobs, backups, keys, settings, export, branding, and the audit log.
import type { Page } from "playwright-core";
import { addJob } from "../../../../src/platform/scheduler/store.ts";
import type { Area } from "../scenes.ts";

const IMAGE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 3"><rect width="9" height="3"/></svg>';

const JOB = "access-sweep";

/** Sends the form of the logo. */
async function upload(page: Page, text: string): Promise<void> {
  await page.goto("/console/branding");
  const file = { name: "logo.svg", mimeType: "image/svg+xml", buffer: Buffer.from(text) };
  await page.getByLabel("Upload a logo").setInputFiles(file);
  const button = page.getByRole("button", { name: "Upload", exact: true }).first();
  await Promise.all([page.waitForEvent("load"), button.click()]);
}

export const systemArea: Area = {
  async seed({ server: { world } }) {
    await world.db.write((tx) => addJob(tx, JOB, world.clock.nowMs() + 3_600_000));
  },
  scenes: [
    { title: "Entry 2", open: "/console/audit/2" },
    { title: "Installation", open: "/console/system" },
    { title: "Jobs", open: "/console/system/jobs" },
    { title: "Jobs", state: "as an auditor", as: "auditor", open: "/console/system/jobs" },
    {
      title: "Jobs",
      state: "after somebody else paused one",
      open: async (page, { server: { domain, world } }) => {
        await domain.jobs.pause(world.system, JOB);
        await page.goto("/console/system/jobs");
        const former = page.locator(`#row-${JOB} [name=version]`);
        await former.evaluate((field) => field.setAttribute("value", "0-active"));
        await page.getByRole("button", { name: `Resume: ${JOB}` }).click();
        await page.getByRole("alert").waitFor();
        await domain.jobs.resume(world.system, JOB);
      },
    },
    { title: "Backups", open: "/console/system/backups" },
    { title: "Keys", open: "/console/system/keys" },
    { title: "Rotate: sealing keys", open: "/console/system/keys/sealing/rotate" },
    { title: "Settings", open: "/console/system/settings" },
    { title: "Configuration export", open: "/console/system/export" },
    { title: "Branding", open: "/console/branding" },
    { title: "Branding", state: "for an auditor", as: "auditor", open: "/console/branding" },
    { title: "Branding", state: "with a logo", open: (page) => upload(page, IMAGE) },
    { title: "Branding", state: "with a refused logo", open: (page) => upload(page, "<html></html>") },
  ],
};
