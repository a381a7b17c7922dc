// The part of the policy that administrators edit as YAML. A save goes into the draft and publishes nothing.
/** @jsxImportSource preact */
import type { Problem } from "../../../platform/errors.ts";
import { Hidden } from "../../pages/forms.tsx";
import type { ConsolePage } from "../frame/frame.tsx";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { Text } from "../parts/values.tsx";
import { EDIT_PATH, POLICY_PATH, REVIEW_PATH, TRAIL } from "./words.ts";

/**
 * Characters of a text that the form takes. A form is read before its sender is known, so that it has the limit of unauthenticated
 * bodies; a longer policy is saved with the command or the API.
 */
export const FORM_TEXT_MAX = 48 * 1024;

interface EditProps {
  /** as it was typed */
  text: string;
  /** of the draft; 0 for none */
  version: number;
  problems: readonly Problem[];
  /** somebody saved the draft in another place meanwhile: the text that it has there */
  other?: string | undefined;
}

/** @returns the page with the text and its problems */
export function editPage({ text, version, problems, other }: EditProps): ConsolePage {
  const isError = problems.length > 0 || other !== undefined;
  return {
    title: "Edit the policy",
    trail: TRAIL,
    isError,
    status: other === undefined ? 200 : 409,
    content: (
      <>
        {other !== undefined && <Elsewhere text={other} />}
        <Problems problems={problems} />
        {text.length > FORM_TEXT_MAX ? (
          <TooLong />
        ) : (
          <Form text={text} version={version} problems={problems} />
        )}
        <AsCommand
          command={["policy", "draft", "export", "YOUR_ADDRESS"]}
          api={{ method: "PUT", path: "/admin/policy-draft", body: { version, managed_yaml: "…" } }}
        />
      </>
    ),
  };
}

const Problems = ({ problems }: { problems: readonly Problem[] }) =>
  problems.length === 0 ? null : (
    <div class="error-summary" role="alert" tabIndex={-1} autofocus>
      <p>The draft is saved, but it cannot be published like this.</p>
      <ul>
        {problems.map(({ pointer, detail, line }) => (
          <li key={pointer + detail}>
            <a href="#text">
              {line !== undefined && <>Line {line}: </>}
              <Text value={`${pointer} ${detail}`.trim()} />
            </a>
          </li>
        ))}
      </ul>
    </div>
  );

const Elsewhere = ({ text }: { text: string }) => (
  <div class="error-summary" role="alert">
    <p>
      The draft was saved in another place meanwhile. Your text is below; saving it again replaces this one:
    </p>
    <details>
      <summary>The text of the other place</summary>
      <pre>
        <Text value={text} />
      </pre>
    </details>
  </div>
);

const TooLong = () => (
  <div class="empty">
    <p>
      The text is too long for this form. Export it with the command below, edit the file, and publish it with{" "}
      <code>quartermaster policy apply</code>.
    </p>
  </div>
);

function Form({ text, version, problems }: Pick<EditProps, "text" | "version" | "problems">) {
  return (
    <ConsoleForm action={EDIT_PATH}>
      <Hidden name="version" value={String(version)} />
      <div class="field">
        <label for="text">Policy without packages and MCP servers, as YAML</label>
        <textarea
          id="text"
          name="text"
          rows={32}
          class="code"
          spellcheck={false}
          autocapitalize="off"
          maxLength={FORM_TEXT_MAX}
          aria-invalid={problems.length > 0}
        >
          {text}
        </textarea>
        <p class="hint">
          Saving publishes nothing. The review shows what changes and whom it reaches. The{" "}
          <a href="/help/policy-file">handbook</a> lists every member.
        </p>
      </div>
      <div class="choices">
        <button class="button primary" type="submit">
          Save and review
        </button>
        <button class="button" type="submit" name="stay" value="yes">
          Save
        </button>
        <a class="button" href={version === 0 ? POLICY_PATH : REVIEW_PATH}>
          Cancel
        </a>
      </div>
    </ConsoleForm>
  );
}
