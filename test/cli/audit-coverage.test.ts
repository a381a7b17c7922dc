// Runs every command once, and checks which actions it records in the audit log. A command that records nothing must not change
// anything. New commands have to be added here.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { processContext } from "../../cli/context.ts";
import { programFor } from "../../cli/program.ts";
import { HARNESS_FILE_FORMAT } from "../../src/domain/harnesses/harness-file.ts";
import { inTermsOf, tracesOf, wantedOf, watchOf } from "../support/audit-watch.ts";
import { createInstallation, createWorkspace, type Workspace } from "../support/in-process.ts";
import { reportOn } from "../support/installed/installed-clients.ts";
import { createInstalledGateway } from "../support/installed/installed-gateway.ts";
import { runJobsOn } from "../support/installed/installed-jobs.ts";
import { addFactorOn, guessOn, logInOn } from "../support/installed/installed-login.ts";
import { beginPolicyOn, conflictOn, draftOn } from "../support/installed/installed-policy.ts";
import { provisionOn } from "../support/installed/installed-provisioning.ts";
import { captureOn, leaveObject, objectPathOf, shareOn } from "../support/installed/installed-sessions.ts";
import { createS3Server, TEST_KEYS } from "../support/object-store/s3-server.ts";
import { createInstalledHost, HOST_CONFIG, publishOn } from "../support/sources/installed-host.ts";

const EXAMPLE = join(import.meta.dir, "../../src/domain/catalog/example");
const POLICY = "revision: any\nallowed_harnesses: [codex]\n";
const ADA = "ada@example.org";
const AT_PROVIDER = "--issuer https://id.example.org";
const WITH_GATEWAY = "--config gateway.yaml";

interface Place extends AsyncDisposable {
  workspace: Workspace;
}

interface Change {
  /** where the command runs; default: an installation */
  on?: () => Promise<Place>;
  /** Prepares the command. @returns its arguments */
  rest?: (workspace: Workspace) => string | Promise<string>;
  leaves: readonly string[];
}

const placeOf = (workspace: Workspace): Place => ({
  workspace,
  async [Symbol.asyncDispose]() {
    workspace[Symbol.dispose]();
  },
});

/** Pretends that a receiver has received the first entry. */
function sentFrom(workspace: Workspace): Workspace {
  using db = new Database(databaseOf(workspace));
  db.run("INSERT INTO audit_forwarding (id, entry_id) VALUES (1, 1)");
  return workspace;
}

const withAda = async (workspace: Workspace): Promise<string> => {
  await workspace.json(`users create ${ADA} --role member`);
  return `${ADA} --yes`;
};

/** @returns the file with the settings of a store on this machine, which lives as long as the test run */
function storeSettings(workspace: Workspace): string {
  const { origin } = createS3Server({ nowMs: () => workspace.clock.nowMs() });
  const { accessKeyId, secretAccessKey } = TEST_KEYS;
  writeFileSync(join(workspace.folder, "access-key-id"), accessKeyId, { mode: 0o600 });
  writeFileSync(join(workspace.folder, "secret-access-key"), secretAccessKey, { mode: 0o600 });
  const files = "access_key_id_file: access-key-id, secret_access_key_file: secret-access-key";
  const place = `endpoint: '${origin}', region: us-east-1, bucket: sessions`;
  writeFileSync(join(workspace.folder, "store.yaml"), `blobs: {s3: {${place}, ${files}}}\n`);
  return "store.yaml";
}

const withSession = async (workspace: Workspace): Promise<string> =>
  (await captureOn(workspace, "a session")).sessionId;

const withInvitation = async (workspace: Workspace): Promise<string> => {
  const { invitation } = await workspace.json(
    "users invite carl@example.org --role member --server-public-url https://qm.example.org",
  );
  return String(Object(invitation).id);
};

/** @returns the name of a group with two members */
const withGroup = async (workspace: Workspace): Promise<string> => {
  await provisionOn(workspace);
  return "Engineering";
};

