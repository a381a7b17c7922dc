// The product's migrations: from every earlier schema, with rows in it, to the newest. Rows are generated from the schema itself,
// so this keeps working as migrations are added; only values that a CHECK requires are listed in SAMPLES.
import type { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Migration, migrations } from "../../migrations/index.ts";
import { openConnection } from "../../src/platform/database/connection.ts";
import { migrate } from "../../src/platform/database/schema/migrate.ts";
import { columnsOf, schemaOf, tablesOf } from "../support/content/schema.ts";
import { heldClock, placeOfWorlds, temporaryDirectory } from "../support/world.ts";

/** Values that a CHECK or a later migration requires, by column; any other text column gets its own name. */
const SAMPLES: Readonly<Record<string, string>> = {
  "users.role": "admin",
  "users.status": "active",
  "users.provisioning_source": "local",
  "invitations.role": "member",
  "invitations.status": "pending",
  "login_sessions.method": "oidc",
  "device_logins.state": "approved",
  "scim_tokens.profile": "standard",
  "scim_user_revisions.organization_id": "id",
  "gateway_keys.state": "ready",
  "gateway_keys.recovering_by": "service",
  "governance_revisions.origin": "bootstrap",
  "mirrors.ref_kind": "branch",
  "client_reports.verdict": "matches",
  "client_reports.health": "current",
  "backups.kind": "manual",
  "branding_icons.media_type": "image/png",
  "branding_logos.media_type": "image/png",
  "captured_sessions.sharing_mode": "private",
  "session_artifacts.status": "complete",
  "session_artifacts.store": "local",
  "session_object_removals.store": "local",
};

const productTables = (connection: Database): string[] =>
  tablesOf(connection).filter((name) => name !== "schema_migrations");

