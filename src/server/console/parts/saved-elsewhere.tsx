// Shows the current values above the reader's input if the draft was saved elsewhere, or ended, in the meantime.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { statedIn } from "./stated-version.ts";
import { Text, Time, useReader } from "./values.tsx";

/** A longer text is linked instead of shown. */
export const OTHER_TEXT_SHOWN_MAX = 48 * 1024;

/**
 * @param version new text of the field `version`
 * @param children the current values; omitted if the form had no values to enter
 */
export const SavedElsewhere = ({ version, children }: { version: string; children?: ComponentChildren }) => (
  <div class="error-summary" role="alert" tabIndex={-1} autofocus>
    <p>
      {statedIn(version).version === 0 ? <Ended /> : <Saved />}{" "}
      {children === undefined
        ? "Nothing was saved. The page shows the current state."
        : "What you entered is below; saving it again replaces this:"}
    </p>
    {children}
  </div>
);

/** A draft belongs to its reader, so the reader saved it in another window or with a command. */
function Saved() {
  const { draftSavedAtMs } = useReader().policyState();
  return (
    <>
      The draft was saved elsewhere after you opened it, by you
      {draftSavedAtMs !== undefined && (
        <>
          , <Time at={draftSavedAtMs} />
        </>
      )}
      .
    </>
  );
}

function Ended() {
  const { revision } = useReader().policyState();
  return (
    <>
      The page that you opened is out of date: the draft was published or discarded, or a restore removed the
      revision.
      {revision && (
        <>
          {" "}
          The policy is r{revision.sequence} now, published by <Text value={revision.authorLabel} />,{" "}
          <Time at={revision.createdAtMs} />.
        </>
      )}
    </>
  );
}

/** @param href the page that shows the text if it is too long for this one */
export const SavedText = ({ label, text, href }: { label: string; text: string; href: string }) =>
  text.length > OTHER_TEXT_SHOWN_MAX ? (
    <p>
      <a href={href} target="_blank" rel="noopener">
        {label}, in a new tab
      </a>
    </p>
  ) : (
    <details>
      <summary>{label}</summary>
      <pre>
        <Text value={text} />
      </pre>
    </details>
  );
