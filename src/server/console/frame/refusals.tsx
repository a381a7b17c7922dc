// Pages of a refusal: wrong role, failed action, a form sent after the session ended, and a form that was made for an earlier one.
/** @jsxImportSource preact */

import { type Failure, PROBLEM_BYTES_MAX } from "../../http/problems/problem.ts";
import { Hidden } from "../../pages/forms.tsx";
import { signInPath } from "../../pages/html.ts";
import { type Branding, renderPage } from "../../pages/layout.tsx";
import { asSentence } from "../../pages/words.ts";
import { htmlAnswer } from "../answer.ts";
import { FORM_TEXT_BYTES_MAX } from "../long-form.ts";
import { ConsoleForm } from "../parts/form.tsx";
import type { Reader } from "../reader.ts";
import type { ConsolePage } from "./frame.tsx";
import { CONSOLE } from "./navigation.ts";

const MAY = {
  read: "This page is for administrators. An administrator of your organization can give you that role.",
  change:
    "Your console is read-only, because you are an auditor of this installation (setting console.auditors).",
} as const;

/** @param refused whether reading or changing was refused */
export const forbiddenPage = (refused: keyof typeof MAY): ConsolePage => ({
  title: refused === "read" ? "Administrators only" : "Read-only console",
  status: 403,
  content: (
    <>
      <p>{MAY[refused]}</p>
      <p>
        <a href={`${CONSOLE}/me`}>Go to your own pages</a>
      </p>
    </>
  ),
});

/** A feature that is turned off. @param setting that turns it on; shown only to people who read the pages of administrators */
export const featureOffPage = (
  title: string,
  { setting, reader }: { setting: string; reader: Reader },
): ConsolePage => ({
  title,
  status: 404,
  content: (
    <>
      <p>This feature is turned off in this installation.</p>
      {reader.readsAll && (
        <p>
          The setting <code>{setting}</code> turns it on.
        </p>
      )}
    </>
  ),
});

/** What was refused, why, what to do next, and the request id. @param back page of the form that was refused */
export function failedPage(
  { status, message, problems }: Failure,
  { requestId, back }: { requestId: string; back: string | undefined },
): ConsolePage {
  return {
    title: status === 404 ? "Not found" : "Not possible",
    status,
    isError: true,
    content: (
      <>
        <div class="error-summary" role="alert" tabIndex={-1} autofocus>
          <p>{asSentence(message)}</p>
          {problems.length > 1 && (
            <ul>
              {problems.map(({ pointer, detail }) => (
                <li key={pointer + detail}>{asSentence(detail)}</li>
              ))}
            </ul>
          )}
        </div>
        <p>
          <a href={back ?? CONSOLE}>{back === undefined ? "Go to the overview" : "Go back"}</a>
        </p>
        <p class="hint">
          Request <code>{requestId}</code>
        </p>
      </>
    ),
  };
}

/** Fields of a console form, as they were sent. */
export type Fields = Readonly<Record<string, string | undefined>>;

/** Fields that are never sent back to a page. */
const HELD_BACK = /password|secret|token|csrf|code|answer/i;
/** Field with the names of the fields that a form declared as held back, separated by blanks. */
export const WITHHELD_FIELDS_FIELD = "held_back";

interface Kept {
  /** path that the form was sent to */
  path: string;
  /** path of the page with the form */
  back: string;
  fields: Fields;
  /** see Action */
  heldBack?: RegExp | undefined;
}

function keptFields({ fields, heldBack }: Pick<Kept, "fields" | "heldBack">) {
  const names = Object.keys(fields).filter((name) => fields[name] !== undefined);
  const held = names.filter((name) => heldBack?.test(name));
  return [
    ...names
      .filter((name) => !HELD_BACK.test(name) && !held.includes(name))
      .map((name) => <Hidden key={name} name={name} value={fields[name] ?? ""} />),
    held.length > 0 && (
      <Hidden key={WITHHELD_FIELDS_FIELD} name={WITHHELD_FIELDS_FIELD} value={held.join(" ")} />
    ),
  ];
}

/** Whether a form was sent as multipart. It is sent again in the same way, so that a long text is not made longer by escaping. */
const isInParts = ({ headers }: Request): boolean =>
  headers.get("content-type")?.startsWith("multipart/form-data") ?? false;

interface Expired extends Omit<Partial<Kept>, "fields"> {
  back: string;
  fields?: Fields | undefined;
  branding: Branding;
  request: Request;
}

/** The session ended before a form was sent. The page holds the values, unless they are too long; nothing is stored. */
export function expiredPage(expired: Expired): Response {
  const whole = expiredHtml(expired);
  const html =
    Buffer.byteLength(whole) > PROBLEM_BYTES_MAX ? expiredHtml({ ...expired, fields: undefined }) : whole;
  return htmlAnswer(expired.request, html, { status: 401, isScriptFree: true });
}

function expiredHtml({ back, branding, request, ...kept }: Expired): string {
  return renderPage(
    { title: "Sign in again", branding, error: "your session has ended" },
    <>
      <p>
        Your session has ended, so nothing was changed.{" "}
        {kept.fields
          ? "What you entered is kept on this page."
          : "What you entered cannot be kept on this page, but your browser has it on the page before."}
      </p>
      <ol>
        <li>
          <a href={signInPath("/console")} target="_blank" rel="noopener">
            Sign in in a new tab
          </a>
          , with the same account.
        </li>
        <li>
          {kept.fields
            ? "Come back to this tab and continue."
            : "Come back to this tab, go back one page, and send the form again."}
        </li>
      </ol>
      {kept.fields && (
        <form
          method="post"
          action={kept.path}
          enctype={isInParts(request) ? "multipart/form-data" : undefined}
        >
          {keptFields({ ...kept, fields: kept.fields })}
          <button class="button primary" type="submit">
            Continue
          </button>
        </form>
      )}
      <p class="following">
        <a href={back}>Go back without sending</a>
      </p>
    </>,
  );
}

/** A form of an earlier session. Its values are shown only to the person who entered them. */
export function staleFormPage({
  reader,
  path,
  back,
  fields,
  heldBack,
}: Kept & { reader: Reader }): ConsolePage {
  const isOwn = fields.by === reader.visitor.principal.userId;
  return {
    title: isOwn ? "Send the form again?" : "This form is out of date",
    status: 403,
    isError: true,
    content: isOwn ? (
      <>
        <p>
          The form was made in an earlier session. Nothing was changed yet; what you entered is kept on this
          page.
        </p>
        <ConsoleForm action={path} isInParts={isInParts(reader.request)}>
          {keptFields({ fields: { ...fields, by: undefined }, heldBack })}
          <a class="button" href={back}>
            Cancel
          </a>
          <button class="button primary" type="submit">
            Send again
          </button>
        </ConsoleForm>
      </>
    ) : (
      <p>
        Nothing was changed. <a href={back}>Open the form again</a>
      </p>
    ),
  };
}

/** @param back path of the page with the form, which the browser has with what was entered */
export const tooLongPage = (back: string): ConsolePage => ({
  title: "The text is too long",
  status: 413,
  isError: true,
  content: (
    <>
      <p>
        Nothing was saved. A policy has at most {FORM_TEXT_BYTES_MAX / 1024 / 1024} MiB. Go back one page in
        your browser to shorten what you entered.
      </p>
      <p>
        <a href={back}>Open the form as it was saved</a>
      </p>
    </>
  ),
});
