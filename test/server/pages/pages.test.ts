// The browser pages as documents: escaping, structure for assistive technology, content security policy, and contrast of the style
// sheet. test/browser tests focus, keyboard and width in a real browser.
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GatewayKeyStatus } from "../../../src/domain/gateway/keys/key-status.ts";
import {
  type AccountSettingsProps,
  accountSettingsPage,
  signedOutEverywherePage,
} from "../../../src/server/pages/account/account.tsx";
import {
  contentSecurityPolicy,
  iconPath,
  passkeyScriptPath,
  styleSheetBody,
  styleSheetPath,
} from "../../../src/server/pages/assets.ts";
import { confirmationPage } from "../../../src/server/pages/confirmation.tsx";
import { approvalPage } from "../../../src/server/pages/device-login/approval.tsx";
import {
  decisionPage,
  linkUnavailablePage,
  wrongAccountPage,
} from "../../../src/server/pages/device-login/approval-outcome.tsx";
import { codeEntryPage } from "../../../src/server/pages/device-login/code-entry.tsx";
import { errorPage } from "../../../src/server/pages/error.tsx";
import {
  invitationAcceptedPage,
  invitationPage,
  invitationUnavailablePage,
} from "../../../src/server/pages/invitation.tsx";
import type { Branding } from "../../../src/server/pages/layout.tsx";
import { factorsPage } from "../../../src/server/pages/second-factor/factors.tsx";
import {
  passwordConfirmationPage,
  proofPage,
  providerConfirmationPage,
} from "../../../src/server/pages/second-factor/proof.tsx";
import {
  appSetupPage,
  passkeySetupPage,
  recoveryCodesPage,
  setupChoicePage,
} from "../../../src/server/pages/second-factor/setup.tsx";
import { accountPage, signedOutPage, signInPage } from "../../../src/server/pages/sign-in.tsx";
import { asSentence } from "../../../src/server/pages/words.ts";

interface Element {
  tag: string;
  attributes: ReadonlyMap<string, string>;
  /** text directly inside */
  text: string;
}

function elementsOf(html: string): Element[] {
  const elements: Element[] = [];
  const open: Element[] = [];
  new HTMLRewriter()
    .on("*", {
      element(node) {
        const element = { tag: node.tagName, attributes: new Map(node.attributes), text: "" };
        elements.push(element);
        if (!node.canHaveContent) return;
        open.push(element);
        node.onEndTag(() => {
          open.pop();
        });
      },
      text(chunk) {
        const innermost = open.at(-1);
        if (innermost) innermost.text += chunk.text;
      },
    })
    .transform(html);
  return elements;
}

const withTag = (html: string, tag: string) => elementsOf(html).filter((element) => element.tag === tag);
const textOf = (html: string, tag: string) => withTag(html, tag)[0]?.text;
const attributesOf = (html: string, tag: string, id: string) =>
  withTag(html, tag).find((element) => element.attributes.get("id") === id)?.attributes;

const keyOf = (word: (name: string) => string, status: GatewayKeyStatus["status"]): GatewayKeyStatus => ({
  enabled: true,
  email: word("email"),
  status,
  alias: word("alias"),
  external_id: word("external"),
  expires_at: word("time"),
  last_reconciled_at: word("time"),
  error: word("error"),
  invalidated_at: word("time"),
  invalidation_reason: word("reason"),
  next_retry_at: word("time"),
});

