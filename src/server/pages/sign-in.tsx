// Sign-in, landing and signed-out pages. Routes check passwords and manage sessions.
/** @jsxImportSource preact */
import { ErrorSummary, Field, Hidden, SignOutForm } from "./forms.tsx";
import { type Branding, renderPage } from "./layout.tsx";
import { roleText } from "./words.ts";

export interface SignInProps {
  csrf: string;
  /** path to continue to after signing in; the route has verified that it is on this origin */
  next?: string | undefined;
  /** the previous input after an error */
  email?: string | undefined;
  error?: string | undefined;
  branding: Branding;
}

/** Asks for email and password. Posts `csrf`, `next` (if given), `email` and `password` to /login. */
export function signInPage({ csrf, next, email, error, branding }: SignInProps): string {
  return renderPage(
    { title: "Sign in", error, branding },
    <>
      {/* A failure names no field: which of the two was wrong stays untold. */}
      <ErrorSummary error={error} />
      <form method="post" action="/login">
        <Hidden name="csrf" value={csrf} />
        {next === undefined ? null : <Hidden name="next" value={next} />}
        <Field id="email" label="Email">
          {(described) => (
            <input {...described} type="email" name="email" value={email} autocomplete="username" required />
          )}
        </Field>
        <Field id="password" label="Password">
          {(described) => (
            <input {...described} type="password" name="password" autocomplete="current-password" required />
          )}
        </Field>
        <button class="button primary" type="submit">
          Sign in
        </button>
      </form>
    </>,
  );
}

export interface AccountProps {
  email: string;
  /** `admin` or `member` */
  role: string;
  csrf: string;
  branding: Branding;
}

/** The landing page of a signed-in user. */
export function accountPage({ email, role, csrf, branding }: AccountProps): string {
  return renderPage(
    { title: "Your account", branding },
    <>
      <p>
        Your role is <strong>{roleText(role)}</strong>. If your workstation shows a code, enter it here.
      </p>
      <a class="button primary" href="/device">
        Enter a code
      </a>
      <a class="button" href="/account">
        Account settings
      </a>
      <SignOutForm csrf={csrf} email={email} />
    </>,
  );
}

/** Confirms the end of the browser session. */
export function signedOutPage({ branding }: { branding?: Branding | undefined }): string {
  return renderPage(
    { title: "You are signed out", branding },
    <>
      <p>This browser no longer has access to your account. Workstations stay signed in.</p>
      <a class="button primary" href="/login">
        Sign in
      </a>
    </>,
  );
}
