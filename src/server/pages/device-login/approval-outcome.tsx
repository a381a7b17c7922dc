// Outcome pages of a device login link: decided, unavailable, or claimed by another user. Each states the next step. The
// route chooses the page.
/** @jsxImportSource preact */
import { SignOutForm } from "../forms.tsx";
import { type Branding, renderPage } from "../layout.tsx";

export interface DecisionProps {
  decision: "approved" | "denied";
  branding?: Branding | undefined;
}

const decisions = {
  approved: {
    title: "CLI authorized",
    text: "The workstation now has access.",
    nextStep: { text: "Show your workstations", path: "/account" },
  },
  denied: {
    title: "Request denied",
    text: "The workstation did not get access.",
    nextStep: { text: "Enter another code", path: "/device" },
  },
};

/** Confirms the decision. */
export function decisionPage({ decision, branding }: DecisionProps): string {
  const { title, text, nextStep } = decisions[decision];
  return renderPage(
    { title, branding },
    <>
      <p>{text}</p>
      <p>You can close this page and return to the workstation.</p>
      <a class="button" href={nextStep.path}>
        {nextStep.text}
      </a>
    </>,
  );
}

/** Shown for an expired, used or unknown link. The text is the same for all, so that it reveals nothing about the link. */
export function linkUnavailablePage({ branding }: { branding?: Branding | undefined }): string {
  return renderPage(
    { title: "This link is unavailable", branding },
    <>
      <p>It has expired, was already used, or was not copied completely.</p>
      <p>Sign in again on the workstation to get a new link and a new code.</p>
      <a class="button" href="/device">
        Enter a code
      </a>
    </>,
  );
}

export interface WrongAccountProps {
  csrf: string;
  /** path of the device login, to return to after signing in with the other account */
  action: string;
  /** email of the signed-in user */
  signedInAs: string;
  branding?: Branding | undefined;
}

/** Shown for a link that another user has claimed; does not name that user. */
export function wrongAccountPage({ csrf, action, signedInAs, branding }: WrongAccountProps): string {
  return renderPage(
    { title: "This request belongs to another account", branding },
    <>
      <p>This link was first opened by a user with a different account.</p>
      <p>
        If that was you, sign out and sign in with that account. If not, sign in again on the workstation to
        get a new link and a new code.
      </p>
      <SignOutForm csrf={csrf} email={signedInAs} next={action} />
    </>,
  );
}