const withJob = async (workspace: Workspace): Promise<string> => {
  await runJobsOn(workspace, ["access-sweep"]);
  return "access-sweep";
};

const withPolicy = async (workspace: Workspace): Promise<string> => {
  await beginPolicyOn(workspace);
  writeFileSync(join(workspace.folder, "policy.yaml"), POLICY);
  return "policy.yaml --yes";
};

const withDraft = async (workspace: Workspace): Promise<string> => {
  await beginPolicyOn(workspace);
  await draftOn(workspace, POLICY);
  return "root@example.org --yes";
};

const withConflict = async (workspace: Workspace): Promise<string> => {
  await conflictOn(workspace);
  return "/ttl_seconds --yes";
};

const withClient = async (workspace: Workspace): Promise<string> => {
  await reportOn(workspace, [{ instance_id: "i-1", hostname: "lab-1" }]);
  return "lab-1 --yes";
};

const withCatalog = (workspace: Workspace): string => {
  cpSync(EXAMPLE, workspace.folder, { recursive: true });
  return "catalog.yaml";
};

/** A harness file and its signing key. */
const withHarnessFile = ({ folder }: Workspace): void => {
  const head = `format: ${HARNESS_FILE_FORMAT}`;
  writeFileSync(join(folder, "harnesses.yaml"), `${head}\nharnesses: {codex: {verified_before: 9.0.0-0}}\n`);
  const pem = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" });
  writeFileSync(join(folder, "signer.pem"), pem, { mode: 0o600 });
};

/** A bundle of another installation, with its public key. */
const withBundle = async ({ folder }: Workspace): Promise<string> => {
  using other = await createInstallation();
  const { public_key: key } = await other.json("catalog bundle-key");
  writeFileSync(join(folder, "other.pub"), String(key));
  await other.json(`catalog seed ${withCatalog(other)}`);
  await other.json(`catalog export --bundle ${join(folder, "in.qmc")} --leave-out-remote`);
  return "in.qmc --trust other.pub";
};

/** An installation with a gateway on which Ada has an account. */
async function onGateway(): Promise<Place> {
  const place = await createInstalledGateway();
  await place.workspace.json(`users create ${ADA} --role member`);
  place.gateway.addUser(ADA);
  return place;
}

/** A repository host, which lives as long as the test run. */
const withHost = async ({ folder }: Workspace): Promise<string> => {
  await createInstalledHost(folder);
  return `--connection forge --repository acme/tools --ref main --config ${HOST_CONFIG}`;
};

const withKey = async (workspace: Workspace): Promise<string> => {
  await workspace.json(`keys ensure ${ADA} ${WITH_GATEWAY}`);
  return `${ADA} --yes ${WITH_GATEWAY}`;
};

