// The error page for browsers. The caller chooses the text and the status.
/** @jsxImportSource preact */
import { type Branding, renderPage } from "./layout.tsx";
import { asSentence } from "./words.ts";

export interface ErrorPageProps {
  title: string;
  /** safe for every reader; states the next step */
  detail: string;
  requestId: string;
  /** path of the link to continue, on this origin */
  nextStep: { text: string; path: string };
  branding?: Branding | undefined;
}

/** Shows the error and the request id, which leads to the cause in the log. */
export function errorPage({ title, detail, requestId, nextStep, branding }: ErrorPageProps): string {
  return renderPage(
    { title, error: detail, branding },
    <>
      <p>{asSentence(detail)}</p>
      <a class="button" href={nextStep.path}>
        {nextStep.text}
      </a>
      <p class="hint">
        If you ask an administrator for help, quote request id <code>{requestId}</code>.
      </p>
    </>,
  );
}
