// Probable secrets and the variables of MCP servers are hidden on pages about the policy. A parameter of the address
// shows them, without a script. Auditors never see them.
/** @jsxImportSource preact */
import { HIDDEN } from "../../../domain/governance/shown/hidden-secrets.ts";
import { addressWith } from "../list/address.ts";
import { useReader } from "../parts/values.tsx";
import type { Reader } from "../reader.ts";

const PARAMETER = "values";
const SHOWN = "shown";

/** @returns the address of a page with all values */
export const withValues = (url: URL): string => addressWith(url, { [PARAMETER]: SHOWN });

const isAuditor = ({ readsAll, mayAdminister }: Pick<Reader, "readsAll" | "mayAdminister">): boolean =>
  readsAll && !mayAdminister;

/** @returns whether secrets are hidden: always from auditors, and from others by default */
export const isHiddenFrom = (reader: Pick<Reader, "url" | "readsAll" | "mayAdminister">): boolean =>
  isAuditor(reader) || reader.url.searchParams.get(PARAMETER) !== SHOWN;

interface HiddenValuesProps {
  /** whether the page has secrets, hidden or not */
  isNeeded: boolean | undefined;
  /** address of the page, if it is the response to a form */
  path?: string;
}

/** A note that values are hidden, with a link that shows them. */
export function HiddenValues({ isNeeded, path }: HiddenValuesProps) {
  const reader = useReader();
  if (!isNeeded) return null;
  if (isAuditor(reader)) return <p class="hint">Values that may be secrets are hidden from auditors.</p>;
  const url = path === undefined ? reader.url : new URL(path, reader.url);
  return (
    <p class="hint">
      {isHiddenFrom(reader) ? (
        <>
          Values that may be secrets are hidden. <a href={withValues(url)}>Show values</a>
        </>
      ) : (
        <>
          Values that may be secrets are shown.{" "}
          <a href={addressWith(url, { [PARAMETER]: undefined })}>Hide values</a>
        </>
      )}
    </p>
  );
}

/**
 * A note above a form that its values are hidden from this auditor.
 * @param texts of its fields
 */
export const HiddenFields = ({ texts }: { texts: readonly string[] }) => (
  <HiddenValues isNeeded={isAuditor(useReader()) && texts.some((text) => text.includes(HIDDEN))} />
);
