// What a device login's link shows when there is nothing (more) to decide: decided, unavailable, or somebody else's.
// Each says what to do now. Telling which of them applies is left to the route.
/** @jsxImportSource preact */
import { SignOutForm } from "../forms.tsx";
import { type Branding, renderPage } from "../layout.tsx";

export interface DecisionProps {
  decision: "approved" | "denied";
  branding?: Branding | undefined;
}

const decisions = {
  approved: { title: "CLI authorized", text: "The command line now has access." },
  denied: { title: "Request denied", text: "The command line was given no access." },
};

/**
 * Confirms the decision.
 * @source client-and-auth.md section 4.1; operator-experience.md section 7, WEB-7
 */
export function decisionPage({ decision, branding }: DecisionProps): string {
  const { title, text } = decisions[decision];
  return renderPage(
    { title, branding },
    <>
      <p>{text}</p>
      <p>You can close this page and return to the terminal.</p>
    </>,
  );
}

/** Answers a link that is expired, used or unknown: one text, so that a stranger learns nothing from it. */
export function linkUnavailablePage({ branding }: { branding?: Branding | undefined }): string {
  return renderPage(
    { title: "This link is unavailable", branding },
    <>
      <p>It has expired, was used already, or was not copied whole.</p>
      <p>Return to the terminal and sign in again there: it shows a new link and a new code.</p>
      <a class="button" href="/device">
        Enter a code
      </a>
    </>,
  );
}

export interface WrongAccountProps {
  csrf: string;
  /** path of the opaque link, to come back to with the other account */
  action: string;
  /** email of the signed-in user */
  signedInAs: string;
  branding?: Branding | undefined;
}

/** Answers a link that another account has claimed, without naming that account. */
export function wrongAccountPage({ csrf, action, signedInAs, branding }: WrongAccountProps): string {
  return renderPage(
    { title: "This request belongs to another account", branding },
    <>
      <p>Somebody opened this link before while signed in with a different account.</p>
      <p>
        If that was you, sign out and sign in with that account. If not, return to the terminal and sign in
        again there: it shows a new link and a new code.
      </p>
      <SignOutForm csrf={csrf} email={signedInAs} next={action} />
    </>,
  );
}
