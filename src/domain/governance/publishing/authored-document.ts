// A complete document in an operator's file: reads it, replaces references to environment variables, and checks its published
// form. Documents from administrators never read the environment.

import { isDeepStrictEqual } from "node:util";
import { referenceIn, refersToNumber } from "../../../platform/config/references.ts";
import { type Problem, pointerOf } from "../../../platform/errors.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { changeOf } from "../../../platform/json/numbers.ts";
import { runSynchronously } from "../../../platform/steps.ts";
import type { Catalog } from "../../catalog/service.ts";
import { type ArtifactReference, artifactProblems, artifactReferences } from "../delivery/artifacts.ts";
import { readDraft } from "../document/draft.ts";
import { readDocumentText } from "../document/text.ts";
import type { GovernanceConfig } from "../model.ts";
import { withoutRevisionFields } from "./finalize.ts";

/** @returns the value of an environment variable */
export type ReadVariable = (name: string) => string | undefined;

export interface Authored {
  /** without stamps */
  document: GovernanceConfig;
  /** published form of the document; valid only if there are no problems */
  stamped: GovernanceConfig;
  /** pointers from the root of the input */
  problems: Problem[];
}

interface AuthoredReaders {
  catalog: Catalog;
  /** stamps and checks the whole document */
  finish(document: GovernanceConfig, problems: Problem[]): GovernanceConfig;
}

/** Reads a parsed document. Checks archives and relations only if there is no other problem. */
export function readAuthored({
  input,
  variable,
}: {
  input: unknown;
  variable: ReadVariable;
}): Omit<Authored, "stamped"> & { references: ArtifactReference[] } {
  const problems: Problem[] = ownGateway(input);
  const draft = readDraft(withVariables(input, variable, { pointer: "", problems }));
  problems.push(...draft.problems);
  const document = withoutRevisionFields(draft.document);
  return { document, problems, references: problems.length > 0 ? [] : artifactReferences(document) };
}

/** Reads and checks YAML or JSON text; problems have lines. */
export function readAuthoredText(
  { catalog, finish }: AuthoredReaders,
  organizationId: string,
  { text, variable }: { text: string | Uint8Array; variable: ReadVariable },
): Partial<Authored> & Pick<Authored, "problems"> {
  const source = readDocumentText(text);
  if (source.problems.length > 0) return { problems: source.problems };
  const input = withoutPrintedGateway(source.input);
  const { document, problems, references } = readAuthored({ input, variable });
  if (problems.length > 0) return { document, problems: source.locate(problems) };
  problems.push(...runSynchronously(artifactProblems(catalog, organizationId, references)));
  const stamped = finish(document, problems);
  return { document, stamped, problems: source.locate(problems) };
}

/** The block that `policy show` prints in gateway mode. It is ignored, so that a printed policy can be applied again. */
const PRINTED_GATEWAY = { type: "litellm", auth_style: "bearer" };

function withoutPrintedGateway(input: unknown): unknown {
  if (!isJsonObject(input) || !isDeepStrictEqual(input.gateway, PRINTED_GATEWAY)) return input;
  const { gateway: _printed, ...rest } = input;
  return rest;
}

/** A policy file may not have a different gateway block, because the settings decide it. */
function ownGateway(input: unknown): Problem[] {
  if (!isJsonObject(input) || input.gateway === undefined) return [];
  return [{ pointer: "/gateway", detail: "follows from the setting gateway.type; leave it out" }];
}

/** Replaces each reference to an environment variable with its value. */
function withVariables(
  value: unknown,
  variable: ReadVariable,
  { pointer, problems }: { pointer: string; problems: Problem[] },
): unknown {
  const within = (key: string | number) => ({ pointer: pointer + pointerOf([key]), problems });
  if (Array.isArray(value)) return value.map((item, at) => withVariables(item, variable, within(at)));
  if (isJsonObject(value)) {
    const members = Object.entries(value).map(([key, item]) => [
      key,
      withVariables(item, variable, within(key)),
    ]);
    return Object.fromEntries(members);
  }
  const name = referenceIn(value);
  if (name === undefined) return value;
  const text = variable(name);
  if (text === undefined) problems.push({ pointer, detail: `refers to ${name}, which is not set` });
  if (text === undefined || !refersToNumber(value)) return text ?? "";
  const number = Number(text);
  const isNumber = NUMBER.test(text);
  if (isNumber && changeOf(text, number) === undefined) return number;
  const why = isNumber ? "which a number cannot hold exactly; leave out :number" : "which is not a number";
  problems.push({ pointer, detail: `refers to ${name}, ${why}` });
  return 0;
}

/** as in JSON (RFC 8259 section 6) */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
