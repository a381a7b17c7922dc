// Asks for the second factor: after the password, and again before something sensitive. Routes check the proof.
/** @jsxImportSource preact */
import { passkeyScriptPath } from "../assets.ts";
import { ErrorSummary, Field, Hidden } from "../forms.tsx";
import { type Branding, renderPage } from "../layout.tsx";
import { PasskeyForm } from "./passkey-form.tsx";

export interface ProofProps {
  /** `sign-in`: after the password. `confirm`: in a signed-in browser */
  purpose: "sign-in" | "confirm";
  action: string;
  csrf: string;
  /** path to continue to */
  next?: string | undefined;
  /** further fields of the form, and the path without them */
  kept?: { fields: Readonly<Record<string, string>>; back: string };
  isInParts?: boolean;
  /** whether the user has an authenticator app */
  hasApp: boolean;
  /** options of `navigator.credentials.get()`; undefined if the user has no passkey that works here */
  passkey: object | undefined;
  error?: string | undefined;
  branding: Branding;
}

const TEXTS = {
  "sign-in": { title: "Confirm that it is you", verb: "Sign in", back: "/login", cancel: "Start again" },
  confirm: { title: "Confirm that it is you", verb: "Confirm", back: "/account", cancel: "Cancel" },
} as const;

/** Posts `csrf`, `next` (if given), the kept fields, and `code`, or `answer` of a passkey. */
export function proofPage(props: ProofProps): string {
  const { purpose, action, csrf, next, kept, isInParts, hasApp, passkey, error, branding } = props;
  const { title, verb, back, cancel } = TEXTS[purpose];
  const enctype = isInParts ? "multipart/form-data" : undefined;
  const hint = hasApp
    ? "The six digits that your authenticator app shows, or one of your recovery codes."
    : "One of your recovery codes.";
  return renderPage(
    { title, error, branding, script: passkey && passkeyScriptPath },
    <>
      <ErrorSummary error={error} fieldId="code" />
      {passkey === undefined ? null : (
        <PasskeyForm
          passkey="get"
          options={passkey}
          action={action}
          enctype={enctype}
          fields={{ ...kept?.fields, csrf, next }}
          verb="Use a passkey"
          isPrimary
        />
      )}
      <form class="following" method="post" action={action} enctype={enctype}>
        {Object.entries(kept?.fields ?? {}).map(([name, value]) => (
          <Hidden key={name} name={name} value={value} />
        ))}
        <Hidden name="csrf" value={csrf} />
        {next === undefined ? null : <Hidden name="next" value={next} />}
        <Field id="code" label={hasApp ? "Code" : "Recovery code"} hint={hint} error={error}>
          {(described) => (
            <input
              {...described}
              type="text"
              name="code"
              autocomplete="one-time-code"
              autocapitalize="characters"
              spellcheck={false}
              required
            />
          )}
        </Field>
        <button class={passkey === undefined ? "button primary" : "button"} type="submit">
          {verb}
        </button>
      </form>
      <p class="following">
        {kept ? <a href={kept.back}>Go back without sending</a> : <a href={back}>{cancel}</a>}
      </p>
    </>,
  );
}

export interface PasswordConfirmationProps {
  action: string;
  csrf: string;
  next?: string | undefined;
  email: string;
  error?: string | undefined;
  branding: Branding;
}

/** Asks a user without a factor for the password. Posts `csrf`, `next` (if given) and `password`. */
export function passwordConfirmationPage(props: PasswordConfirmationProps): string {
  const { action, csrf, next, email, error, branding } = props;
  return renderPage(
    { title: "Confirm that it is you", error, branding },
    <>
      <ErrorSummary error={error} fieldId="password" />
      <form method="post" action={action}>
        <Hidden name="csrf" value={csrf} />
        {next === undefined ? null : <Hidden name="next" value={next} />}
        <input type="hidden" name="username" value={email} autocomplete="username" />
        <Field id="password" label="Current password" error={error}>
          {(described) => (
            <input {...described} type="password" name="password" autocomplete="current-password" required />
          )}
        </Field>
        <button class="button primary" type="submit">
          Confirm
        </button>
        <a class="button" href="/account">
          Cancel
        </a>
      </form>
    </>,
  );
}

export interface ProviderConfirmationProps {
  /** undefined if no identity provider is configured now */
  provider: { name: string; href: string } | undefined;
  branding: Branding;
}

/** Asks a user who has neither a factor nor a password to sign in at the identity provider again. */
export const providerConfirmationPage = ({ provider, branding }: ProviderConfirmationProps): string =>
  renderPage(
    { title: "Confirm that it is you", branding },
    <>
      <p>
        {provider
          ? `This change needs a sign-in at ${provider.name} in the last 10 minutes.`
          : "This account has no password, and no identity provider is configured. Ask an administrator for a password link."}
      </p>
      <p class="following">
        {provider && (
          <a class="button primary" href={provider.href}>
            Sign in again
          </a>
        )}
        <a class="button" href="/account">
          Cancel
        </a>
      </p>
    </>,
  );
