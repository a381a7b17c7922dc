// The page for a form that was sent after the session ended. It holds the entered values, and a sign-in form that sends
// them on.
/** @jsxImportSource preact */
import { countText } from "../../../platform/count-text.ts";
import { FORM_FIELDS_MAX, UNAUTHENTICATED_BODY_BYTES_MAX } from "../../http/bodies/body.ts";
import { type Failure, PROBLEM_BYTES_MAX } from "../../http/problems/problem.ts";
import { ErrorSummary, Field, Hidden } from "../../pages/forms.tsx";
import { signInPath } from "../../pages/html.ts";
import { type Branding, renderPage } from "../../pages/layout.tsx";
import { htmlResponse } from "../html-response.ts";
import {
  hasWithheldFields,
  isInParts,
  type Kept,
  KeptFields,
  keptFields,
  SIGN_IN_FIELDS,
} from "./kept-fields.tsx";

/** Bytes and fields that a sign-in adds to a form. */
const SIGN_IN_BYTES = 4 * 1024;
const SIGN_IN_FIELD_COUNT = 8;

export interface SignInOffer {
  /** CSRF token of the form */
  csrf: string;
  cookies: readonly string[];
  /** what was entered before */
  email?: string | undefined;
  failure?: Failure | undefined;
}

export interface Expired extends Omit<Partial<Kept>, "fields"> {
  back: string;
  /** undefined if they were not read */
  fields?: Kept["fields"] | undefined;
  branding: Branding;
  request: Request;
  /** undefined if people have no passwords here */
  offer?: SignInOffer | undefined;
}

/** The page holds the entered values, unless they are too long; nothing is stored. */
export function expiredPage(expired: Expired): Response {
  const whole = expiredHtml(expired);
  const html =
    Buffer.byteLength(whole) > PROBLEM_BYTES_MAX ? expiredHtml({ ...expired, fields: undefined }) : whole;
  const { failure, cookies = [] } = expired.offer ?? {};
  const status = failure?.status === 429 ? failure.status : 401;
  const response = htmlResponse(expired.request, html, { status, cookies, isScriptFree: true });
  for (const [name, value] of Object.entries(failure?.headers ?? {})) response.headers.set(name, value);
  return response;
}

/** @returns whether the form is within its limits with the fields of a sign-in */
const hasSpace = ({ headers }: Request, fields: Readonly<Record<string, string>>): boolean =>
  Number(headers.get("content-length") ?? 0) <= UNAUTHENTICATED_BODY_BYTES_MAX - SIGN_IN_BYTES &&
  Object.keys(fields).length <= FORM_FIELDS_MAX - SIGN_IN_FIELD_COUNT;

function expiredHtml({ back, branding, request, offer, ...kept }: Expired): string {
  const fields = kept.fields && keptFields({ ...kept, fields: kept.fields });
  const isPartial = fields !== undefined && hasWithheldFields(kept.fields ?? {}, fields);
  const isOffered = fields !== undefined && offer !== undefined && hasSpace(request, fields);
  const error = offer?.failure?.message;
  return renderPage(
    { title: "Sign in again", branding, error: error ?? "your session has ended" },
    <>
      <ErrorSummary error={error} />
      <p>
        Your session has ended, so {outcomeOf(kept.fields ?? {})}.{" "}
        {!fields &&
          "What you entered cannot be kept on this page, but your browser has it on the page before."}
        {fields && `What you entered is kept on this page${isPartial ? EXCEPT_SECRETS : ""}.`}
        {isOffered && " Sign in with the same account to send it."}
      </p>
      {fields ? (
        <form
          method="post"
          action={kept.path}
          enctype={isInParts(request) ? "multipart/form-data" : undefined}
        >
          <KeptFields fields={fields} />
          {isOffered && <SignInFields {...offer} />}
          {!isOffered && <Steps last="Return to this tab and continue." />}
          {isOffered && (
            <p class="following">
              Or <SignInLink /> with the same account, return to this tab and continue.
            </p>
          )}
          <button class={isOffered ? "button" : "button primary"} type="submit" formNoValidate>
            Continue
          </button>
        </form>
      ) : (
        <Steps last="Return to this tab, go back one page, and send the form again." />
      )}
      <p class="following">
        <a href={back}>Go back without sending</a>
      </p>
    </>,
  );
}

/** A form with a cursor is a later part of a change of many rows, and counts what the earlier parts did. */
function outcomeOf({ cursor, done, left }: Kept["fields"]): string {
  if (!cursor || left === undefined) return "nothing was changed";
  return done !== undefined && /^\d{1,9}$/.test(done)
    ? `the change stopped; ${countText(Number(done), "row was", "rows were")} changed`
    : "the change stopped before its end";
}

const EXCEPT_SECRETS = ", except for values that may be secrets";

const SignInLink = ({ text = "sign in in a new tab" }) => (
  <a href={signInPath("/console")} target="_blank" rel="noopener">
    {text}
  </a>
);

const Steps = ({ last }: { last: string }) => (
  <ol>
    <li>
      <SignInLink text="Sign in in a new tab" />, with the same account.
    </li>
    <li>{last}</li>
  </ol>
);

function SignInFields({ csrf, email }: SignInOffer) {
  return (
    <>
      <Hidden name="csrf" value={csrf} />
      <Field id="email" label="Email">
        {(described) => (
          <input
            {...described}
            type="email"
            name={SIGN_IN_FIELDS.email}
            value={email}
            autocomplete="username"
            required
          />
        )}
      </Field>
      <Field id="password" label="Password">
        {(described) => (
          <input
            {...described}
            type="password"
            name={SIGN_IN_FIELDS.password}
            autocomplete="current-password"
            required
          />
        )}
      </Field>
      <button class="button primary" type="submit" name={SIGN_IN_FIELDS.step} value="password">
        Sign in and send
      </button>
    </>
  );
}
