// Passkeys with the authenticator of a real Chromium, and an authenticator app in a browser without scripts.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { CONFIRMATION_TTL_MS } from "../../../src/domain/access/second-factor/model.ts";
import {
  type Account,
  heading,
  openSite,
  PASSWORD,
  press,
  type Site,
  signIn,
  type Visitor,
} from "../../support/browser/browser.ts";
import { appCode } from "../../support/second-factor/authenticator-app.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite({ host: "localhost" });
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

/** Adds a virtual fingerprint reader to a tab. @returns a function that sets whether the next fingerprint is the right one */
async function withAuthenticator({ context, page }: Visitor): Promise<(isRight: boolean) => Promise<void>> {
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return async (isUserVerified) =>
    void (await devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }));
}

/** Signed in so long ago that sensitive actions ask for the password again. */
async function notFreshMember(email: string): Promise<Account> {
  const account = await site.member(email);
  site.server.world.clock.advance(CONFIRMATION_TTL_MS);
  return account;
}

async function confirmWithPassword({ page }: Visitor): Promise<void> {
  await page.getByLabel("Current password").fill(PASSWORD);
  await press(page, "Confirm");
}

test("a passkey is set up, signs in, confirms and is removed", async () => {
  const account = await notFreshMember("ada@example.com");
  await using visitor = await site.visitor({ as: account, javaScriptEnabled: true });
  const { page, context } = visitor;
  const recognize = await withAuthenticator(visitor);

  await page.goto("/account/second-factor/passkeys/new");
  await confirmWithPassword(visitor);
  await page.getByLabel("Name").fill("Laptop");
  await press(page, "Add passkey");
  expect(await heading(page)).toBe("Keep your recovery codes");
  expect(await page.locator(".recovery-codes li").count()).toBe(10);
  await page.getByRole("link", { name: "I have kept them" }).click();
  expect(await page.locator("main").textContent()).toContain("Laptop");

  await page.getByRole("link", { name: "Add a passkey" }).click();
  await page.getByRole("button", { name: "Add passkey" }).click();
  await page.getByText("This passkey is already set up.").waitFor();

  await context.clearCookies();
  await page.goto(`/login?callbackURL=${encodeURIComponent("/account/second-factor")}`);
  await signIn(page, account.email);
  expect(await heading(page)).toBe("Confirm that it is you");
  await recognize(false);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByText("No passkey was used.").waitFor();
  await recognize(true);
  await press(page, "Use a passkey");
  expect(await heading(page)).toBe("Second factor");

  await page.goto("/account/second-factor/confirm");
  await press(page, "Use a passkey");
  await press(page, "Remove passkey Laptop");
  expect(await page.getByRole("status").textContent()).toBe("It was removed.");
});

test("sets up an authenticator app and signs in if scripts are off, and passkeys explain their requirements", async () => {
  const account = await notFreshMember("bob@example.com");
  await using visitor = await site.visitor({ as: account });
  const { page, context } = visitor;
  await page.goto("/account/second-factor/authenticator-app");
  await confirmWithPassword(visitor);
  expect(await page.getByRole("img", { name: "QR code for the authenticator app" }).isVisible()).toBe(true);
  const secret = (await page.locator("main code").textContent()) ?? "";
  await page.getByLabel("Code", { exact: true }).fill(appCode(secret, site.time()));
  await press(page, "Finish");
  const code = (await page.locator(".recovery-codes code").first().textContent()) ?? "";

  await page.goto("/account/second-factor/passkeys/new");
  expect(await page.getByRole("button", { name: "Add passkey" }).isVisible()).toBe(false);
  expect(await page.locator("main").textContent()).toContain("Passkeys need JavaScript");

  await context.clearCookies();
  await page.goto("/login?callbackURL=%2Fdevice");
  await signIn(page, account.email);
  await page.getByLabel("Code").fill(code.toLowerCase());
  await press(page, "Sign in");
  expect(new URL(page.url()).pathname).toBe("/device");
});