const CHANGES: Readonly<Record<string, Change>> = {
  setup: {
    on: async () => placeOf(createWorkspace()),
    rest: () => "--bootstrap-admin-email root@example.org",
    leaves: ["organization.create", "user.create", "signing_key.create"],
  },
  "catalog seed": { rest: withCatalog, leaves: ["catalog.seed"] },
  "catalog upload": {
    rest: (workspace) => {
      withCatalog(workspace);
      return "review-guide-1.2.0.tar.gz";
    },
    leaves: ["artifact.upload"],
  },
  "artifacts create": { rest: withHost, leaves: ["artifact.mirror"] },
  "artifacts remove": {
    rest: async (workspace) => {
      const { artifact_id: id } = await workspace.json(`artifacts create ${await withHost(workspace)}`);
      return `${id} --yes`;
    },
    leaves: ["artifact.remove"],
  },
  "packages update": {
    rest: async (workspace) => {
      const host = await createInstalledHost(workspace.folder);
      const named = "--connection forge --repository acme/tools --ref main";
      await publishOn(workspace, await workspace.json(`artifacts create ${named} --config ${HOST_CONFIG}`));
      host.branches.set("main", host.commit({ "skills/guide/SKILL.md": "# Newer\n" }));
      return `--from forge --yes --config ${HOST_CONFIG}`;
    },
    leaves: ["artifact.mirror", "policy.apply"],
  },
  "connections verify": {
    rest: async (workspace) => {
      await withHost(workspace);
      return `forge --repository acme/tools --config ${HOST_CONFIG}`;
    },
    leaves: ["source.verify"],
  },
  "catalog import": { rest: withBundle, leaves: ["catalog.import"] },
  "catalog bundle-key": { leaves: ["bundle_key.create"] },
  "catalog remove": {
    rest: async (workspace) => {
      await workspace.json(`catalog seed ${withCatalog(workspace)}`);
      return "review-guide --yes";
    },
    leaves: ["catalog.remove"],
  },
  "users create": { rest: () => `${ADA} --role member`, leaves: ["user.create"] },
  "users reset-password": { rest: withAda, leaves: ["user.reset_password"] },
  "users password-link": {
    rest: async (workspace) => `${await withAda(workspace)} --server-public-url https://qm.example.org`,
    leaves: ["user.password_link"],
  },
  "users set-role": {
    rest: async (workspace) => {
      await withAda(workspace);
      return `${ADA} admin --yes`;
    },
    leaves: ["user.update"],
  },
  "users change": {
    rest: async (workspace) => `suspend ${await withAda(workspace)}`,
    leaves: ["users.update", "user.update"],
  },
  "users suspend": { rest: withAda, leaves: ["user.update"] },
  "users resume": {
    rest: async (workspace) => {
      await workspace.json(`users suspend ${await withAda(workspace)}`);
      return ADA;
    },
    leaves: ["user.update"],
  },
  "users unlock": {
    rest: async (workspace) => {
      await withAda(workspace);
      await guessOn(workspace, ADA);
      return ADA;
    },
    leaves: ["user.unlock"],
  },
  "users reset-second-factor": {
    rest: async (workspace) => {
      const rest = await withAda(workspace);
      await addFactorOn(workspace, ADA);
      return rest;
    },
    leaves: ["second_factor.reset"],
  },
  "branding apply": {
    rest: () => "--logo-url https://example.org/logo.svg --yes",
    leaves: ["branding.update"],
  },
  "branding upload": {
    rest: (workspace) => {
      writeFileSync(join(workspace.folder, "logo.svg"), '<svg xmlns="http://www.w3.org/2000/svg"></svg>');
      return "logo logo.svg --server-public-url https://qm.example.org --yes";
    },
    leaves: ["branding.update"],
  },
  "views create": {
    rest: () => "root@example.org all /console/users?role=admin",
    leaves: ["console.update"],
  },
  "views remove": {
    rest: async (workspace) => {
      const view = await workspace.json("views create root@example.org all /console/users?role=admin");
      return `root@example.org ${view.id} --yes`;
    },
    leaves: ["console.update"],
  },
  "views columns": { rest: () => "root@example.org /console/users?per_page=50", leaves: ["console.update"] },
  "organization rename": { rest: () => "Renamed --yes", leaves: ["organization.rename"] },
  "users remove": { rest: withAda, leaves: ["user.remove"] },
  "users erase": {
    rest: async (workspace) => {
      await withAda(workspace);
      return `${ADA} --confirm ${ADA}`;
    },
    leaves: ["user.remove", "user.erase"],
  },
  "users invite": {
    rest: () => `${ADA} --role member --server-public-url https://qm.example.org`,
    leaves: ["invitation.create"],
  },
  "invitations cancel": {
    rest: async (workspace) => `${await withInvitation(workspace)} --yes`,
    leaves: ["invitation.cancel"],
  },
  "invitations resend": { rest: withInvitation, leaves: ["invitation.resend"] },
  "invitations regenerate": {
    rest: async (workspace) =>
      `${await withInvitation(workspace)} --yes --server-public-url https://qm.example.org`,
    leaves: ["invitation.regenerate"],
  },
  "logins revoke": {
    rest: async (workspace) => `${(await logInOn(workspace)).grantId} --yes`,
    leaves: ["grant.revoke"],
  },
  "logins revoke, all of them": {
    rest: async (workspace) => {
      await logInOn(workspace);
      return "--all --yes";
    },
    leaves: ["logins.revoke_all"],
  },
  "identities create": {
    rest: async (workspace) => `${await withAda(workspace)} ${AT_PROVIDER} --subject s-1`,
    leaves: ["identity.link"],
  },
  "identities remove": {
    rest: async (workspace) => {
      const rest = `${await withAda(workspace)} ${AT_PROVIDER}`;
      await workspace.json(`identities create ${rest} --subject s-1`);
      return rest;
    },
    leaves: ["identity.unlink"],
  },
  "identities create, for a replaced provider": {
    rest: async (workspace) => {
      const rest = `${await withAda(workspace)} ${AT_PROVIDER}`;
      await workspace.json(`identities create ${rest} --subject s-1`);
      return "--from-issuer https://id.example.org --to-issuer https://new.example.org --by email --yes";
    },
    leaves: ["identity.expect"],
  },
  "policy apply": { rest: withPolicy, leaves: ["policy.apply"] },
  "policy conflicts keep": { rest: withConflict, leaves: ["policy_conflict.keep"] },
  "policy conflicts take": { rest: withConflict, leaves: ["policy.apply"] },
  "policy draft publish": { rest: withDraft, leaves: ["policy.publish"] },
  "policy draft discard": { rest: withDraft, leaves: ["policy_draft.discard"] },
  "policy rollback": {
    rest: async (workspace) => {
      await workspace.json(`policy apply ${await withPolicy(workspace)}`);
      return "1 --yes";
    },
    leaves: ["policy.rollback"],
  },
  "sessions export": {
    rest: async (workspace) => `${await withSession(workspace)} out.tgz`,
    leaves: ["captured_session.export"],
  },
  "sessions hold": { rest: withSession, leaves: ["captured_session.hold"] },
  "sessions release": {
    rest: async (workspace) => {
      const id = await withSession(workspace);
      await workspace.json(`sessions hold ${id}`);
      return id;
    },
    leaves: ["captured_session.release"],
  },
  "sessions remove": {
    rest: async (workspace) => `${await withSession(workspace)} --yes`,
    leaves: ["captured_session.remove"],
  },
  "sessions revoke": {
    rest: async (workspace) => {
      const sessionId = await withSession(workspace);
      await shareOn(workspace, { sessionId, mode: "workspace" });
      return `${sessionId} --yes`;
    },
    leaves: ["captured_session.share"],
  },
  "sessions apply": {
    rest: async (workspace) => {
      await withSession(workspace);
      writeFileSync(
        join(workspace.folder, "shorter.yaml"),
        "sessions: {retention_days: 1, superseded_days: 0}\n",
      );
      return "--yes --config shorter.yaml";
    },
    leaves: ["captured_session.apply_retention"],
  },
  "sessions migrate": {
    rest: async (workspace) => {
      await withSession(workspace);
      return `--to s3 --yes --config ${storeSettings(workspace)}`;
    },
    leaves: ["captured_session.migrate"],
  },
  "sessions verify": {
    rest: async (workspace) => {
      await withSession(workspace);
      const path = objectPathOf(workspace, "a session");
      rmSync(path);
      await workspace.run("sessions verify");
      writeFileSync(path, "a session");
      return "";
    },
    leaves: ["captured_session.recover"],
  },
  "sessions sweep": {
    rest: async (workspace) => {
      leaveObject(workspace);
      return "--yes";
    },
    leaves: ["captured_session.sweep"],
  },
  "clients remove": { rest: withClient, leaves: ["client.remove"] },
  "clients revoke": { rest: withClient, leaves: ["client.revoke"] },
  "gateway models refresh": {
    on: onGateway,
    rest: async (workspace) => {
      await withPolicy(workspace);
      return WITH_GATEWAY;
    },
    leaves: ["model_catalog.refresh"],
  },
  "gateway models acknowledge": {
    on: onGateway,
    rest: async (workspace) => {
      await withPolicy(workspace);
      await workspace.json(`gateway models refresh ${WITH_GATEWAY}`);
      using database = new Database(databaseOf(workspace));
      database.run("UPDATE gateway_models SET acknowledged_fingerprint = 'other'");
      return `model-a --yes ${WITH_GATEWAY}`;
    },
    leaves: ["model_catalog.acknowledge"],
  },
  "gateway models assign": {
    on: onGateway,
    rest: async (workspace) => {
      await withPolicy(workspace);
      return `codex model-a --yes ${WITH_GATEWAY}`;
    },
    leaves: ["policy.publish"],
  },
  "keys ensure": { on: onGateway, rest: () => `${ADA} ${WITH_GATEWAY}`, leaves: ["gateway_key.provision"] },
  "keys rotate": { on: onGateway, rest: withKey, leaves: ["gateway_key.provision"] },
  "keys revoke": { on: onGateway, rest: withKey, leaves: ["gateway_key.revoke"] },
  "keys change": {
    on: onGateway,
    rest: async (workspace) => `revoke ${await withKey(workspace)}`,
    leaves: ["gateway_key.revoke", "gateway_keys.change"],
  },
  "keys reconcile": {
    on: onGateway,
    rest: async (workspace) => {
      await withKey(workspace);
      return WITH_GATEWAY;
    },
    leaves: ["gateway_key.reconcile"],
  },
  "scim tokens create": { rest: () => "okta", leaves: ["scim_token.create"] },
  "scim tokens revoke": {
    rest: async (workspace) => {
      await workspace.json("scim tokens create okta");
      return "okta --yes";
    },
    leaves: ["scim_token.revoke"],
  },
  "signing-keys rotate": { rest: () => "--yes", leaves: ["signing_key.rotate"] },
  "sealing-keys rotate": { rest: () => "--yes", leaves: ["sealing_key.rotate"] },
  "backup create": { leaves: ["backup.create"] },
  "audit resend": {
    on: async () => placeOf(sentFrom(await createInstallation())),
    rest: () => "--after 0",
    leaves: ["audit.resend"],
  },
  "jobs run": { rest: withJob, leaves: ["job.run"] },
  "jobs pause": { rest: withJob, leaves: ["job.pause"] },
  "jobs resume": {
    rest: async (workspace) => {
      await workspace.json(`jobs pause ${await withJob(workspace)}`);
      return "access-sweep";
    },
    leaves: ["job.resume"],
  },
};

