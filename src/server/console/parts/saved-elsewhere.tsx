// Shows the current values above the reader's input if the draft was saved elsewhere, or ended, in the meantime.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { statedIn } from "./stated-version.ts";
import { Text } from "./values.tsx";

/** A longer text is linked instead of shown. */
export const OTHER_TEXT_SHOWN_MAX = 48 * 1024;

/** @param version new text of the field `version` @param children the current values */
export const SavedElsewhere = ({ version, children }: { version: string; children: ComponentChildren }) => (
  <div class="error-summary" role="alert" tabIndex={-1} autofocus>
    <p>
      {statedIn(version).version === 0
        ? "The page that you opened is out of date: the draft was published or discarded, or a restore removed the revision."
        : "The draft was saved elsewhere after you opened it."}{" "}
      What you entered is below; saving it again replaces this:
    </p>
    {children}
  </div>
);

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