function inNewFile<T>(work: (connection: Database, file: string) => T): T {
  const directory = temporaryDirectory(placeOfWorlds);
  try {
    const file = join(directory, "quartermaster.db");
    using connection = openConnection(file, { create: true });
    return work(connection, file);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const upTo = (file: string, list: readonly Migration[]): void =>
  void migrate(file, {
    clock: heldClock(),
    version: "test",
    backupDirectory: `${file}-backups`,
    migrations: list,
  });

/** Inserts one row into each table; its keys have the value that foreign keys to them get. */
function fill(connection: Database): void {
  connection.run("PRAGMA foreign_keys=OFF");
  for (const table of productTables(connection)) {
    const columns = columnsOf(connection, table);
    const references = new Set(
      connection
        .query<{ from: string }, [string]>('SELECT "from" FROM pragma_foreign_key_list(?)')
        .all(table)
        .map((key) => key.from),
    );
    const values = columns.map(({ name, type, key }) => {
      if (type === "INTEGER" || type === "REAL") return 1;
      if (type === "BLOB") return new TextEncoder().encode(name);
      return SAMPLES[`${table}.${name}`] ?? (key > 0 || references.has(name) ? "id" : name);
    });
    const places = columns.map(() => "?").join(", ");
    // A trigger of another table may have written the row already.
    connection.query(`INSERT OR REPLACE INTO "${table}" VALUES (${places})`).run(...values);
  }
  connection.run("PRAGMA foreign_keys=ON");
}

/** Columns that a later migration drops or clears on purpose. */
const DROPPED = new Set([
  "refresh_tokens.successors",
  "scim_users.version",
  "scim_users.updated_at_ms", // both in scim_user_revisions since schema 17
  "scim_group_members.group_id",
  "scim_group_members.user_id", // both replaced by sequences in schema 21
  "scim_user_revisions.organization_id", // replaced by a number in schema 45
  "captured_sessions.search_number", // cleared in schema 52, after which all texts are indexed again
]);

/** @returns the rows of each table, without the columns that are dropped on purpose */
const contentsOf = (connection: Database): Record<string, unknown[]> =>
  Object.fromEntries(
    productTables(connection).map((table) => {
      const names = columnsOf(connection, table).map(({ name }) => name);
      const kept = names.filter((name) => !DROPPED.has(`${table}.${name}`)).map((name) => `"${name}"`);
      const rows = connection.query(`SELECT ${kept.join(", ") || "1"} FROM "${table}"`).all();
      return [table, kept.length > 0 ? rows : rows.map(() => ({}))];
    }),
  );

const fresh = inNewFile((connection, file) => {
  upTo(file, migrations);
  return schemaOf(connection);
});

test("the migrations have unique names and consecutive numbers from 1", () => {
  expect(migrations.map(({ id }) => id)).toEqual(migrations.map((_, index) => index + 1));
  expect(new Set(migrations.map(({ name }) => name)).size).toBe(migrations.length);
});

test("every table is STRICT", () => {
  inNewFile((connection, file) => {
    upTo(file, migrations);
    expect(productTables(connection).filter((name) => !/\bSTRICT\b[^)]*$/.test(fresh[name] ?? ""))).toEqual(
      [],
    );
  });
});

test("every CHECK has a name", () => {
  const nameless = Object.values(fresh).flatMap((sql) => sql.match(/(?<!CONSTRAINT \w+ )CHECK \(/g) ?? []);
  expect(nameless).toEqual([]);
});

test.each(migrations.map(({ id, name }) => [id, name] as const))(
  "migrates schema %d (%s), with a row in every table, to the newest: every row is preserved, and the schema equals a fresh one",
  (id) => {
    inNewFile((connection, file) => {
      upTo(file, migrations.slice(0, id));
      fill(connection);
      const before = contentsOf(connection);
      expect(Object.values(before).filter((rows) => rows.length === 0)).toEqual([]);
      upTo(file, migrations);
      expect(schemaOf(connection)).toEqual(fresh);
      expect(contentsOf(connection)).toMatchObject(before);
      expect(connection.query("PRAGMA foreign_key_check").all()).toEqual([]);
      expect(connection.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    });
  },
);

test("every provisioned user keeps version and time of the last change, which schema 17 moves to a separate table", () => {
  inNewFile((connection, file) => {
    upTo(file, migrations.slice(0, 16));
    fill(connection);
    connection.run("UPDATE scim_users SET sequence = 7, version = 42, updated_at_ms = 1234");
    upTo(file, migrations);
    expect(connection.query("SELECT * FROM scim_user_revisions").all()).toEqual([
      { sequence: 7, organization_number: 1, version: 42, updated_at_ms: 1234 },
    ]);
    connection.run("DELETE FROM scim_users");
    expect(connection.query("SELECT * FROM scim_user_revisions").all()).toEqual([]);
  });
});

test("every membership is preserved when schema 21 names users and groups by their sequences", () => {
  inNewFile((connection, file) => {
    upTo(file, migrations.slice(0, 20));
    fill(connection);
    connection.run("PRAGMA foreign_keys=OFF");
    connection.run(
      "DELETE FROM scim_group_members; UPDATE scim_users SET sequence = 7; UPDATE scim_groups SET sequence = 5",
    );
    connection.run("UPDATE scim_user_revisions SET sequence = 7");
    connection.run(
      "CREATE TEMP TABLE other AS SELECT * FROM users; UPDATE other SET id = 'other', subject = 'other', email_key = 'other'",
    );
    connection.run("INSERT INTO users SELECT * FROM other");
    connection.run(`INSERT INTO scim_users SELECT 3, 'other', organization_id, 'other', 'other', 'other', NULL, NULL, NULL, 1, NULL,
      'other', 0, '{}', '{}' FROM scim_users`);
    connection.run(
      "INSERT INTO scim_user_revisions SELECT 3, organization_id, 1, 0 FROM scim_user_revisions",
    );
    connection.run(
      "INSERT INTO scim_groups SELECT 9, 'crew', organization_id, NULL, 'c', 'c', 1, 1, 0, 0 FROM scim_groups",
    );
    connection.run("INSERT INTO scim_group_members VALUES ('id', 'id'), ('id', 'other'), ('crew', 'other')");
    upTo(file, migrations);
    const memberships = () => connection.query("SELECT * FROM scim_group_members ORDER BY 1, 2").values();
    expect(memberships()).toEqual([
      [5, 3],
      [5, 7],
      [9, 3],
    ]);
    connection.run("PRAGMA foreign_keys=ON");
    connection.run("DELETE FROM scim_users WHERE sequence = 3");
    expect(memberships()).toEqual([[5, 7]]);
    connection.run("DELETE FROM scim_groups WHERE sequence = 5");
    expect(memberships()).toEqual([]);
  });
});
