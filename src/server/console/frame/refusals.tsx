// Pages of a refusal: wrong role, failed action, and a form of an earlier session. expired.tsx has the page for a form
// that was sent after the session ended.
/** @jsxImportSource preact */

import type { Failure } from "../../http/problems/problem.ts";
import { asSentence } from "../../pages/words.ts";
import { confirmPath } from "../../routes/pages/factor-confirmation-pages.ts";
import { FORM_TEXT_BYTES_MAX } from "../long-form.ts";
import { ConsoleForm } from "../parts/form.tsx";
import { Text } from "../parts/values.tsx";
import type { Reader } from "../reader.ts";
import type { ConsolePage } from "./frame.tsx";
import { isInParts, type Kept, KeptFields, keptFields, OWNER_FIELD } from "./kept-fields.tsx";
import { CONSOLE, pageAbove } from "./navigation.ts";
import { refusalWords } from "./refusal-words.ts";

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

/** The hint of a refusal names a command that lists the valid values; the page links to that list. */
const COMMAND_HINT = /; see `quartermaster [a-z -]+`$/;

/**
 * Shows what was refused, why, what to do next, and the request id.
 * @param options `back` is the path of the refused form's page, `path` the path of the page itself
 */
export function failedPage(
  { status, reason, message, problems }: Failure,
  { requestId, back, path }: { requestId: string; back: string | undefined; path: string },
): ConsolePage {
  const own = { text: message.replace(COMMAND_HINT, ""), next: "Go back" };
  const { text, next } = refusalWords(reason) ?? own;
  const above = pageAbove(path) ?? { href: CONSOLE, label: "the overview" };
  return {
    title: status === 404 ? "Not found" : "Not possible",
    status,
    isError: true,
    content: (
      <>
        <div class="error-summary" role="alert" tabIndex={-1} autofocus>
          <p>{asSentence(text)}</p>
          {problems.length > 1 && (
            <ul>
              {problems.map(({ pointer, detail }) => (
                <li key={pointer + detail}>{asSentence(detail)}</li>
              ))}
            </ul>
          )}
        </div>
        <p>
          <a href={back ?? above.href}>{back === undefined ? `Go to ${above.label}` : next}</a>
        </p>
        <p class="hint">
          Request <code>{requestId}</code>
        </p>
      </>
    ),
  };
}

/** The sender must confirm the identity in another tab, so that the entered values stay on this page. */
export const unconfirmedPage = (kept: Kept & { reader: Reader }): ConsolePage => ({
  title: "Confirm that it is you",
  status: 403,
  isError: true,
  content: (
    <>
      <p>
        Nothing was changed yet; this page keeps what you entered.{" "}
        <a href={confirmPath(kept.back)} target="_blank" rel="noopener">
          Confirm in a new tab that it is you
        </a>
        , then send it again from here.
      </p>
      <SendAgain {...kept} />
    </>
  ),
});

const SendAgain = ({ reader, path, back, fields, heldBack }: Kept & { reader: Reader }) => (
  <ConsoleForm action={path} isInParts={isInParts(reader.request)}>
    <KeptFields fields={keptFields({ fields: { ...fields, [OWNER_FIELD]: undefined }, heldBack })} />
    <div class="choices">
      <a class="button" href={back}>
        Cancel
      </a>
      <button class="button primary" type="submit">
        Send again
      </button>
    </div>
  </ConsoleForm>
);

/** A form of an earlier session. Its values are shown only to the person who entered them. */
export function staleFormPage({
  reader,
  isOwn,
  path,
  back,
  fields,
  heldBack,
}: Kept & { reader: Reader; isOwn: boolean }): ConsolePage {
  return {
    title: isOwn
      ? "Send the form again?"
      : fields[OWNER_FIELD]
        ? "This form belongs to another account"
        : "This form is out of date",
    status: 403,
    isError: true,
    content: isOwn ? (
      <>
        <p>
          The form was made in an earlier session. Nothing was changed yet; this page keeps what you entered.
        </p>
        <SendAgain {...{ reader, path, back, fields, heldBack }} />
      </>
    ) : (
      <p>
        {fields[OWNER_FIELD] && (
          <>
            Another account opened it, not <Text value={reader.visitor.principal.email} />.{" "}
          </>
        )}
        Nothing was changed. <a href={back}>Open the form again</a>
      </p>
    ),
  };
}

/** @param back path of the page with the form; the browser still has the entered values there */
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
