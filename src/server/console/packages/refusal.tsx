// Shows why a form about a package was not saved, on the page with the form.
/** @jsxImportSource preact */
import type { Problem } from "../../../platform/errors.ts";
import { asSentence } from "../../pages/words.ts";
import { Text } from "../parts/values.tsx";

export const Refusal = ({ error, problems }: { error: string; problems: readonly Problem[] }) => (
  <div class="error-summary" role="alert" tabIndex={-1} autofocus>
    <p>
      <Text value={asSentence(error)} />
    </p>
    {problems.length > 0 && (
      <ul>
        {problems.map(({ pointer, detail, line }) => (
          <li key={pointer + detail}>
            {line !== undefined && <>Line {line}: </>}
            <Text value={`${pointer} ${detail}`.trim()} />
          </li>
        ))}
      </ul>
    )}
  </div>
);
