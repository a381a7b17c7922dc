// CON-118: every form of the console that changes something contains the version that it shows, or is listed with the
// reason why it needs none.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TypeGuard } from "@sinclair/typebox";
import { keptFields } from "../../../../src/server/console/frame/kept-fields.tsx";
import { publishOn } from "../../../domain/clients/clients-world.ts";
import { packageWith } from "../../../domain/clients/policies.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { createGatewayServer } from "../../../support/gateway/gateway-server.ts";

const site = await createGatewayServer({});
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin");
const browser = consoleBrowser(site, admin);
const PACKAGE = "review-guide";
beforeAll(() => publishOn(site, { document: { packages: [packageWith({ id: PACKAGE })] } }));

/** Fields with the version that the reader saw: of a record, a draft, a model, or the rows of a selection. */
const VERSION = /^(?:version|version_read|fingerprint|expected|sha256|count)$/;

const OWN = "a choice of this reader for themselves";
const ENDS = "ends the object at its address, and replaces no entered value";
const ASKS = "asks for something, and replaces nothing that somebody entered";
const ADDS = "adds something, and replaces nothing";

const UNVERSIONED: Readonly<Record<string, string>> = {
  theme: OWN,
  "me/views": OWN,
  "me/views/usual": OWN,
  "me/views/:id/remove": OWN,
  "me/account/password": "carries the current password",
  "me/workstations/:id/sign-out": ENDS,
  "me/logins/:id/end": ENDS,
  "me/logins/end-others": ENDS,
  "me/key/ensure": ASKS,
  "me/key/validate": ASKS,
  "sessions/:id/download": ASKS,
  "sessions/:id/delete": ENDS,
  "packages/new": ADDS,
  "catalog/import/plan": "names the bundle by its digest, and the plan is made again",
  invitations: ADDS,
  "invitations/:id/:action": ENDS,
  "logins/:id/end": ENDS,
  gateway: ASKS,
  "gateway/keys/reconcile": ASKS,
  "gateway/models/refresh": ASKS,
  "identity/tokens/new": ADDS,
  "identity/tokens/:id/revoke": ENDS,
  "audit/verify": ASKS,
  "system/examination": ASKS,
  "system/backups": ADDS,
  "system/backups/verify": ASKS,
};

/** Forms that are read by their handlers, with the page that has the form. */
const UPLOADS: Readonly<Record<string, string>> = {
  "harnesses/:harness": "harnesses/codex",
  "packages/:id": `packages/${PACKAGE}`,
  "packages/:id/audience": `packages/${PACKAGE}/audience`,
  "mcp/new": "mcp/new",
  "mcp/:name": "mcp/new",
  "policy/edit": "policy/edit",
  "gateway/models/harnesses/:harness": "gateway/models/harnesses/codex",
  "branding/logo": "branding",
  "branding/icon": "branding",
};

/** Uploads whose forms exist only after other forms; the tests of their areas send stale ones. */
const TESTED_THERE = ["packages/new/layout", "packages/new/audience", "policy/merge"];
const FILES = ["packages/new/upload", "catalog/import"];

const forms = (await site.server.allRoutes()).flatMap(({ method, path, hooks }) => {
  const body: unknown = hooks?.body;
  const fields = TypeGuard.IsObject(body) ? Object.keys(body.properties) : [];
  return method === "POST" && path.startsWith("/console/") ? [{ path: path.slice(9), fields }] : [];
});

test("CON-119 the page of an expired form keeps every field of the forms that edit the policy, except the CSRF token", async () => {
  for (const page of Object.values(UPLOADS)) {
    const { forms: shown } = await browser.visit(`/console/${page}`);
    for (const { fields } of shown) {
      const lost = Object.keys(fields).filter((name) => !Object.hasOwn(keptFields({ fields }), name));
      expect([page, lost]).toEqual([page, lost.length === 0 ? [] : ["csrf"]]);
    }
  }
});

test.each([
  "csrf",
  "current_password",
  "client_secret",
  "token",
  "code",
  "user_code",
  "recovery_code",
  "answer",
])("CON-119 %s is not kept", (name) => {
  expect(keptFields({ fields: { [name]: "x" } })).toEqual({});
});

test.each(["harness_codex", "harness_opencode", "codex-use", "opencode-skills_dir", "set_max_output_tokens"])(
  "CON-119 %s is kept",
  (name) => {
    expect(keptFields({ fields: { [name]: "x" } })).toEqual({ [name]: "x" });
  },
);

describe("CON-118 a form that changes something", () => {
  test("carries a version, or is listed with a reason", () => {
    const unversioned = forms.filter(({ fields }) => !fields.some((name) => VERSION.test(name)));
    const known = [UNVERSIONED, UPLOADS].flatMap((list) => Object.keys(list));
    expect(unversioned.map(({ path }) => path).sort()).toEqual([...known, ...TESTED_THERE, ...FILES].sort());
  });

  test.each(Object.entries(UPLOADS))("a form to %s carries a version on its page", async (path, page) => {
    const { status, forms: shown } = await browser.visit(`/console/${page}`);
    const action = path.includes(":") && page !== "mcp/new" ? page : path === "mcp/:name" ? "mcp/new" : path;
    const found = shown.filter((form) => form.action === `/console/${action}`);
    expect([path, status, found.length > 0]).toEqual([path, 200, true]);
    for (const { fields } of found) expect(Object.keys(fields)).toContain("version");
  });
});
