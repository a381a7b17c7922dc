// Starts an installation: organization, bootstrap administrator, first signing key. The service does this at every start. `setup`
// does it without listening, and can show beforehand what it would create.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { BootstrapRequest, BootstrapResult } from "../../domain/identity/service.ts";
import type { Actor } from "../../domain/shared/actor.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import {
  type DataDirectory,
  lockForServer,
  openDataDirectory,
  placesIn,
} from "../../platform/data-directory/data-directory.ts";
import { isMarked, markInstallation } from "../../platform/data-directory/installation-marker.ts";
import { fileExists } from "../../platform/data-directory/owner.ts";
import { openConnection } from "../../platform/database/connection.ts";
import { finishSwap } from "../../platform/database/maintenance/data-swap.ts";
import { programSchema, schemaOf } from "../../platform/database/schema/schema.ts";
import { assertFoldersUsable } from "../files/place-checks.ts";
import { acceptLostDatabase, assertDatabaseNotLost, openForStart } from "./existing-directory.ts";
import { type Installation, type InstallationOptions, openInstallation } from "./installation.ts";

export interface BeginOptions {
  config: Config;
  /** called as soon as the result is durable, because a generated password must be shown even if a later step fails */
  onBootstrap(result: BootstrapResult): void;
}

export interface Begun {
  bootstrap: BootstrapResult;
  /** the actor for changes by the service itself */
  actor: Actor;
}

/**
 * Creates the missing parts of an opened installation; only reads if none is missing.
 * @throws DomainError `identity.invalid`, `bootstrap.password_missing`, `signing_key.*`
 */
export async function beginInstallation(
  { directory, domain }: Installation,
  { config, clock, onBootstrap }: BeginOptions & { clock: Clock },
): Promise<Begun> {
  const bootstrap = await domain.identity.bootstrap.run(bootstrapRequest(config));
  onBootstrap(bootstrap);
  markInstallation(directory, { organizationId: bootstrap.organizationId, clock });
  const actor = serviceActor(bootstrap.organizationId);
  await domain.access.keys.ensure(actor);
  await domain.inference.signingKeys?.ensure(actor);
  return { bootstrap, actor };
}

export interface SetupOptions extends InstallationOptions {
  /** starts a new installation even if a database was lost */
  isNew?: boolean;
}

/**
 * Creates the directory, the database and their content. No server can start in the meantime.
 * @throws DomainError `data_dir.*`, `schema.*`, `storage.*` and the errors of beginInstallation
 */
export async function setUp(options: SetupOptions & BeginOptions): Promise<BootstrapResult> {
  assertFoldersUsable(options.config);
  const directory = options.isNew ? openDataDirectory(options.config.get("data_dir")) : openForStart(options);
  await using undo = new AsyncDisposableStack();
  const lock = lockForServer(directory, options.clock);
  undo.defer(() => lock.release());
  finishSwap(directory);
  if (options.isNew) acceptLostDatabase(directory, options);
  else assertDatabaseNotLost(directory, options);
  const installation = await openInstallation(directory, options);
  undo.defer(() => installation.close());
  return (await beginInstallation(installation, options)).bootstrap;
}

/**
 * Determines the steps of `setUp` without executing them.
 * @returns its steps in words; empty if nothing is missing
 * @throws DomainError `data_dir.*`, `schema.*`, `storage.*`
 */
export async function planSetup(options: SetupOptions): Promise<readonly string[]> {
  const { config } = options;
  assertFoldersUsable(config);
  const path = config.get("data_dir");
  if (!options.isNew && !fileExists(path)) assertDatabaseNotLost(placesIn(resolve(path)), options);
  if (!fileExists(path)) return [`create the data directory ${path}`, ...everything(config)];
  const directory = openDataDirectory(path);
  if (!options.isNew) assertDatabaseNotLost(directory, options);
  const schema = existsSync(directory.database) ? schemaIn(directory) : 0;
  if (schema === 0) return everything(config);
  if (schema < programSchema())
    return [`copy the database and upgrade it from schema ${schema} to ${programSchema()}`];
  await using undo = new AsyncDisposableStack();
  const installation = await openInstallation(directory, options);
  undo.defer(() => installation.close());
  return missingIn(installation, config);
}

const everything = (config: Config): string[] => [
  `create the database, schema ${programSchema()}`,
  `create the organization ${config.get("bootstrap.organization_name")}`,
  administratorStep(config),
  passwordStep(config),
  KEY_STEP,
  ...(config.has("gateway.type") ? [INFERENCE_KEY_STEP] : []),
];

function missingIn({ directory, domain }: Installation, config: Config): string[] {
  const needs = domain.identity.bootstrap.needs(bootstrapRequest(config));
  const hasKey = domain.access.keys.list().some(({ state }) => state === "active");
  return [
    ...(needs.organization ? [`create the organization ${config.get("bootstrap.organization_name")}`] : []),
    ...(needs.administrator ? [administratorStep(config)] : []),
    ...needs.released.map(
      (email) => `stop protecting ${email}, because bootstrap.admin_email has another address`,
    ),
    ...(needs.password ? [passwordStep(config)] : []),
    ...(hasKey ? [] : [KEY_STEP]),
    ...(domain.inference.signingKeys?.list().length === 0 ? [INFERENCE_KEY_STEP] : []),
    ...(isMarked(directory) ? [] : [`write ${directory.marker}`]),
  ];
}

const administratorStep = (config: Config): string =>
  `make ${config.get("bootstrap.admin_email")} the protected administrator`;

const passwordStep = (config: Config): string =>
  config.get("bootstrap.admin_password") === undefined
    ? "generate a password"
    : "set the configured password";

const KEY_STEP = "create a signing key";
const INFERENCE_KEY_STEP = "create a key that signs inference tokens";

function schemaIn({ database }: DataDirectory): number {
  const connection = openConnection(database, { readonly: true });
  try {
    return schemaOf(connection);
  } finally {
    connection.close();
  }
}

/** @returns the settings of the first start */
export const bootstrapRequest = (config: Config): BootstrapRequest => ({
  organizationName: config.get("bootstrap.organization_name"),
  adminEmail: config.get("bootstrap.admin_email"),
  isDefaultEmail: !config.has("bootstrap.admin_email"),
  adminPassword: config.get("bootstrap.admin_password"),
  generatePassword: true,
});

/** The actor of automatic changes by the service. */
const serviceActor = (organizationId: string): Actor => ({
  kind: "system",
  id: null,
  label: "service",
  organizationId,
});
