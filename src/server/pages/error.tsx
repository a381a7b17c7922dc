// The page for a browser request that failed.
// What may be told about the failure, and under which status, is decided by the caller.
/** @jsxImportSource preact */
import { type Branding, renderPage } from "./layout.tsx";
import { asSentence } from "./words.ts";

export interface ErrorPageProps {
  title: string;
  /** safe for anyone to read, and says the next step */
  detail: string;
  requestId: string;
  branding?: Branding | undefined;
}

/** Says what failed and the request id under which the log has the reason. */
export function errorPage({ title, detail, requestId, branding }: ErrorPageProps): string {
  return renderPage(
    { title, error: detail, branding },
    <>
      <p>{asSentence(detail)}</p>
      <p class="hint">
        If you ask an administrator for help, quote request id <code>{requestId}</code>.
      </p>
    </>,
  );
}