/** Commands that only read, with valid arguments. */
const READS: Readonly<Record<string, string>> = {
  "branding show": "",
  status: "--offline-ok",
  doctor: "--offline-ok",
  "config show": "",
  "config check": "",
  "config explain": "server.listen",
  "catalog list": "",
  "catalog show": "review-guide",
  "catalog export": "-",
  "catalog verify": "",
  "artifacts list": "",
  "artifacts show": "ARTIFACT",
  "artifacts verify": "",
  "connections list": `--config ${HOST_CONFIG}`,
  "connections show": `forge --config ${HOST_CONFIG}`,
  "users list": "",
  "users show": "root@example.org",
  "organization show": "",
  "views list": "root@example.org",
  "groups list": "",
  "groups show": "GROUP",
  "invitations list": "",
  "invitations show": "INVITATION",
  "logins list": "",
  "logins show": "LOGIN",
  "identities list": "",
  "policy show": "",
  "policy history": "",
  "policy diff": "1 1",
  "policy impact": "policy.yaml",
  "policy rollout": "",
  "policy conflicts list": "",
  "policy draft list": "",
  "policy draft show": "root@example.org",
  "policy draft export": "root@example.org",
  "policy export": "",
  "policy check": "policy.yaml",
  "policy explain": "--user root@example.org --harness codex",
  "harnesses list": "",
  "harnesses check": "harnesses.yaml",
  "harnesses sign": "harnesses.yaml --signing-key-file signer.pem",
  "clients counts": "",
  "clients list": "",
  "clients show": "lab-1",
  "sessions list": "",
  "sessions show": "SESSION",
  "gateway models list": WITH_GATEWAY,
  "gateway logs list": "",
  "gateway logs summary": "",
  "gateway logs tail": "--no-follow",
  "gateway logs export": "--jsonl --out .",
  "gateway usage": "",
  "keys list": WITH_GATEWAY,
  "keys show": `${ADA} ${WITH_GATEWAY}`,
  "scim status": "",
  "sso show": "",
  "scim tokens list": "",
  "signing-keys list": "",
  "sealing-keys list": "",
  "jobs list": "",
  "backup list": "",
  "backup verify": "BACKUP",
  "migrate status": "",
  "audit list": "",
  "audit show": "1",
  "audit verify": "",
  "audit forwarding": "",
  "audit export": "",
};

