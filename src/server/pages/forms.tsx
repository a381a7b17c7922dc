// Form components that several pages share: labeled field, error summary, sign-out. Pages choose fields and targets; routes
// validate the input.
/** @jsxImportSource preact */
import type { VNode } from "preact";
import type { Branding } from "./layout.tsx";
import { asSentence } from "./words.ts";

/** Attributes that link an input to its label, hint and error. */
interface Described {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean;
}

interface FieldProps {
  id: string;
  label: string;
  hint?: string;
  error?: string | undefined;
  /** renders the input with these attributes */
  children: (described: Described) => VNode;
}

/** An input with label, hint and error. */
export function Field({ id, label, hint, error, children }: FieldProps) {
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint === undefined ? null : (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error === undefined ? null : (
        <p class="field-error" id={`${id}-error`}>
          {asSentence(error)}
        </p>
      )}
      {children({ id, "aria-describedby": describedBy || undefined, "aria-invalid": error !== undefined })}
    </div>
  );
}

/** Properties of the form that a one-time link opens, in which its holder chooses a password. */
export interface PasswordLinkProps {
  csrf: string;
  /** secret token of the link */
  token: string;
  email: string;
  /** characters */
  minimumPasswordLength: number;
  error?: string | undefined;
  branding: Branding;
}

/** The address, for password managers, and a new password. */
export function NewPasswordFields({
  email,
  label,
  minimumLength,
  error,
}: {
  email: string;
  label: string;
  /** characters */
  minimumLength: number;
  error?: string | undefined;
}) {
  return (
    <>
      {/* Has no name and is not sent: it tells a password manager what to file the password under. */}
      <Field id="email" label="Email">
        {(described) => <input {...described} type="email" value={email} autocomplete="username" readOnly />}
      </Field>
      <Field
        id="password"
        label={label}
        hint={`At least ${minimumLength} characters. Several words work well.`}
        error={error}
      >
        {(described) => (
          <input
            {...described}
            type="password"
            name="password"
            autocomplete="new-password"
            minLength={minimumLength}
            required
          />
        )}
      </Field>
    </>
  );
}

/** Shows the error above the form and focuses it without a script. Renders nothing without an error. */
export function ErrorSummary({ error, fieldId }: { error?: string | undefined; fieldId?: string }) {
  if (error === undefined) return null;
  const sentence = asSentence(error);
  return (
    <div class="error-summary" role="alert" tabIndex={-1} autofocus>
      <h2>There is a problem</h2>
      <p>{fieldId === undefined ? sentence : <a href={`#${fieldId}`}>{sentence}</a>}</p>
    </div>
  );
}

/** A hidden field of a form. */
export const Hidden = ({ name, value }: { name: string; value: string }) => (
  <input type="hidden" name={name} value={value} />
);

interface SignOutProps {
  csrf: string;
  email: string;
  /** path to return to after signing in with another account */
  next?: string | undefined;
  /** name of the provider through which the user signed in */
  through?: string | undefined;
}

/** Shows who is signed in, with links to settings and sign-out. Posts `csrf` and, if given, `next` to /sign-out. */
export function SignOutForm({ csrf, email, next, through }: SignOutProps) {
  return (
    <form class="sign-out" method="post" action="/sign-out">
      <Hidden name="csrf" value={csrf} />
      {next === undefined ? null : <Hidden name="next" value={next} />}
      <p>
        Signed in as{" "}
        <a href="/account">
          <strong>{email}</strong>
        </a>
        {through === undefined ? null : <> through {through}</>}. Not you?
      </p>
      <button class="button quiet" type="submit">
        Sign out
      </button>
    </form>
  );
}
