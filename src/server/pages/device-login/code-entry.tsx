// The page where a signed-in user types the code from the workstation. The route normalizes the code, looks it up and
// rate-limits guesses.
/** @jsxImportSource preact */
import { ErrorSummary, Field, Hidden, SignOutForm } from "../forms.tsx";
import { type Branding, renderPage } from "../layout.tsx";

export interface CodeEntryProps {
  csrf: string;
  /** the previous input after an error */
  value?: string | undefined;
  error?: string | undefined;
  /** email of the signed-in user */
  signedInAs: string;
  branding: Branding;
}

/**
 * Asks for the user code. Posts `csrf` and `user_code` to /device.
 * @source RFC 8628 section 3.3
 */
export function codeEntryPage({ csrf, value, error, signedInAs, branding }: CodeEntryProps): string {
  return renderPage(
    { title: "Enter the code", error, branding },
    <>
      <ErrorSummary error={error} fieldId="user_code" />
      <form method="post" action="/device">
        <Hidden name="csrf" value={csrf} />
        <Field
          id="user_code"
          label="Code shown on your workstation"
          hint="Letter case, spaces and dashes do not matter."
          error={error}
        >
          {(described) => (
            <input
              {...described}
              type="text"
              name="user_code"
              value={value}
              autocomplete="off"
              autocapitalize="characters"
              autocorrect="off"
              spellcheck={false}
              required
            />
          )}
        </Field>
        <button class="button primary" type="submit">
          Continue
        </button>
      </form>
      <SignOutForm csrf={csrf} email={signedInAs} next="/device" />
    </>,
  );
}