/**
 * Commands without a data directory; `serve`, whose changes are made by routes and jobs; `demo`, which removes its own;
 * `sso verify`, which remembers only the metadata of the provider; and `replica reset`, which changes no row.
 */
const OTHERS = [
  "serve",
  "demo",
  "probe",
  "sso verify",
  "unit",
  "replica reset",
  "completion",
  "__complete",
  "manual",
  "version",
  "help",
];
/** Commands that record in the restored database or in the migrations table; tested in backup/restore.test.ts and takeover.test.ts. */
const REPLACING = ["backup restore", "migrate up", "takeover"];

const commandIn = (name: string): string => name.split(",")[0] ?? name;
const databaseOf = ({ data }: Workspace): string => join(data, "quartermaster.db");

test.each(Object.entries(CHANGES))("API-6 %s records its changes in the audit log", async (name, change) => {
  const { on = async () => placeOf(await createInstallation()), rest = () => "", leaves } = change;
  await using place = await on();
  const { workspace } = place;
  const line = `${commandIn(name)} ${await rest(workspace)}`.trim();
  let exitCode = -1;
  const traces = await tracesOf(databaseOf(workspace), { leaves }, async () => {
    exitCode = (await workspace.run(line)).exitCode;
  });
  expect(exitCode).toBe(0);
  expect(inTermsOf({ leaves }, traces)).toEqual(wantedOf({ leaves }));
});

