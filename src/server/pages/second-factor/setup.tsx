// Sets up a second factor: the choice, the authenticator app with its QR code, the passkey, and the recovery codes shown once. The
// same pages serve the account and the sign-in of a user who must set one up first.
/** @jsxImportSource preact */
import { encode } from "uqr";
import { passkeyScriptPath } from "../assets.ts";
import { ErrorSummary, Field, Hidden } from "../forms.tsx";
import { type Branding, renderPage } from "../layout.tsx";
import { PasskeyForm } from "./passkey-form.tsx";

export interface SetupChoiceProps {
  appPath: string;
  /** undefined where passkeys cannot work */
  passkeyPath: string | undefined;
  branding: Branding;
}

/** Makes a user without a factor set one up, right after the password. */
export function setupChoicePage({ appPath, passkeyPath, branding }: SetupChoiceProps): string {
  return renderPage(
    { title: "Set up a second factor", branding },
    <>
      <p>
        Your organization asks for a second factor in addition to your password. Set one up to finish signing
        in. You can add more later.
      </p>
      {passkeyPath === undefined ? null : (
        <a class="button primary" href={passkeyPath}>
          Use a passkey
        </a>
      )}
      <a class={passkeyPath === undefined ? "button primary" : "button"} href={appPath}>
        Use an authenticator app
      </a>
      <p class="hint following">
        A passkey is your fingerprint, face, PIN or security key. An authenticator app shows codes on your
        phone.
      </p>
      <p>
        <a href="/login">Start again</a>
      </p>
    </>,
  );
}

export interface AppSetupProps {
  action: string;
  /** path of the cancel link */
  back: string;
  csrf: string;
  next?: string | undefined;
  /** base32 */
  secret: string;
  uri: string;
  sealed: string;
  error?: string | undefined;
  branding: Branding;
}

const SECRET_GROUP = /.{1,4}/g;

/** Modules of white space around the code (ISO/IEC 18004 section 6.3.8). */
const QUIET_ZONE = 4;

/**
 * uqr computes the modules; the drawing is ours, so that nothing bypasses the escaping of pages.
 * @param text content of the code; the page does not show it as text
 */
function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: "M", border: QUIET_ZONE });
  const path = data
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join("");
  return (
    <svg
      class="qr-code"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <rect width={size} height={size} fill="#ffffff" />
      <path d={path} fill="#000000" />
    </svg>
  );
}

/** Posts `csrf`, `next` (if given), `setup` and `code`. */
export function appSetupPage(props: AppSetupProps): string {
  const { action, back, csrf, next, secret, uri, sealed, error, branding } = props;
  return renderPage(
    { title: "Set up an authenticator app", error, branding },
    <>
      <ErrorSummary error={error} fieldId="code" />
      <p>Scan this code with your authenticator app:</p>
      <QrCode text={uri} label="QR code for the authenticator app" />
      <p>
        Cannot scan it? Type this key into the app:{" "}
        <code>{(secret.match(SECRET_GROUP) ?? []).join(" ")}</code>
      </p>
      <form method="post" action={action}>
        <Hidden name="csrf" value={csrf} />
        {next === undefined ? null : <Hidden name="next" value={next} />}
        <Hidden name="setup" value={sealed} />
        <Field id="code" label="Code" hint="The six digits that the app shows now." error={error}>
          {(described) => (
            <input
              {...described}
              type="text"
              name="code"
              inputMode="numeric"
              autocomplete="one-time-code"
              required
            />
          )}
        </Field>
        <button class="button primary" type="submit">
          Finish
        </button>
        <a class="button" href={back}>
          Cancel
        </a>
      </form>
    </>,
  );
}

export interface PasskeySetupProps {
  action: string;
  back: string;
  csrf: string;
  next?: string | undefined;
  /** of `navigator.credentials.create()` */
  options: object;
  error?: string | undefined;
  branding: Branding;
}

/** Posts `csrf`, `next` (if given), `name` and `answer`. */
export function passkeySetupPage(props: PasskeySetupProps): string {
  const { action, back, csrf, next, options, error, branding } = props;
  return renderPage(
    { title: "Add a passkey", error, branding, script: passkeyScriptPath },
    <>
      <ErrorSummary error={error} />
      <p>Your browser asks for your fingerprint, face, PIN or security key.</p>
      <PasskeyForm
        passkey="create"
        options={options}
        action={action}
        fields={{ csrf, next }}
        verb="Add passkey"
        isPrimary
      >
        <Field
          id="name"
          label="Name"
          hint="Helps you tell your passkeys apart, such as the name of the device."
        >
          {(described) => <input {...described} type="text" name="name" maxLength={60} />}
        </Field>
      </PasskeyForm>
      <a class="button following" href={back}>
        Cancel
      </a>
    </>,
  );
}

export interface RecoveryCodesProps {
  codes: readonly string[];
  /** path to continue to */
  next: string;
  branding: Branding;
}

/** Shows new recovery codes, once. */
export function recoveryCodesPage({ codes, next, branding }: RecoveryCodesProps): string {
  return renderPage(
    { title: "Keep your recovery codes", branding },
    <>
      <p role="status">
        Each code signs you in once if you lose your second factor. They are shown only now: print them or put
        them into your password manager.
      </p>
      <ul class="recovery-codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <a class="button primary" href={next}>
        I have kept them
      </a>
    </>,
  );
}
