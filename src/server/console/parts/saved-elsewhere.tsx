// What a form shows above the reader's input if the draft was saved elsewhere meanwhile: the values that were saved there.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Text } from "./values.tsx";

/** A longer text is linked instead of shown. */
export const OTHER_TEXT_SHOWN_MAX = 48 * 1024;

/** @param children the values that were saved elsewhere */
export const SavedElsewhere = ({ children }: { children: ComponentChildren }) => (
  <div class="error-summary" role="alert" tabIndex={-1} autofocus>
    <p>
      The draft was saved elsewhere after you opened it. What you entered is below; saving it again replaces
      this:
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
