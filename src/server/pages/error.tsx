// The error page for browsers. The caller decides what it may say and with which status.
/** @jsxImportSource preact */
import { type Branding, renderPage } from "./layout.tsx";
import { asSentence } from "./words.ts";

export interface ErrorPageProps {
  title: string;
  /** safe for every reader; states the next step */
  detail: string;
  requestId: string;
  /** where the reader goes next; a path on this origin */
  nextStep: { text: string; path: string };
  branding?: Branding | undefined;
}

/** Shows the error and the request id, under which the log has the cause. */
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
