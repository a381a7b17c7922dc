// A reader of console pages, for pages that are rendered without a server.
import type { Reader } from "../../../src/server/console/reader.ts";

/** @returns an administrator who opened the address with this cookie header */
export function readerOf(address: string, cookie: string): Reader {
  const request = new Request(address, { headers: { cookie } });
  const email = "admin@example.com";
  const organizationId = "organization";
  const principal = {
    ...({ kind: "session", userId: "user", organizationId, subject: "user", email, role: "admin" } as const),
    scopes: new Set<string>(),
    sid: null,
    sessionId: "session",
    grantId: null,
    expiresAtMs: 0,
    issuedAtMs: 0,
    renewed: false,
  };
  return {
    request,
    url: new URL(address),
    origin: "https://control.example.org",
    organizationId,
    readsAll: true,
    mayAdminister: true,
    csrf: "csrf",
    visitor: {
      principal,
      sessionId: "session",
      sessionToken: "",
      csrf: "csrf",
      formOwner: "owner",
      through: undefined,
    },
    actor: { kind: "user", id: "user", label: email, organizationId },
    nowMs: Date.now(),
    zone: "Europe/Berlin",
    theme: undefined,
    language: "en-US",
    savedViews: () => [],
    usual: () => undefined,
    policyState: () => ({ draftSavedAtMs: undefined, revision: undefined }),
    targetPage: () => undefined,
  };
}
