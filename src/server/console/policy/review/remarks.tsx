// Remarks in the review of a draft: updates that it does not include, problems, warnings, and probable secrets.
/** @jsxImportSource preact */
import type { Review } from "../../../../domain/governance/service.ts";
import { textLabel, textPath } from "../../parts/broken-texts.tsx";
import { Text } from "../../parts/values.tsx";
import { placeText } from "../words.ts";

/** Maximum number of catalog updates on one page. */
export const UPDATES_SHOWN_MAX = 50;

export function CatalogUpdates({ review: { catalogUpdates } }: { review: Review }) {
  if (catalogUpdates.length === 0) return null;
  return (
    <section aria-labelledby="updates">
      <h2 id="updates">Updates that are not taken</h2>
      <p>The catalog offers other versions of these packages. Publishing leaves them as they are.</p>
      <ul>
        {catalogUpdates.slice(0, UPDATES_SHOWN_MAX).map(({ id, from, to }) => (
          <li key={id}>
            <Text value={id} /> stays at <Text value={from} />; the catalog has{" "}
            <Text value={from === to ? "other bytes of that version" : to} />
          </li>
        ))}
      </ul>
      {catalogUpdates.length > UPDATES_SHOWN_MAX && (
        <p>And {catalogUpdates.length - UPDATES_SHOWN_MAX} more.</p>
      )}
    </section>
  );
}

/** @param isOwn whether the reader may correct the texts of the draft */
export function Problems({
  review: { problems, warnings },
  isOwn,
}: {
  review: Pick<Review, "problems" | "warnings">;
  isOwn: boolean;
}) {
  if (problems.length === 0 && warnings.length === 0) return null;
  return (
    <section aria-labelledby="problems">
      <h2 id="problems">{problems.length > 0 ? "Problems to solve first" : "Warnings"}</h2>
      <ul>
        {[...problems, ...warnings].map(({ pointer, detail, line, text }: Review["problems"][number]) => (
          <li key={pointer + detail}>
            {text !== undefined && (
              <>
                In {isOwn ? <a href={textPath(text)}>{textLabel(text)}</a> : textLabel(text)}
                {line === undefined ? ": " : ", "}
              </>
            )}
            {line !== undefined && (text === undefined ? <>Line {line}: </> : <>line {line}: </>)}
            <Text value={`${pointer} ${detail}`.trim()} />
          </li>
        ))}
      </ul>
    </section>
  );
}

export function NewSecrets({ count, named }: Review["newSecrets"]) {
  if (count === 0) return null;
  return (
    <section aria-labelledby="secrets">
      <h2 id="secrets">New values that may be secrets</h2>
      <p>
        These values look like keys or tokens. Every workstation that gets the policy stores them in clear
        text, and its user can read them.
      </p>
      <ul>
        {named.map((pointer) => (
          <li key={pointer}>
            <Text value={placeText(pointer)} />
          </li>
        ))}
      </ul>
      {count > named.length && <p>And {count - named.length} more.</p>}
    </section>
  );
}
