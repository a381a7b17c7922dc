// Asks for confirmation of an irreversible action: states its effects and limits. The button repeats the verb.
/** @jsxImportSource preact */
import { Hidden } from "./forms.tsx";
import { type Branding, renderPage } from "./layout.tsx";

export interface ConfirmationProps {
  title: string;
  /** effects and limits of the action, one paragraph each */
  consequences: readonly string[];
  /** path that the form posts `csrf` to */
  action: string;
  /** label of the button */
  verb: string;
  /** path of the cancel link */
  back: string;
  csrf: string;
  branding: Branding;
}

export function confirmationPage(props: ConfirmationProps): string {
  const { title, consequences, action, verb, back, csrf, branding } = props;
  return renderPage(
    { title, branding },
    <>
      {consequences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <form class="choices" method="post" action={action}>
        <Hidden name="csrf" value={csrf} />
        {/* First in focus order, so that Enter out of habit ends nothing. */}
        <a class="button" href={back}>
          Cancel
        </a>
        <button class="button danger" type="submit">
          {verb}
        </button>
      </form>
    </>,
  );
}
