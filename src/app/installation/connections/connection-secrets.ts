// Reads the credential of a repository connection from a file, a variable of the environment, a credential of the
// service manager, or, with a warning, the configuration file itself.
import { resolve } from "node:path";
import type { Credential } from "../../../domain/catalog/connections/connection.ts";
import { isAppKey } from "../../../domain/catalog/connections/hosts/app-tokens.ts";
import { referenceIn } from "../../../platform/config/references.ts";
import { readSecretFile } from "../../../platform/config/sources.ts";
import type { JsonObject } from "../../../platform/json/json-object.ts";
import { Secret } from "../../../platform/secret.ts";
import { type ConnectionMembers, comesThroughGit } from "./connection-members.ts";

const FILE = "file://";
/** Maximum length of a token. */
export const TOKEN_CHARACTERS_MAX = 4_096;
/** Minimum length of a webhook secret. A guessed secret lets an attacker make the service query the host repeatedly. */
export const WEBHOOK_SECRET_CHARACTERS_MIN = 16;
/** Printable ASCII, so that no token can end a header. */
const TOKEN = /^[\x21-\x7e]+$/;

/** Sources of secrets. */
export interface SecretPlaces {
  /** folder of the configuration file */
  folder: string;
  /** @returns the text of an environment variable */
  variable(name: string): string | undefined;
  /** whether anyone on this machine may read the configuration file */
  isWorldReadable: boolean;
}

export interface SecretReading {
  credential: Credential | undefined;
  /** secret of webhooks from the host; undefined without webhooks */
  webhookSecret: Secret | undefined;
  problems: string[];
  warnings: string[];
  /** files that were read and may change */
  files: string[];
}

/** @returns the secrets, and their problems */
export function readSecrets(
  given: JsonObject,
  { id, provider, appId, username, watchEveryHours }: ConnectionMembers,
  places: SecretPlaces,
): SecretReading {
  const reading: SecretReading = {
    credential: undefined,
    webhookSecret: undefined,
    problems: [],
    warnings: [],
    files: [],
  };
  const secretOf = (member: "token" | "private_key" | "webhook_secret") =>
    secretIn(member, given[member], { id, places, reading });
  const token = secretOf("token");
  const key = secretOf("private_key");
  reading.webhookSecret = webhookSecretOf(secretOf("webhook_secret"), { watchEveryHours, reading });
  if (reading.problems.length > 0) return reading;
  if (provider === "git") return loginOf({ username, token, key, appId }, reading);
  if (username !== undefined) reading.warnings.push("username has an effect with the provider git only");
  if (given.clone_path !== undefined && !comesThroughGit(provider))
    reading.warnings.push("clone_path has no effect with this provider");
  if (token !== undefined && (key !== undefined || appId !== undefined))
    reading.problems.push("set either token, or app_id and private_key");
  else if (token !== undefined) reading.credential = tokenOf(token, reading);
  else if (provider !== "github") reading.problems.push("token is missing");
  else if (appId === undefined || key === undefined)
    reading.problems.push("token is missing, or app_id and private_key of a GitHub App");
  else if (isAppKey(key)) reading.credential = { kind: "app", appId, key: new Secret(key) };
  else reading.problems.push("private_key is not an RSA key in PEM");
  return reading;
}

/** Without a token, everyone may read the repositories. */
function loginOf(
  {
    username,
    token,
    key,
    appId,
  }: Partial<Record<"username" | "token" | "key" | "appId", string | undefined>>,
  reading: SecretReading,
): SecretReading {
  const { problems } = reading;
  if (key !== undefined || appId !== undefined) problems.push("app_id and private_key are for a GitHub App");
  else if (token === undefined && username !== undefined) problems.push("token is missing");
  else if (token === undefined) reading.credential = { kind: "none" };
  else {
    const given = tokenOf(token, reading);
    if (given)
      reading.credential = { kind: "login", username: username ?? USERNAME_DEFAULT, token: given.token };
  }
  return reading;
}

/** A webhook may get lost, so the service also polls. */
function webhookSecretOf(
  given: string | undefined,
  {
    watchEveryHours,
    reading: { problems },
  }: Pick<ConnectionMembers, "watchEveryHours"> & { reading: SecretReading },
): Secret | undefined {
  if (given === undefined) return undefined;
  const text = given.trim();
  const isSound = TOKEN.test(text) && text.length <= TOKEN_CHARACTERS_MAX;
  if (!isSound || text.length < WEBHOOK_SECRET_CHARACTERS_MIN)
    problems.push(
      `webhook_secret must be one word of ${WEBHOOK_SECRET_CHARACTERS_MIN} to ${TOKEN_CHARACTERS_MAX} characters`,
    );
  if (watchEveryHours === undefined) problems.push("webhook_secret needs watch_every_hours");
  return new Secret(text);
}

/** Most servers that accept a token as the password accept any user name. */
const USERNAME_DEFAULT = "git";

function tokenOf(token: string, { problems }: SecretReading): (Credential & { kind: "token" }) | undefined {
  const text = token.trim();
  if (TOKEN.test(text) && text.length <= TOKEN_CHARACTERS_MAX)
    return { kind: "token", token: new Secret(text) };
  problems.push(`token must be one word of at most ${TOKEN_CHARACTERS_MAX} characters`);
  return undefined;
}

function secretIn(
  member: string,
  given: unknown,
  { id, places, reading }: { id: string; places: SecretPlaces; reading: SecretReading },
): string | undefined {
  if (given === undefined || given === null) return managedSecret(member, { id, places, reading });
  const variable = referenceIn(given);
  if (variable !== undefined) {
    const value = places.variable(variable);
    if (value === undefined)
      reading.problems.push(`${member} refers to ${variable}, which is not set for this process`);
    return value;
  }
  if (typeof given !== "string" || given.trim() === "") {
    reading.problems.push(`${member} must be text`);
    return undefined;
  }
  if (given.startsWith(FILE))
    return fileSecret(member, resolve(places.folder, given.slice(FILE.length)), reading);
  if (places.isWorldReadable)
    reading.problems.push(`${member} is in the configuration file, which everyone on this machine can read`);
  reading.warnings.push(`${member} is in the configuration file; use file:// with a separate file`);
  return given;
}

/** See LoadCredential= in systemd.exec(5). */
function managedSecret(
  member: string,
  { id, places, reading }: { id: string; places: SecretPlaces; reading: SecretReading },
): string | undefined {
  const folder = places.variable("CREDENTIALS_DIRECTORY");
  if (folder === undefined) return undefined;
  const path = resolve(folder, `package-source-${id}-${member.replace("_", "-")}`);
  const content = readSecretFile(path);
  if ("raw" in content) {
    reading.files.push(path);
    return content.raw;
  }
  if (!content.isMissing) reading.problems.push(`${member}: the credential ${content.wrong}`);
  return undefined;
}

function fileSecret(member: string, path: string, reading: SecretReading): string | undefined {
  reading.files.push(path);
  const content = readSecretFile(path);
  if (!("raw" in content)) {
    reading.problems.push(`${member}: ${content.wrong}`);
    return undefined;
  }
  if (content.raw.trim() !== "") return content.raw;
  reading.problems.push(`${member}: ${path} is empty`);
  return undefined;
}