const settingsOf = (word: (name: string) => string): AccountSettingsProps => ({
  email: word("email"),
  role: word("role"),
  csrf: word("csrf"),
  notice: word("notice"),
  password: { minimumLength: 12, error: { field: "current_password", message: word("error") } },
  counts: { browsers: 2, workstations: 1 },
  browsers: {
    rows: [true, false].map((isCurrent) => ({
      id: word(`browser ${isCurrent}`),
      userAgent: word("agent"),
      address: word("address"),
      signedInAt: word("time"),
      through: word("provider"),
      usedAt: word("time"),
      approved: 1,
      isCurrent,
    })),
    older: word("older"),
    newest: word("newest"),
  },
  workstations: {
    rows: [
      {
        id: word("workstation"),
        hostname: word("host"),
        software: word("software"),
        address: word("address"),
        approvedAt: word("time"),
        usedAt: word("time"),
        expiresAt: word("time"),
      },
    ],
    older: word("older"),
    newest: word("newest"),
  },
  gatewayKey: keyOf(word, "ready"),
  adminLinks: [{ href: word("href"), name: word("name") }],
  branding: { organizationName: word("organization"), logoUrl: word("logo"), faviconUrl: word("icon") },
});

/** Every page. `word` makes each string, so one list provides harmless and hostile props. */
function everyPage(word: (name: string) => string): Record<string, string> {
  const branding = {
    organizationName: word("organization"),
    logoUrl: word("logo"),
    faviconUrl: word("icon"),
  };
  const csrf = word("csrf");
  const signedInAs = word("email");
  const action = word("action");
  return {
    signIn: signInPage({ csrf, branding }),
    signInFailed: signInPage({
      csrf,
      next: word("next"),
      email: word("email"),
      error: word("error"),
      branding,
    }),
    account: accountPage({ email: word("email"), role: word("role"), csrf, branding }),
    signedOut: signedOutPage({ branding }),
    accountSettings: accountSettingsPage(settingsOf(word)),
    accountSettingsElsewhere: accountSettingsPage({
      ...settingsOf(word),
      password: undefined,
      gatewayKey: keyOf(word, "invalid"),
    }),
    confirmation: confirmationPage({
      title: word("title"),
      consequences: [word("consequence")],
      action,
      verb: word("verb"),
      back: word("back"),
      csrf,
      branding,
    }),
    signedOutEverywhere: signedOutEverywherePage({ counts: { browsers: 2, workstations: 1 }, branding }),
    approval: approvalPage({
      action,
      csrf,
      userCode: word("code"),
      oauthClientName: word("client"),
      scopes: [word("scope"), "governance:read"],
      requestedFrom: { address: word("address") },
      requestedAt: word("time"),
      expiresAt: word("time"),
      signedInAs,
      branding,
    }),
    approved: decisionPage({ decision: "approved", branding }),
    denied: decisionPage({ decision: "denied", branding }),
    linkUnavailable: linkUnavailablePage({ branding }),
    wrongAccount: wrongAccountPage({ csrf, action, signedInAs, branding }),
    codeEntry: codeEntryPage({ csrf, signedInAs, branding }),
    codeRefused: codeEntryPage({ csrf, value: word("value"), error: word("error"), signedInAs, branding }),
    invitation: invitationPage({
      csrf,
      token: word("token"),
      email: word("email"),
      role: word("role"),
      minimumPasswordLength: 12,
      error: word("error"),
      branding,
    }),
    ...factorPages(word, { csrf, action, branding }),
    invitationUnavailable: invitationUnavailablePage({ branding }),
    invitationAccepted: invitationAcceptedPage({ branding }),
    error: errorPage({
      title: word("title"),
      detail: word("detail"),
      requestId: word("request"),
      nextStep: { text: word("way"), path: word("path") },
      branding,
    }),
  };
}

