// Reads secrets from a file, from stdin, or from a prompt without echo, but never from an argument (requirement CLI-10).
// prompt.ts asks the question.
import { resolve } from "node:path";
import { Option } from "commander";
import { readSmallFile } from "../../src/platform/config/small-file.ts";
import { DomainError } from "../../src/platform/errors.ts";
import { Secret } from "../../src/platform/secret.ts";
import type { CliCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { askSecret } from "./prompt.ts";

export const SECRET_INPUT_BYTES_MAX = 64 * 1024;

export type SecretName = "passphrase" | "password" | "token";

/** Adds `--<name>-file` and `--<name>-stdin`. */
export function addSecretOptions(command: CliCommand, name: SecretName): CliCommand {
  return command
    .addOption(
      new Option(`--${name}-file <path>`, `file that contains the ${name}`).conflicts(`${name}Stdin`),
    )
    .addOption(new Option(`--${name}-stdin`, `read the ${name} from standard input`));
}

/**
 * Reads the secret that a command needs and removes one trailing line break.
 * @throws DomainError `secret.*`: unreadable, empty, too long, readable by everyone; `confirmation.no_terminal`
 */
export async function readSecret(context: Context, command: CliCommand, name: SecretName): Promise<Secret> {
  const options: Record<string, unknown> = command.opts();
  const path = options[`${name}File`];
  const given =
    typeof path === "string"
      ? readSecretFrom(resolve(context.cwd, path))
      : options[`${name}Stdin`] === true && !context.stdin.isTTY // typed text would be shown
        ? await readSecretFromStdin(context)
        : await askSecret(context, command, {
            question: `The ${name}:`,
            hint: `add --${name}-file PATH or --${name}-stdin`,
          });
  const text = given.replace(/\r?\n$/, "");
  if (text === "") throw refused("secret.empty", `the ${name} is empty`);
  return new Secret(text);
}

/** @throws DomainError `secret.*`: unreadable, too long, readable by everyone */
export const readSecretFile = (path: string): Secret => new Secret(readSecretFrom(path));

function readSecretFrom(path: string): string {
  const small = readSmallFile(path, SECRET_INPUT_BYTES_MAX);
  if ("wrong" in small) throw refused("secret.unreadable", `${path} ${small.wrong}`);
  if (small.isWorldReadable)
    throw refused("secret.exposed", `everyone on this machine can read ${path}`, `run: chmod 600 ${path}`);
  return small.text;
}

async function readSecretFromStdin({ stdin }: Context): Promise<string> {
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  for await (const part of stdin) {
    sizeBytes += part.length;
    if (sizeBytes > SECRET_INPUT_BYTES_MAX)
      throw refused("secret.too_long", `standard input is longer than ${SECRET_INPUT_BYTES_MAX} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

const refused = (reason: string, message: string, hint?: string): DomainError =>
  new DomainError("invalid", reason, message, hint === undefined ? {} : { hint });
