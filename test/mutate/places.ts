// The places where a mistake would harm somebody, and the tests that are expected to notice one there.
export interface Place {
  /** globs of source files */
  files: readonly string[];
  /** test files, the ones that notice most first */
  tests: readonly string[];
}

const gateway = (name: string) => `src/domain/gateway/${name}.ts`;
const server = (name: string) => `src/server/${name}.ts`;
const catalog = (name: string) => `src/domain/catalog/${name}.ts`;

export const PLACES: Readonly<Record<string, Place>> = {
  archives: {
    files: [catalog("archive"), catalog("archive/*"), catalog("stored-archives")],
    tests: ["test/domain/catalog/archive.test.ts", "test/domain/catalog/stored-archives.test.ts"],
  },
  bundles: {
    files: [catalog("bundle-*"), catalog("bundles"), catalog("changes"), catalog("plan")],
    tests: ["bundles", "bundle-bytes", "import-during-changes", "stored-archives", "seed"].map(
      (name) => `test/domain/catalog/${name}.test.ts`,
    ),
  },
  attempts: {
    files: ["attempts", "attempt-steps", "key-changes", "keys", "model", "reconciler", "retire", "store"].map(
      gateway,
    ),
    tests: [
      ...["attempt-races", "keys", "ended-access", "administration", "key-rows", "times"].map(
        (name) => `test/domain/gateway/${name}.test.ts`,
      ),
      "test/properties/gateway-keys.test.ts",
    ],
  },
  budgets: {
    files: [
      "src/domain/access/budgets.ts",
      "src/domain/access/budgets-store.ts",
      "src/domain/access/invitation-budget.ts",
    ],
    tests: ["budgets", "password-guesses", "counted-address"].map(
      (name) => `test/domain/access/${name}.test.ts`,
    ),
  },
  access: {
    files: ["src/domain/access/*.ts"],
    tests: ["test/domain/access/*.test.ts", "test/server/oauth.test.ts"],
  },
  guard: {
    files: ["guard", "cookies", "conditional"].map(server),
    tests: [
      "cookies",
      "prepared-answers",
      "conditional",
      "openapi",
      "authorization",
      "session",
      "oauth",
      "governance-delivery",
    ].map((name) => `test/server/${name}.test.ts`),
  },
  bodies: {
    files: ["src/domain/json-*.ts", ...["validation", "json-text", "body-end"].map(server)],
    tests: [
      ...["json-structure", "json-lines"].map((name) => `test/properties/${name}.test.ts`),
      ...["json-text", "errors", "body-end"].map((name) => `test/server/${name}.test.ts`),
    ],
  },
  callers: {
    files: ["peer-address", "refusal*"].map(server),
    tests: ["peer-address", "refusal-log", "dialect", "oauth", "errors", "scim-http"].map(
      (name) => `test/server/${name}.test.ts`,
    ),
  },
  passwords: {
    files: ["src/platform/crypto/password-queue.ts"],
    tests: ["test/platform/password-queue.test.ts"],
  },
  backup: {
    files: ["src/domain/backup/*.ts", "src/backup/*.ts", "src/platform/database/copy.ts"],
    tests: ["found", "backup", "restore"].map((name) => `test/backup/${name}.test.ts`),
  },
  scheduler: {
    files: ["src/platform/scheduler/*.ts"],
    tests: ["test/platform/scheduler.test.ts"],
  },
  clients: {
    files: ["src/domain/clients/{strike,retention,store}.ts"],
    tests: ["test/domain/clients/*.test.ts"],
  },
  terminal: {
    files: ["cli/printable.ts", "src/platform/log.ts", "src/platform/log-value.ts"],
    tests: ["test/cli/printable.test.ts", "test/platform/log.test.ts"],
  },
};
