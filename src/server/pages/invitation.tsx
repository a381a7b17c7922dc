// Pages for accepting an invitation: choose a password, done, or unavailable. The route checks the token and creates the
// user.
/** @jsxImportSource preact */
import { ErrorSummary, Hidden, NewPasswordFields, type PasswordLinkProps } from "./forms.tsx";
import { type Branding, renderPage } from "./layout.tsx";
import { ProviderButton, type ProviderOffer } from "./sign-in.tsx";
import { roleText } from "./words.ts";

export interface InvitationProps extends PasswordLinkProps {
  /** `admin` or `member` */
  role: string;
}

/** Asks the invited user for a password. Posts `csrf`, `token` and `password` to /accept-invitation. */
export function invitationPage(props: InvitationProps): string {
  const { csrf, token, email, role, minimumPasswordLength, error, branding } = props;
  return renderPage(
    { title: `Join ${branding.organizationName}`, error, branding },
    <>
      <ErrorSummary error={error} fieldId="password" />
      <p>
        You are invited as <strong>{roleText(role)}</strong>. Choose a password to create your account.
      </p>
      <form method="post" action="/accept-invitation">
        <Hidden name="csrf" value={csrf} />
        <Hidden name="token" value={token} />
        <NewPasswordFields
          email={email}
          label="Password"
          minimumLength={minimumPasswordLength}
          error={error}
        />
        <button class="button primary" type="submit">
          Create account
        </button>
      </form>
    </>,
  );
}

export interface ProviderInvitationProps {
  email: string;
  /** `admin` or `member` */
  role: string;
  provider: ProviderOffer;
  branding: Branding;
}

/** Sends the invited person to the identity provider. Signing in there with the invited address accepts the invitation. */
export function providerInvitationPage({ email, role, provider, branding }: ProviderInvitationProps): string {
  return renderPage(
    { title: `Join ${branding.organizationName}`, branding },
    <>
      <p>
        You are invited as <strong>{roleText(role)}</strong>. Sign in as <strong>{email}</strong> to accept.
      </p>
      <ProviderButton {...provider} />
    </>,
  );
}

/** Shown for an expired, withdrawn, used or unknown invitation, with the same text for all. */
export function invitationUnavailablePage({ branding }: { branding?: Branding | undefined }): string {
  return renderPage(
    { title: "This invitation is unavailable", branding },
    <>
      <p>It has expired, was canceled or already used, or the link was not copied completely.</p>
      <p>Ask an administrator for a new invitation. If you already have an account, sign in.</p>
      <a class="button" href="/login">
        Sign in
      </a>
    </>,
  );
}

/** Confirms the new account and links to sign-in. */
export function invitationAcceptedPage({ branding }: { branding?: Branding | undefined }): string {
  return renderPage(
    { title: "Your account is ready", branding },
    <>
      <p>Sign in with your email and the password you chose.</p>
      <a class="button primary" href="/login">
        Sign in
      </a>
    </>,
  );
}