/** The pages of the second factor. */
function factorPages(
  word: (name: string) => string,
  shared: { csrf: string; action: string; branding: Branding },
): Record<string, string> {
  const { csrf, branding } = shared;
  const passkey = { challenge: word("challenge") };
  const proof = { ...shared, next: word("next"), error: word("error"), hasApp: true };
  const factor = { createdAt: word("created"), usedAt: word("used") };
  return {
    proof: proofPage({ ...proof, purpose: "sign-in", passkey }),
    proofByCode: proofPage({ ...proof, purpose: "confirm", passkey: undefined, hasApp: false }),
    passwordConfirmation: passwordConfirmationPage({ ...proof, email: word("email") }),
    providerConfirmation: providerConfirmationPage({
      provider: { name: word("provider"), href: word("again") },
      branding,
    }),
    setupChoice: setupChoicePage({ appPath: word("app"), passkeyPath: word("passkey"), branding }),
    appSetup: appSetupPage({
      ...proof,
      back: word("back"),
      secret: word("secret"),
      uri: "otpauth://totp/x",
      sealed: word("sealed"),
    }),
    passkeySetup: passkeySetupPage({ ...proof, back: word("back"), options: passkey }),
    recoveryCodes: recoveryCodesPage({ codes: [word("one"), word("two")], next: word("next"), branding }),
    factors: factorsPage({
      paths: { app: "/app", newPasskey: "/passkey" },
      csrf,
      branding,
      notice: word("notice"),
      app: factor,
      passkeys: [{ ...factor, id: word("id"), name: word("name") }],
      recoveryCodes: 1,
      isRequired: true,
      offersPasskeys: true,
    }),
    noFactors: factorsPage({
      paths: { app: "/app", newPasskey: "/passkey" },
      csrf,
      branding,
      app: null,
      passkeys: [],
      recoveryCodes: 0,
      isRequired: false,
      offersPasskeys: false,
    }),
  };
}

/** The script of passkeys is the only script, and on these pages only. */
const SCRIPTED = new Set(["proof", "passkeySetup"]);
const PASSKEY_SCRIPT = `<script src="${passkeyScriptPath}" defer></script>`;

const branding = { organizationName: "Acme", logoUrl: null, faviconUrl: null };
const approvalProps = {
  action: "/device/opaque",
  csrf: "csrf-1",
  userCode: "WDJBMJHT",
  oauthClientName: "Coding CLI",
  scopes: ["governance:read", "session:write", "constructor"],
  requestedFrom: { address: "192.0.2.7" },
  requestedAt: "2026-11-21T11:51:42Z",
  expiresAt: "2026-11-21T12:01:42Z",
  signedInAs: "ana@acme.example",
  branding,
};
const harmless = everyPage((name) => name);

