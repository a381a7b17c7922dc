// Secrets that only the response to a form shows: the text beside a new one, and the page shown after one has ended.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { RESPONSE_RETENTION_MS } from "../../../domain/idempotency/service.ts";
import { HOUR_MS } from "../../../platform/clock.ts";
import type { ConsolePage } from "../frame/frame.tsx";

const HOURS = RESPONSE_RETENTION_MS / HOUR_MS;

/** Applies to every secret that Idempotency keeps for a form that is sent again. */
export const SHOWN_ONCE = `No other page shows it. An encrypted copy is kept for ${HOURS} hours, so reloading this page shows it again until then. Afterwards nobody can see it.`;
export const ALL_SHOWN_ONCE = `No other page shows them. Encrypted copies are kept for ${HOURS} hours, so reloading this page shows them again until then. Afterwards nobody can see them.`;

interface Ended extends Required<Pick<ConsolePage, "title" | "breadcrumbs">> {
  /** what the form created, why it is not shown, and the next step */
  children: ComponentChildren;
}

/** @returns the page of a form that was sent again after the secret that it created had ended */
export const endedSecretPage = ({ children, ...page }: Ended): ConsolePage => ({
  ...page,
  status: 409,
  isError: true,
  content: (
    <div class="error-summary" role="alert" tabIndex={-1} autofocus>
      {children}
    </div>
  ),
});
