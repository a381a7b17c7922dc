// `connections verify`: checks a repository host before anybody mirrors from it. The exit code is 7 if a check failed.
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { findingsText } from "../../output/findings.ts";

const REF_DEFAULT = "main";

/** @throws DomainError `package_source.unknown_connection`; `package_source.unverified` after the report */
export async function verify({ domain, actor, output, args, text }: Call): Promise<void> {
  const [id = ""] = args;
  const repository = text("repository");
  const wanted = repository === undefined ? undefined : { repository, ref: text("ref") ?? REF_DEFAULT };
  const checks = await domain.packageSources.mirrors.verify(actor, id, wanted);
  const failed = checks.filter(({ result }) => result === "failed").length;
  output.result({ verified: failed === 0, checks }, findingsText(checks, output.hasColor));
  if (failed === 0) return;
  throw new DomainError(
    "unverified",
    "package_source.unverified",
    `${failed} of ${checks.length} checks failed`,
    {
      hint: "the line below each failed check explains how to fix it",
    },
  );
}
