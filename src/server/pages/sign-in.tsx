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
  /** the offered identity provider */
  provider?: ProviderOffer | undefined;
  branding: Branding;
}

export interface ProviderOffer {
  name: string;
  /** path that leads to the provider */
  href: string;
  /** path of the page for the recovery password; set if people have no passwords here */
  recoveryHref?: string | undefined;
  /** whether the page asks for the recovery password */
  isRecovery?: boolean;
}

/** A link to the identity provider. */
export function ProviderButton({ name, href }: ProviderOffer) {
  return (
    <p>
      <a class="button primary" href={href}>
        Continue with {name}
      </a>
    </p>
  );
}

/**
 * Offers the identity provider, if there is one, and asks for email and password unless only the provider signs people in. Posts
 * `csrf`, `next` (if given), `email` and `password` to /login.
 */
export function signInPage({ csrf, next, email, error, provider, branding }: SignInProps): string {
  if (provider?.recoveryHref !== undefined)
    return renderPage(
      { title: "Sign in", branding },
      <>
        <ProviderButton {...provider} />
        <p>
          <a href={provider.recoveryHref}>Sign in with a recovery password</a>
        </p>
      </>,
    );
  return renderPage(
    { title: "Sign in", error, branding },
    <>
      {/* A failure names no field: which of the two was wrong stays untold. */}
      <ErrorSummary error={error} />
      {provider === undefined ? null : <ProviderButton {...provider} />}
      {provider?.isRecovery ? <p>Only the first administrator can sign in with a password here.</p> : null}
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
        <button class={provider === undefined ? "button primary" : "button"} type="submit">
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

/** Opens the provider immediately in a new navigation, because the content security policy forbids a redirect there after a form. */
export function leavePage({
  to,
  title,
  branding,
}: {
  to: string;
  title: string;
  branding: Branding;
}): string {
  return renderPage(
    { title, refreshTo: to, branding },
    <a class="button primary" href={to}>
      Continue
    </a>,
  );
}

export interface ProofProps {
  csrf: string;
  /** the sealed identity of the person who returned from the provider */
  proof: string;
  email: string;
  /** the account has a second factor */
  asksCode?: boolean;
  providerName: string;
  error?: string | undefined;
  branding: Branding;
}

/** Asks once for the password of an account that exists here. Posts `csrf`, `proof`, `password` and perhaps `code` to /login/link. */
export function proofPage(props: ProofProps): string {
  const { csrf, proof, email, providerName, asksCode, error, branding } = props;
  return renderPage(
    { title: "Link your account", error, branding },
    <>
      <ErrorSummary error={error} />
      <p>
        There is an account for <strong>{email}</strong> here. Enter its password once. From then on, sign in
        with {providerName}.
      </p>
      <form method="post" action="/login/link">
        <Hidden name="csrf" value={csrf} />
        <Hidden name="proof" value={proof} />
        <Field id="password" label="Password">
          {(described) => (
            <input {...described} type="password" name="password" autocomplete="current-password" required />
          )}
        </Field>
        {asksCode && (
          <Field id="code" label="Code of your authenticator app, or a recovery code">
            {(described) => <input {...described} name="code" autocomplete="one-time-code" required />}
          </Field>
        )}
        <button class="button primary" type="submit">
          Link and sign in
        </button>
      </form>
    </>,
  );
}

/** For a browser that returns again with the same response of the provider. */
export function alreadySignedInPage({ email, branding }: { email: string; branding: Branding }): string {
  return renderPage(
    { title: "You are already signed in", branding },
    <>
      <p>
        You are signed in as <strong>{email}</strong>.
      </p>
      <a class="button primary" href="/">
        Continue
      </a>
    </>,
  );
}

/** Confirms the end of the browser session. */
export function signedOutPage({ branding }: { branding?: Branding | undefined }): string {
  return renderPage(
    { title: "You are signed out", branding },
    <>
      <p>This browser no longer has access to your account. Workstations stay signed in.</p>
      <a class="button primary" href="/login?choose=1">
        Sign in
      </a>
    </>,
  );
}
