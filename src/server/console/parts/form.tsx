// Forms of the console: token, owner, fields with label, hint and error, and the confirmation page of an action.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Hidden } from "../../pages/forms.tsx";
import type { ConsolePage } from "../frame/frame.tsx";
import { OWNER_FIELD } from "../frame/kept-fields.tsx";
import { AsCommand, type Equivalents } from "./command.tsx";
import { useReader } from "./values.tsx";

interface ConsoleFormProps {
  /** own path that the form posts to */
  action: string;
  children: ComponentChildren;
  class?: string;
  /** the script sends the form by itself: the next part of a long action */
  isContinued?: boolean;
  /** the form has a file or a long text, and is sent as multipart/form-data */
  isInParts?: boolean;
  /** the script shows how much of its file is sent */
  isWatched?: boolean;
  /**
   * the script asks before the reader leaves the page with unsaved values; `refused` if the page already shows unsaved
   * values
   */
  edits?: "saved" | "refused";
}

/** A form with the CSRF token and the mark of its reader: after a new sign-in, only the same person can send it. */
export function ConsoleForm({
  action,
  children,
  class: name,
  isContinued,
  isInParts,
  isWatched,
  edits,
}: ConsoleFormProps) {
  const { csrf, visitor } = useReader();
  return (
    <form
      method="post"
      action={action}
      class={name}
      enctype={isInParts ? "multipart/form-data" : undefined}
      data-continue={isContinued}
      data-edits={edits}
      data-upload={isWatched}
    >
      <Hidden name="csrf" value={csrf} />
      <Hidden name={OWNER_FIELD} value={visitor.formOwner} />
      {children}
    </form>
  );
}

export interface Confirmation extends Equivalents {
  title: string;
  /** effects and limits of the action, one paragraph each */
  consequences: readonly ComponentChildren[];
  /** own path that the form posts to */
  action: string;
  /** hidden fields that the form sends again */
  fields?: Readonly<Record<string, string>>;
  /** label of the button: the verb of the action */
  verb: string;
  /** path of the cancel link */
  back: string;
  /** text that must be typed, such as the address of the user */
  typed?: string;
  /** whether the last attempt typed a different text */
  error?: string | undefined;
  /** changes by others after the page of a refused form was opened */
  changed?: ComponentChildren;
  breadcrumbs?: ConsolePage["breadcrumbs"];
  /** the action cannot be undone */
  isSevere?: boolean;
}

/** Name of the field with the typed text. */
export const TYPED_FIELD = "typed";

/** @returns whether the text is the number, with any grouping of digits: `1,204`, `1 204` */
export const isTypedNumber = (text: string | undefined, number: number): boolean =>
  Number.isInteger(number) && text?.replaceAll(/[\s.,'’]/g, "") === String(number);

/**
 * Asks for confirmation: shows the target, the effects and the limits of the action. Cancel comes first in the focus
 * order.
 */
export function confirmationPage(confirmation: Confirmation): ConsolePage {
  const {
    title,
    consequences,
    action,
    fields = {},
    verb,
    back,
    typed,
    error,
    changed,
    isSevere,
  } = confirmation;
  return {
    title,
    isQuestion: true,
    isError: error !== undefined || changed !== undefined,
    status: changed !== undefined ? 409 : error === undefined ? 200 : 400,
    ...(confirmation.breadcrumbs && { breadcrumbs: confirmation.breadcrumbs }),
    ...(isSevere && { isScriptFree: true }),
    content: (
      <div class="confirmation" data-dialog-content>
        {changed !== undefined && (
          <div class="error-summary" role="alert" tabIndex={-1} autofocus>
            {changed}
          </div>
        )}
        {error !== undefined && (
          <div class="error-summary" role="alert" tabIndex={-1} autofocus>
            {typed === undefined ? <p>{error}</p> : <a href={`#${TYPED_FIELD}`}>{error}</a>}
          </div>
        )}
        {consequences.map((sentence, index) => (
          <p key={index}>{sentence}</p>
        ))}
        <ConsoleForm action={action}>
          {Object.entries(fields).map(([name, value]) => (
            <Hidden key={name} name={name} value={value} />
          ))}
          {typed !== undefined && (
            <div class="field narrow">
              <label for={TYPED_FIELD}>
                Type <code>{typed}</code> to confirm
              </label>
              <input
                id={TYPED_FIELD}
                name={TYPED_FIELD}
                autocomplete="off"
                required
                aria-invalid={error !== undefined}
              />
            </div>
          )}
          <div class="choices">
            <a class="button" href={back} data-close>
              Cancel
            </a>
            <button class="button danger" type="submit">
              {verb}
            </button>
          </div>
        </ConsoleForm>
        <AsCommand command={confirmation.command} api={confirmation.api} />
      </div>
    ),
  };
}
