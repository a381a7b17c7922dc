// The query parameter `dry_run`, for operations that can run without changing anything.
import { Type } from "@sinclair/typebox";
import { readWord, refuseProblems } from "../../domain/shared/page.ts";
import type { Problem } from "../../platform/errors.ts";
import { parameter } from "./paging.ts";

const WORDS = ["true", "false"] as const;

export const DryRunParameters = Type.Object(
  { dry_run: parameter({ enum: WORDS, description: "true: answer as usual, but change nothing" }) },
  { additionalProperties: false },
);

/** @throws DomainError `request.invalid_dry_run` for another word */
export function isDryRun({ dry_run: text }: { dry_run?: string | undefined }): boolean {
  const problems: Problem[] = [];
  const word = readWord(text, { name: "dry_run", words: WORDS, problems });
  refuseProblems("request.invalid_dry_run", problems);
  return word === "true";
}
