// Showing and deciding one device login in the browser, the same whether a link or a typed code found it.
// Finding it and recording the decision is given by the routes; what both mean is the access area's.
import type { DeviceLoginView } from "../../../domain/access/service.ts";
import { OAUTH_CLIENT_ID } from "../../../domain/access/wire.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Browser, Visitor } from "../../auth/browser.ts";
import { failureOf, HttpError } from "../../http/problems/problem.ts";
import { page, seeOther, signInPath } from "../html.ts";
import { approvalPage } from "./approval.tsx";
import { linkUnavailablePage, wrongAccountPage } from "./approval-outcome.tsx";

/** What the access area needs for a decision, whatever found the device login. */
export interface Decision {
  loginSessionId: string;
  decision: "approve" | "refuse";
}

interface Shown {
  /** path of the page: forms post there */
  action: string;
  claim(): Promise<DeviceLoginView>;
}

interface Decided {
  action: string;
  form: { csrf?: string | undefined; decision?: string | undefined };
  decide(decision: Decision): Promise<void>;
}

/** @returns both halves of an approval as answers */
export function createApprovals(browser: Browser) {
  const frameOf = ({ csrf, principal }: Visitor, action: string) => ({
    csrf,
    action,
    signedInAs: principal.email,
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
    throw error;
  };

  return {
    /** Binds the device login to the visitor and shows it; strangers sign in first. */
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

    /** Records the decision and leads to the page that confirms it. */
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
 * @param word `approve` or `deny`, as pages and the contract's JSON routes spell it
 * @throws HttpError 400
 * @source client-and-auth.md section 4.1
 */
export function readDecision(word: string | undefined): Decision["decision"] {
  if (word === "approve") return "approve";
  if (word === "deny") return "refuse";
  throw new HttpError(400, "device_login.decision", "the decision must be approve or deny");
}
