// Runs `probe` and prints its findings. The exit code is 6 if the server cannot be reached, and 7 if a check failed.
import { X509Certificate } from "node:crypto";
import { resolve } from "node:path";
import { parseOrigin, probe } from "../../../src/app/probe/probe.ts";
import { readSmallFile } from "../../../src/platform/config/small-file.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { readSecret } from "../../input/secret-input.ts";
import { findingsText } from "../../output/findings.ts";
import { outputFor } from "../../output/output.ts";
import { startProgress } from "../../output/progress.ts";

/** Size limit of the file with private certificates. */
export const CA_FILE_BYTES_MAX = 1024 * 1024;

/** @throws DomainError `probe.unreachable` or `probe.failed` after the report; `probe.bad_url`, `probe.bad_ca`, `secret.*` */
export async function runProbe(context: Context, command: CliCommand, url: string): Promise<void> {
  const options: Record<string, unknown> = command.opts();
  const origin = parseOrigin(url);
  const ca = typeof options.ca === "string" ? readCa(resolve(context.cwd, options.ca)) : undefined;
  const hasToken = options.tokenFile !== undefined || options.tokenStdin === true;
  const token = hasToken ? await readSecret(context, command, "token") : undefined;
  const { clock, env } = context;
  const asking = startProgress(context, { label: `probing ${origin.host}`, unit: "checks" });
  const { findings: checks, isReachable } = await probe({
    origin,
    clock,
    env,
    token,
    ca,
    isOnlyReady: options.onlyReady === true,
  }).finally(asking.end);
  const failed = checks.filter(({ result }) => result === "failed").length;
  const output = outputFor(context, command);
  const text = findingsText(checks, output.hasColor);
  output.result({ healthy: failed === 0, origin: origin.origin, checks }, text);
  if (!isReachable) throw unreachable(origin);
  if (failed > 0)
    throw new DomainError("unverified", "probe.failed", `${failed} of ${checks.length} checks failed`, {
      hint: "the line below each failed check explains how to fix it",
    });
}

const unreachable = ({ host }: URL): DomainError =>
  new DomainError("unavailable", "probe.unreachable", `${host} cannot be reached from this machine`, {
    hint: "the line below each failed check explains how to fix it",
  });

/** @throws DomainError `probe.bad_ca` */
function readCa(path: string): string {
  const file = readSmallFile(path, CA_FILE_BYTES_MAX);
  if ("wrong" in file) throw badCa(`${path} ${file.wrong}`);
  try {
    new X509Certificate(file.text);
  } catch (cause) {
    throw badCa(`${path} does not contain a PEM certificate`, cause);
  }
  return file.text;
}

const badCa = (message: string, cause?: unknown): DomainError =>
  new DomainError("invalid", "probe.bad_ca", message, {
    hint: "pass the certificate of the CA that signed the certificate of the service",
    cause,
  });
