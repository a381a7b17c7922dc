// Shows and decides one device login in the browser, for links and typed codes alike. Routes pass functions that find the
// login and record the decision; the access area implements both.
import type { DeviceLoginView } from "../../../domain/access/service.ts";
import { OAUTH_CLIENT_ID } from "../../../domain/access/wire.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Browser, Visitor } from "../../auth/browser.ts";
import { failureOf, HttpError } from "../../http/problems/problem.ts";
import { page, seeOther, signInPath } from "../html.ts";
import { approvalPage } from "./approval.tsx";
import { linkUnavailablePage, wrongAccountPage } from "./approval-outcome.tsx";

/** Input of a decision for the access area. */
export interface Decision {
  loginSessionId: string;
  decision: "approve" | "refuse";
}

/** @returns the redirect to a required step before `back`; undefined for any other error */
type DetourOf = (error: unknown, back: string) => Response | undefined;

interface Shown {
  /** path of the page, which forms also post to */
  action: string;
  claim(): Promise<DeviceLoginView>;
}

interface Decided {
  action: string;
  form: { csrf?: string | undefined; decision?: string | undefined };
  decide(decision: Decision): Promise<void>;
}

/** @returns the handlers that show and decide a device login */
export function createApprovals(browser: Browser, detourOf: DetourOf) {
  const frameOf = ({ csrf, principal, through }: Visitor, action: string) => ({
    csrf,
    action,
    through,
    signedInAs: principal.email,
    isAdministrator: principal.role === "admin",
    branding: browser.branding(),
  });

  const refused = (error: unknown, { visitor, action }: { visitor: Visitor; action: string }): Response => {
    const failure = failureOf(error);
    const frame = frameOf(visitor, action);
    if (failure?.reason === "device_login.unavailable") {
      return page(linkUnavailablePage(frame), { status: failure.status });
    }
    if (failure?.reason === "device_login.claimed")
      return page(wrongAccountPage(frame), { status: failure.status });
    const detour = detourOf(error, action);
    if (detour) return detour;
    throw error;
  };

  return {
    /** Claims the device login for the visitor and shows it. Signed-out visitors are redirected to sign in. */
    async show(request: Request, { action, claim }: Shown): Promise<Response> {
      const visitor = browser.visitor(request);
      if (!visitor) return seeOther(signInPath(action));
      try {
        const facts = factsOf(await claim());
        return page(approvalPage({ ...facts, ...frameOf(visitor, action) }));
      } catch (error) {
        return refused(error, { visitor, action });
      }
    },

    /** Records the decision and redirects to its confirmation. */
    async decide(request: Request, { action, form, decide }: Decided): Promise<Response> {
      const visitor = browser.visitor(request);
      if (!visitor) return seeOther(signInPath(action));
      browser.checkForm(request, form.csrf, visitor);
      const decision = readDecision(form.decision);
      try {
        await decide({ decision, loginSessionId: visitor.sessionId });
        return seeOther(CONFIRMATIONS[decision]);
      } catch (error) {
        return refused(error, { visitor, action });
      }
    },
  };
}

const factsOf = ({ userCode, scopes, address, createdAtMs, expiresAtMs }: DeviceLoginView) => ({
  userCode,
  scopes,
  oauthClientName: OAUTH_CLIENT_ID,
  requestedFrom: { address },
  requestedAt: toRfc3339(createdAtMs),
  expiresAt: toRfc3339(expiresAtMs),
});

const CONFIRMATIONS = { approve: "/device/approved", refuse: "/device/denied" } as const;

/**
 * @param word `approve` or `deny`, as in forms and in the JSON routes
 * @throws HttpError 400
 */
export function readDecision(word: string | undefined): Decision["decision"] {
  if (word === "approve") return "approve";
  if (word === "deny") return "refuse";
  throw new HttpError(400, "device_login.decision", "the decision must be approve or deny");
}