describe.each(Object.entries(harmless))("page %s", (name, html) => {
  test("keeps its structure and attribute names when all props are hostile", () => {
    const hostile = everyPage((word) => `${word}"'><script>alert(1)</script><img src=x onerror=alert(1)>`)[
      name
    ];
    const shape = (page: string) =>
      elementsOf(page).map(({ tag, attributes }) => [tag, ...attributes.keys()].join(" "));
    expect(shape(hostile ?? "")).toEqual(shape(html));
    expect(hostile).not.toContain('"><script>');
    expect(hostile?.replace(PASSKEY_SCRIPT, "")).not.toContain("<script");
  });

  test("has a language, a title, one h1, and one main landmark after one banner", () => {
    expect(html).toStartWith("<!doctype html><html");
    expect(withTag(html, "html")[0]?.attributes.get("lang")).toBe("en");
    expect(textOf(html, "title")).toContain(textOf(html, "h1") ?? "missing");
    expect(["h1", "main", "header", "title"].map((tag) => withTag(html, tag).length)).toEqual([1, 1, 1, 1]);
  });

  test("labels every visible input, and its ids are unique and resolvable", () => {
    const elements = elementsOf(html);
    const ids = elements.flatMap(({ attributes }) => attributes.get("id") ?? []);
    const labeled = elements.flatMap(({ attributes }) => attributes.get("for") ?? []);
    const visible = withTag(html, "input").filter(({ attributes }) => attributes.get("type") !== "hidden");
    const described = elements.flatMap(
      ({ attributes }) => attributes.get("aria-describedby")?.split(" ") ?? [],
    );
    const anchors = elements.flatMap(({ attributes }) => attributes.get("href")?.match(/^#(.+)/)?.[1] ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    expect(visible.map(({ attributes }) => attributes.get("id") ?? "no id").sort()).toEqual(labeled.sort());
    expect(ids).toEqual(expect.arrayContaining([...described, ...anchors]));
  });

  test("AIR-3 WEB-1 has no inline script or style, no external resource, and no script but that of passkeys", () => {
    expect(html.includes(PASSKEY_SCRIPT)).toBe(SCRIPTED.has(name));
    const elements = elementsOf(html.replace(PASSKEY_SCRIPT, ""));
    const names = elements.flatMap(({ attributes }) => [...attributes.keys()]);
    expect(elements.filter(({ tag }) => ["script", "style", "iframe", "object"].includes(tag))).toEqual([]);
    expect(names.filter((attribute) => attribute === "style" || attribute.startsWith("on"))).toEqual([]);
    const links = withTag(html, "link").map(({ attributes }) => attributes.get("href"));
    expect(links).toEqual(["icon", styleSheetPath]);
  });

  test("WEB-5 sends a CSRF token with every form, by POST", () => {
    const forms = withTag(html, "form");
    const tokens = withTag(html, "input").filter(({ attributes }) => attributes.get("name") === "csrf");
    expect(forms.every(({ attributes }) => attributes.get("method") === "post")).toBe(true);
    expect(tokens.map(({ attributes }) => attributes.get("value"))).toEqual(forms.map(() => "csrf"));
  });
});

test.each(["error", "linkUnavailable", "wrongAccount", "invitationUnavailable"])(
  "the refusal page %s has a link or a form to continue",
  (name) => {
    const main = harmless[name]?.split("<main>")[1] ?? "";
    expect(main).toMatch(/<a class="button"|<form /);
  },
);

test("pages show the product's logo and icon if the organization has none", () => {
  const html = signInPage({ csrf: "c", branding });
  expect(withTag(html, "img")[0]?.attributes.get("src")).toBe(iconPath);
  expect(withTag(html, "link")[0]?.attributes.get("href")).toBe(iconPath);
});

describe("titles", () => {
  test("name the page and the organization", () => {
    expect(textOf(signInPage({ csrf: "c", branding }), "title")).toBe("Sign in – Acme");
  });

  test.each(["signInFailed", "codeRefused", "invitation", "error"])("start with the error on %s", (name) => {
    expect(textOf(harmless[name] ?? "", "title")).toStartWith("Error: ");
  });

  test("fall back to the product name if the organization is unknown", () => {
    const nextStep = { text: "Continue", path: "/" };
    const html = errorPage({ title: "Not found", detail: "Gone.", requestId: "r-1", nextStep });
    expect(textOf(html, "title")).toBe("Error: Not found – Quartermaster");
  });
});

describe("WEB-2 approval page", () => {
  const html = approvalPage(approvalProps);
  const sentences = withTag(html, "li").map(({ text }) => text);

  test("has exactly two equally styled decisions, posted to the opaque link", () => {
    const buttons = withTag(html, "button").filter(({ attributes }) => attributes.get("name") === "decision");
    const described = buttons.map(({ text, attributes }) => [text, attributes.get("value")]);
    expect(described).toEqual([
      ["Authorize", "approve"],
      ["Deny", "deny"],
    ]);
    expect(new Set(buttons.map(({ attributes }) => attributes.get("class"))).size).toBe(1);
    expect(withTag(html, "form")[0]?.attributes.get("action")).toBe("/device/opaque");
  });

  test("shows the code read-only under its label, outside the form so that Enter decides nothing", () => {
    const code = attributesOf(html, "input", "confirmation-code");
    expect(code?.get("value")).toBe("WDJB-MJHT");
    expect(code?.has("readonly")).toBe(true);
    expect(textOf(html, "label")).toBe("Confirmation code");
    expect(html.indexOf('id="confirmation-code"')).toBeLessThan(html.indexOf("<form"));
  });

  test("shows the requester, address, time and signed-in account", () => {
    const facts = withTag(html, "dd").map(({ text }) => text);
    expect(facts.slice(0, 2)).toEqual(["Coding CLI", "192.0.2.7"]);
    expect(withTag(html, "time").map(({ text }) => text)).toEqual([
      "21 November 2026 at 11:51 UTC",
      "21 November 2026 at 12:01 UTC",
    ]);
    expect(html).toContain("<strong>ana@acme.example</strong>");
    expect(html).toContain("Deny this request if you did not start it yourself.");
  });

  test("shows a note if the address is unknown", () => {
    expect(approvalPage({ ...approvalProps, requestedFrom: { address: null } })).toContain("Unknown address");
  });

  test("describes known scopes and quotes the others", () => {
    expect(sentences).toEqual([
      "Read your policy, fetch packages and use your gateway key",
      "Upload coding sessions for you",
      "Use the permission “constructor”",
    ]);
  });

  test("omits the list of scopes if there are none", () => {
    expect(withTag(approvalPage({ ...approvalProps, scopes: [] }), "ul")).toEqual([]);
  });

  test("lets the wrong user sign out and return to the link", () => {
    expect(html).toContain('action="/sign-out"');
    expect(html).toContain('name="next" value="/device/opaque"');
  });
});

describe("WEB-7 outcome of a device login", () => {
  test.each([
    ["approved", "CLI authorized", "/account"],
    ["denied", "Request denied", "/device"],
  ] as const)("%s is shown with the next step", (decision, heading, next) => {
    const html = decisionPage({ decision, branding });
    expect(textOf(html, "h1")).toBe(heading);
    expect(html).toContain("You can close this page and return to the workstation.");
    expect(html).toContain(`<a class="button" href="${next}">`);
  });
});

describe("WEB-3 code entry page", () => {
  const refused = codeEntryPage({
    csrf: "c",
    value: "wdjb",
    error: "This code is not valid.",
    signedInAs: "ana@acme.example",
    branding,
  });

  test("asks for capital letters and prevents the browser from correcting or remembering them", () => {
    const input = attributesOf(refused, "input", "user_code");
    const hints = ["name", "autocapitalize", "autocorrect", "spellcheck", "autocomplete"];
    expect(hints.map((hint) => input?.get(hint))).toEqual(["user_code", "characters", "off", "false", "off"]);
  });

  test("shows the error beside the field and in a focused summary", () => {
    const input = attributesOf(refused, "input", "user_code");
    expect([input?.get("value"), input?.get("aria-invalid")]).toEqual(["wdjb", "true"]);
    expect(input?.get("aria-describedby")).toContain("user_code-error");
    expect(attributesOf(refused, "p", "user_code-error")).toBeDefined();
    const summary = elementsOf(refused).find(({ attributes }) => attributes.get("role") === "alert");
    expect(summary?.attributes.get("tabindex")).toBe("-1");
    expect(summary?.attributes.has("autofocus")).toBe(true);
  });

  test("has neither summary nor invalid field without an error", () => {
    const html = codeEntryPage({ csrf: "c", signedInAs: "ana@acme.example", branding });
    expect(html).not.toContain('role="alert"');
    expect(attributesOf(html, "input", "user_code")?.get("aria-invalid")).toBe("false");
  });
});

describe("passwords", () => {
  const autocompleteOf = (html: string) =>
    withTag(html, "input").flatMap(({ attributes }) => attributes.get("autocomplete") ?? []);

  test("sign-in offers the stored account to a password manager", () => {
    expect(autocompleteOf(signInPage({ csrf: "c", branding }))).toEqual(["username", "current-password"]);
  });

  test("an invitation offers a new password of the required length", () => {
    const html = harmless.invitation ?? "";
    expect(autocompleteOf(html)).toEqual(["username", "new-password"]);
    expect(attributesOf(html, "input", "password")?.get("minlength")).toBe("12");
  });
});

describe("assets", () => {
  test("AIR-3 the path of the style sheet contains its digest", () => {
    const digest = createHash("sha256").update(styleSheetBody).digest("hex");
    expect(styleSheetPath).toBe(`/assets/${digest.slice(0, 12)}-style.css`);
  });

  test("AIR-3 the style sheet loads nothing", () => {
    expect(styleSheetBody).not.toMatch(/url\(|@import|@font-face/);
  });

  test("the content security policy allows no script", () => {
    expect(contentSecurityPolicy).toStartWith("default-src 'none'; style-src 'self'; img-src");
    expect(contentSecurityPolicy).not.toMatch(/script-src|unsafe/);
  });

  // Bun reads the JSX settings of the working folder, so each page names its own.
  test("pages render when the process was started in another folder", () => {
    const page = join(import.meta.dir, "../../../src/server/pages/device-login/approval-outcome.tsx");
    const script = `console.log((await import(${JSON.stringify(page)})).linkUnavailablePage({}))`;
    const run = Bun.spawnSync([process.execPath, "-e", script], { cwd: tmpdir() });
    expect(run.stdout.toString()).toContain("<h1>This link is unavailable</h1>");
  });
});

/** The custom properties of a color scheme: 0 light, 1 dark. */
const paletteOf = (scheme: 0 | 1): ReadonlyMap<string, string> =>
  new Map(
    [...styleSheetBody.matchAll(/--([\w-]+):\s*light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(
      ([, name = "", ...colors]) => [name, colors[scheme] ?? ""],
    ),
  );

/** Relative luminance, WCAG 2.2. */
function luminanceOf(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const channel = Number.parseInt(hex.slice(start, start + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

describe.each([
  ["light", 0],
  ["dark", 1],
] as const)("%s scheme", (_, scheme) => {
  const palette = paletteOf(scheme);
  const contrast = (front: string, back: string) =>
    contrastOf(palette.get(front) ?? "missing", palette.get(back) ?? "missing");

  test.each([
    ["text", "surface"],
    ["text", "canvas"],
    ["text", "warning-surface"],
    ["text", "danger-surface"],
    ["muted", "surface"],
    ["muted", "canvas"],
    ["accent", "surface"],
    ["on-accent", "accent"],
    ["danger", "surface"],
    ["danger", "danger-surface"],
  ])("text in %s on %s has a contrast of at least 4.5 to 1", (front, back) => {
    expect(contrast(front, back)).toBeGreaterThanOrEqual(4.5);
  });

  test.each([
    ["control", "surface"],
    ["control", "canvas"],
    ["accent", "surface"],
    ["danger", "surface"],
    ["warning", "surface"],
    ["focus", "surface"],
    ["focus", "canvas"],
  ])("an edge in %s on %s has a contrast of at least 3 to 1", (front, back) => {
    expect(contrast(front, back)).toBeGreaterThanOrEqual(3);
  });

  test("colors occur only in the palette, so that this check covers all of them", () => {
    const rules = styleSheetBody.replaceAll(/:root\s*\{[^}]*\}/g, "").replaceAll(/\/\*[\s\S]*?\*\//g, "");
    expect(rules).not.toMatch(/#[0-9a-f]{3,8}\b|rgba?\(|hsla?\(|oklch\(/i);
    expect([...palette.keys()]).toEqual([...paletteOf(0).keys()]);
  });
});

test.each([
  ["https://forge.example did not answer", "https://forge.example did not answer."],
  ["api_base_url must be an https URL", "api_base_url must be an https URL."],
  ["gateway.type is not set", "gateway.type is not set."],
  ["ana@example.org is suspended", "ana@example.org is suspended."],
  ["r43 is in force", "r43 is in force."],
  ["/ttl_seconds has two values", "/ttl_seconds has two values."],
  ["e-mail addresses: at most 100", "E-mail addresses: at most 100."],
  ["é: one letter!", "É: one letter!"],
  ["the gateway’s answer is missing", "The gateway’s answer is missing."],
  ["no", "No."],
  ["", "."],
])("CON-122 a message is a sentence with unchanged names: %p", (message, sentence) => {
  expect(asSentence(message)).toBe(sentence);
});
