// Packages in the draft of the administrator: their audience, and how a package is added.
import type { Page } from "playwright-core";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import type { Site } from "../../../support/browser/browser.ts";
import { ADMIN, press } from "../../../support/browser/browser.ts";
import type { Area } from "../scenes.ts";

const AUDIENCE = "/console/packages/reviews/audience";

/** @returns the administrator of the site as an actor */
export function administratorOf({ server: { domain, world } }: Site) {
  const { organizationId } = world;
  const user = domain.identity.users.find(organizationId, ADMIN);
  return { kind: "user" as const, id: user.id, label: user.email, organizationId };
}

/** Adds a package to the draft if it is missing, and opens the form of its audience. */
async function openAudience(page: Page, site: Site): Promise<void> {
  const { drafts } = site.server.domain.governance;
  const actor = administratorOf(site);
  const draft = drafts.ownOrNew(actor);
  if (!draft.document.packages.some(({ id }) => id === "reviews"))
    await drafts.takePackage(actor, draft, packageOf("reviews", { name: "Review guide" }));
  await page.goto(AUDIENCE);
}

export const packagesArea: Area = {
  scenes: [
    { title: "Who gets Review guide", open: openAudience },
    {
      title: "Who gets Review guide",
      state: "with addresses that were not found",
      async open(page, site) {
        await openAudience(page, site);
        await page.getByLabel("Only these people and groups").check();
        await page.locator("#addresses").fill(`${ADMIN}\nnobody@example.com\n<script>alert(1)</script>`);
        await press(page, "Save and review");
      },
    },
    {
      title: "Who gets Review guide",
      state: "with people who were found",
      async open(page, site) {
        await openAudience(page, site);
        await page.locator("#person").fill("a");
        const find = page.getByRole("button", { name: "Find" }).first();
        await Promise.all([page.waitForEvent("load"), find.click()]);
      },
    },
    {
      title: "Who gets Review guide",
      state: "wrong",
      async open(page, site) {
        await openAudience(page, site);
        await page.getByLabel("Everybody").check();
        await page.locator("#addresses").fill("nobody@example.com");
        await press(page, "Save and review");
      },
    },
  ],
};
