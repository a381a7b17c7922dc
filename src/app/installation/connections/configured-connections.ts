// The repository connections of the configuration, read again when the configuration or one of their files changes. A
// connection with problems is disabled; the start and other connections do not depend on it. One whose file is only
// partly written stays as it was.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import {
  type BrokenConnection,
  type Connection,
  type Connections,
  type Credential,
  disabledText,
} from "../../../domain/catalog/connections/connection.ts";
import type { Config } from "../../../platform/config/config.ts";
import { connectionsIn } from "../../../platform/config/reference-keys.ts";
import { readSmallFile } from "../../../platform/config/small-file.ts";
import { countText } from "../../../platform/count-text.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { readMembers } from "./connection-members.ts";
import { readSecrets, type SecretPlaces } from "./connection-secrets.ts";

export const CONNECTIONS_MAX = 100;
export const CA_BYTES_MAX = 1024 ** 2;

/** A connection from the configuration file. */
interface ReadConnection extends Pick<BrokenConnection, "isWholeSetting"> {
  id: string | undefined;
  /** undefined with problems */
  connection: Connection | undefined;
  problems: string[];
  warnings: string[];
  files: string[];
  /** `file:12` */
  origin: string;
}

export class ConfiguredConnections implements Connections {
  #config: Config;
  #read: readonly ReadConnection[];
  #stamp: string;

  constructor(config: Config) {
    this.#config = config;
    this.#read = readAll(config);
    this.#stamp = stampOf(this.#read);
  }

  /** Replaces the settings, and drops the connections of the former ones. */
  use(config: Config): void {
    this.#config = config;
    this.#read = readAll(config);
    this.#stamp = stampOf(this.#read);
  }

  list(): readonly Connection[] {
    return this.#current().flatMap(({ connection }) => connection ?? []);
  }

  broken(): readonly BrokenConnection[] {
    return this.#current()
      .filter(({ connection }) => !connection)
      .map(({ id, problems, isWholeSetting }) => ({ id, problems, isWholeSetting }));
  }

  /** @returns one row for each connection, for `config show`; never a secret */
  rows(): { key: string; value: string; origin: string }[] {
    return this.#current().map(({ id, connection, problems, origin }, index) => ({
      key: `package_sources.connections[${id ?? index}]`,
      value: connection
        ? `${connection.provider}, ${CREDENTIAL_WORDS[connection.credential().kind]}`
        : `disabled, ${countText(problems.length, "problem")}; see connections list`,
      origin,
    }));
  }

  /** @returns warnings about connections that are disabled or insecure */
  warnings(): string[] {
    return this.#current().flatMap((read) => [
      ...(read.connection ? [] : [disabledText(read)]),
      ...read.warnings.map(
        (warning) => `the repository connection ${read.id ?? "without an id"}: ${warning}`,
      ),
    ]);
  }

  #current(): readonly ReadConnection[] {
    if (stampOf(this.#read) !== this.#stamp) this.#readFilesAgain();
    return this.#read;
  }

  /** The definitions have not changed, so a connection keeps its place in the list. */
  #readFilesAgain(): void {
    const former = this.#read;
    this.#read = readAll(this.#config).map((fresh, index) => {
      const known = former[index];
      return fresh.connection || !known?.connection ? fresh : { ...known, files: fresh.files };
    });
    this.#stamp = stampOf(this.#read);
  }
}

const CREDENTIAL_WORDS: Readonly<Record<Credential["kind"], string>> = {
  token: "token set",
  app: "app set",
  login: "username and token set",
  none: "no credential",
};

/** A key that changes with any of the files. */
const stampOf = (read: readonly ReadConnection[]): string =>
  read.flatMap(({ files }) => files.map(stampOfFile)).join(" ");

function stampOfFile(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.ino}:${found.size}:${found.mtimeMs}` : "missing";
}

function readAll(config: Config): ReadConnection[] {
  const { content } = config;
  const found = content && connectionsIn(content);
  if (!content || !found) return [];
  const origin = `file:${found.line}${found.key === "package_sources.connections" ? "" : ` (${found.key})`}`;
  if (!Array.isArray(found.value) || found.value.length > CONNECTIONS_MAX)
    return [
      {
        ...disabled(`${found.key} must be a list of at most ${CONNECTIONS_MAX} connections`, origin),
        isWholeSetting: true,
      },
    ];
  const { folder, isWorldReadable } = content;
  const places = { folder, isWorldReadable, variable: (name: string) => config.variable(name) };
  const slug = config.get("bootstrap.organization_slug");
  const ids = new Set<string>();
  return found.value.map((given: unknown, index) => {
    const read = readOne(given, { slug, places, origin });
    if (read.id === undefined) {
      const position = `it is entry ${index + 1} of ${found.key}`;
      return { ...read, problems: [position, ...read.problems] };
    }
    if (!ids.has(read.id)) {
      ids.add(read.id);
      return read;
    }
    return { ...read, connection: undefined, problems: [`there is another connection ${read.id}`] };
  });
}

function readOne(
  given: unknown,
  { slug, places, origin }: { slug: string; places: SecretPlaces; origin: string },
): ReadConnection {
  if (!isJsonObject(given)) return disabled("a connection must be a mapping of its members", origin);
  const { members, problems } = readMembers(given, { slug });
  const secret = readSecrets(given, members, places);
  const ca = caIn(members.caBundle, places);
  const all = [...problems, ...secret.problems, ...("problem" in ca ? [ca.problem] : [])];
  const { credential, webhookSecret } = secret;
  const { appId: _, username: __, caBundle, ...own } = members;
  return {
    id: members.id === "" ? undefined : members.id,
    problems: all,
    warnings: secret.warnings,
    origin,
    files: [...secret.files, ...(caBundle === undefined ? [] : [resolve(places.folder, caBundle)])],
    connection:
      all.length === 0 && credential && !("problem" in ca)
        ? { ...own, ca: ca.text, credential: () => credential, webhookSecret }
        : undefined,
  };
}

function caIn(
  path: string | undefined,
  { folder }: Pick<SecretPlaces, "folder">,
): { text: string | undefined } | { problem: string } {
  if (path === undefined) return { text: undefined };
  const file = readSmallFile(resolve(folder, path), CA_BYTES_MAX);
  if ("wrong" in file) return { problem: `ca_bundle: ${resolve(folder, path)} ${file.wrong}` };
  return file.text.includes("-----BEGIN CERTIFICATE-----")
    ? { text: file.text }
    : { problem: `ca_bundle: ${resolve(folder, path)} has no certificates in PEM` };
}

const disabled = (problem: string, origin: string): ReadConnection => ({
  id: undefined,
  connection: undefined,
  problems: [problem],
  warnings: [],
  files: [],
  origin,
});
