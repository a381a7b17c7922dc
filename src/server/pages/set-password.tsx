// Pages for setting a password with a link: choose it, done, or unavailable. The route checks the token and sets the password.
/** @jsxImportSource preact */
import { ErrorSummary, Hidden, NewPasswordFields, type PasswordLinkProps } from "./forms.tsx";
import { type Branding, renderPage } from "./layout.tsx";

/** Asks the user for a new password. Posts `csrf`, `token` and `password` to /set-password. */
export function setPasswordPage(props: PasswordLinkProps): string {
  const { csrf, token, email, minimumPasswordLength, error, branding } = props;
  return renderPage(
    { title: "Set a password", error, branding },
    <>
      <ErrorSummary error={error} fieldId="password" />
      <p>Choose a password to sign in to {branding.organizationName}. It signs you out everywhere else.</p>
      <form method="post" action="/set-password">
        <Hidden name="csrf" value={csrf} />
        <Hidden name="token" value={token} />
        <NewPasswordFields
          email={email}
          label="New password"
          minimumLength={minimumPasswordLength}
          error={error}
        />
        <button class="button primary" type="submit">
          Set password
        </button>
      </form>
    </>,
  );
}

/** Shown for an expired, used, replaced, void or unknown link, with the same text for all. */
export function passwordLinkUnavailablePage({ branding }: { branding?: Branding | undefined }): string {
  return renderPage(
    { title: "This link is unavailable", branding },
    <>
      <p>It has expired, was already used or replaced, or was not copied completely.</p>
      <p>Ask an administrator for a new link. If you know your password, sign in.</p>
      <a class="button" href="/login">
        Sign in
      </a>
    </>,
  );
}

/** Confirms the new password and links to sign-in. */
export function passwordSetPage({ branding }: { branding?: Branding | undefined }): string {
  return renderPage(
    { title: "Your password is set", branding },
    <>
      <p>Sign in with your email and the password you chose.</p>
      <a class="button primary" href="/login">
        Sign in
      </a>
    </>,
  );
}
