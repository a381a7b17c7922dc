// Reports of callbacks to the operator. Only the end of a sign-in that began here counts. Claims of a browser alone are
// shown as a report, cause no warning, and hide no failure.
import { expect, test } from "bun:test";
import { checkIdentityProvider } from "../../../../src/app/doctor/domain-checks.ts";
import { checkOf } from "../../../../src/app/doctor/finding.ts";
import { SECOND_MS } from "../../../../src/platform/clock.ts";
import {
  CALLBACK,
  createProviderSite,
  leave,
  type ProviderSite,
  signInAt,
} from "../../../support/provider/provider-site.ts";

const JIT = { provisioning: "jit", allowedDomains: ["example.com"] } as const;

const shownIn = ({ domain }: ProviderSite) => domain.sso.status().last_error_reason;

async function doctorAt({ domain, world }: ProviderSite): Promise<string> {
  const { organizationId } = world;
  const [found] = await checkIdentityProvider(checkOf("sso"), { domain, organizationId });
  return `${found?.result}: ${found?.detail}`;
}

/** Begins a sign-in and returns with parameters of the browser's choice. */
async function comeBack(site: ProviderSite, parameters: Record<string, string>): Promise<number> {
  const browser = site.browser();
  const begun = await browser.request("/login/oidc");
  const state = new URL(begun.headers.get("location") ?? "").searchParams.get("state") ?? "";
  return (await browser.visit(`${CALLBACK}?${new URLSearchParams({ state, ...parameters })}`)).status;
}

test("SSO-44 a callback without a sign-in changes nothing for the operator", async () => {
  await using site = await createProviderSite(JIT);
  for (const query of [
    "error=server_error",
    "error=server_error&state=made-up",
    "code=x&state=x&iss=x",
    "%00",
  ])
    expect((await site.browser().visit(`${CALLBACK}?${query}`)).status).toBe(400);
  expect(shownIn(site)).toBeNull();
  expect(await doctorAt(site)).toStartWith(
    "ok: sign-in at the identity provider passes all checks that need no sign-in",
  );
});

test.each(["access_denied", "login_required", "interaction_required", "consent_required"])(
  "SSO-44 %s does not look like a failure of the provider",
  async (error) => {
    await using site = await createProviderSite(JIT);
    await comeBack(site, { error, iss: site.idp.issuer });
    expect(shownIn(site)).toBeNull();
  },
);

test.each(["\n", "x".repeat(9_000), "made-up"])("SSO-44 a made-up code is no failure", async (code) => {
  await using site = await createProviderSite(JIT);
  expect(await comeBack(site, { code, iss: site.idp.issuer })).toBe(400);
  expect(shownIn(site)).toBeNull();
});

test("SSO-44 a provider that cannot read the code is only reported", async () => {
  await using site = await createProviderSite(JIT);
  site.idp.faults = { tokenError: "invalid_request" };
  expect(await comeBack(site, { code: "made-up", iss: site.idp.issuer })).toBe(502);
  expect(shownIn(site)).toBe("sso.callback_error");
});

test("SSO-44 an error that a browser reported is shown without a warning until the next sign-in", async () => {
  await using site = await createProviderSite(JIT);
  expect(await comeBack(site, { error: "server_error", iss: site.idp.issuer })).toBe(502);
  expect(shownIn(site)).toBe("sso.callback_error");
  expect(await doctorAt(site)).toStartWith("ok: a browser returned with sso.callback_error: the log names");
  await signInAt(site, site.browser());
  expect(await doctorAt(site)).toStartWith(
    "ok: sign-in at the identity provider passes all checks that need no sign-in",
  );
  expect(shownIn(site)).toBeNull();
});

test("SSO-44 a browser's report hides no failure that the service saw, and is hidden by one", async () => {
  await using site = await createProviderSite(JIT);
  await signInAt(site, site.browser());
  const { idp } = site;
  await comeBack(site, { error: "server_error", iss: idp.issuer });
  idp.faults = { signature: "foreign" };
  expect((await signInAt(site, site.browser())).status).toBe(502);
  expect(shownIn(site)).toBe("sso.token_invalid");
  site.world.clock.advance(11 * SECOND_MS);
  await comeBack(site, { error: "server_error", iss: idp.issuer });
  expect(shownIn(site)).toBe("sso.token_invalid");
  expect(await doctorAt(site)).toStartWith("warning: the last sign-in failed: sso.token_invalid");
});

test("SSO-44 reports are written at most once in ten seconds", async () => {
  await using site = await createProviderSite(JIT);
  await comeBack(site, { error: "server_error", iss: site.idp.issuer });
  await comeBack(site, { code: "x", iss: "https://other.example" });
  expect(shownIn(site)).toBe("sso.callback_error");
  site.world.clock.advance(10 * SECOND_MS);
  await comeBack(site, { code: "x", iss: "https://other.example" });
  expect(shownIn(site)).toBe("sso.callback_issuer");
});

test.each([
  ["another", { iss: "https://other.example" }],
  ["none, although the provider announced it", { iss: undefined }],
])(
  "SSO-20 the issuer of a callback is %s: the operator sees it, and the log has its name",
  async (_, callback) => {
    await using site = await createProviderSite(JIT);
    site.idp.faults = { callback };
    const browser = site.browser();
    const refused = await browser.visit(await leave(site, browser));
    expect(refused.status).toBe(502);
    expect(shownIn(site)).toBe("sso.callback_issuer");
    const reported = site.logged.filter(({ event }) => event === "http.failure_reported");
    expect(reported).toMatchObject([{ level: "warning", error: { reason: "sso.callback_issuer" } }]);
    expect(JSON.stringify(reported)).toContain(
      callback.iss === undefined ? "iss is missing" : "https://other.example",
    );
    expect(refused.html).not.toContain("other.example");
  },
);

test.each([
  ["another", { iss: "https://other.example" }],
  ["missing", { iss: undefined }],
])("SSO-22 the issuer of an ID token is %s: the operator sees it with its remedy", async (_, idToken) => {
  await using site = await createProviderSite(JIT);
  site.idp.faults = { idToken };
  expect((await signInAt(site, site.browser())).status).toBe(502);
  expect(shownIn(site)).toBe("sso.token_issuer");
  expect(await doctorAt(site)).toBe("warning: the last sign-in failed: sso.token_issuer");
});