test("read-only commands change nothing", async () => {
  await using place = await createInstalledGateway();
  const { workspace } = place;
  await withAda(workspace);
  await workspace.json(`catalog seed ${withCatalog(workspace)}`);
  await withPolicy(workspace);
  await draftOn(workspace, POLICY);
  await withClient(workspace);
  withHarnessFile(workspace);
  const names = new Map([
    ["GROUP", await withGroup(workspace)],
    ["INVITATION", await withInvitation(workspace)],
    ["LOGIN", (await logInOn(workspace)).grantId],
    ["SESSION", await withSession(workspace)],
    ["BACKUP", String((await workspace.json("backup create")).path)],
    ["ARTIFACT", String((await workspace.json(`artifacts create ${await withHost(workspace)}`)).artifact_id)],
  ]);
  const found: Record<string, unknown> = {};
  using watch = watchOf(databaseOf(workspace));
  for (const [command, rest] of Object.entries(READS)) {
    const { exitCode } = await workspace.run(`${command} ${names.get(rest) ?? rest}`.trim());
    found[command] = { exitCode, ...watch.traces() };
  }
  const nothing = { exitCode: 0, actions: [], tables: [] };
  expect(found).toEqual(Object.fromEntries(Object.keys(READS).map((command) => [command, nothing])));
});

/** @returns the leaf commands, without the program name */
const leafPaths = ({ commands }: Command, above = ""): string[] =>
  commands.flatMap((command) => {
    const path = `${above} ${command.name()}`.trim();
    return command.commands.length === 0 ? [path] : leafPaths(command, path);
  });

test("covers every command", () => {
  const listed = [
    ...new Set(Object.keys(CHANGES).map(commandIn)),
    ...Object.keys(READS),
    ...OTHERS,
    ...REPLACING,
  ];
  expect(listed.sort()).toEqual(leafPaths(programFor(processContext())).sort());
});
