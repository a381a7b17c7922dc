// The files whose mistakes would cause harm, and the tests that must detect them.
export interface Place {
  /** globs of source files */
  files: readonly string[];
  /** globs of test files */
  tests: readonly string[];
}

export const PLACES: Readonly<Record<string, Place>> = {
  archives: {
    files: [
      "src/domain/catalog/archive/archive.ts",
      "src/domain/catalog/archive/{bytes,header,import-rules,limits,metadata,paths,tar}.ts",
      "src/domain/catalog/archive/stored-archives.ts",
    ],
    tests: [
      "test/domain/catalog/archive/archive.test.ts",
      "test/domain/catalog/archive/stored-archives.test.ts",
      "test/domain/catalog/**/*.test.ts",
      "test/properties/archive*.test.ts",
    ],
  },
  bundles: {
    files: [
      "src/domain/catalog/bundles/{bundle-check,bundle-model,bundle-read,bundle-write}.ts",
      "src/domain/catalog/bundles/bundles.ts",
      "src/domain/catalog/seed/changes.ts",
      "src/domain/catalog/seed/plan.ts",
    ],
    tests: [
      "test/domain/catalog/bundles/bundles.test.ts",
      "test/domain/catalog/bundles/bundle-bytes.test.ts",
      "test/domain/catalog/bundles/import-during-changes.test.ts",
      "test/domain/catalog/archive/stored-archives.test.ts",
      "test/domain/catalog/seed/seed.test.ts",
      "test/domain/catalog/**/*.test.ts",
      "test/cli/commands/catalog/*.test.ts",
    ],
  },
  provider: {
    files: ["src/domain/sso/provider/**/*.ts"],
    tests: [
      "test/domain/sso/provider/*.test.ts",
      "test/contracts/oidc-peer.test.ts",
      "test/app/service/sso-metrics.test.ts",
    ],
  },
  attempts: {
    files: [
      "src/domain/gateway/keys/attempts.ts",
      "src/domain/gateway/keys/key-changes.ts",
      "src/domain/gateway/keys/keys.ts",
      "src/domain/gateway/keys/key-status.ts",
      "src/domain/gateway/model.ts",
      "src/domain/gateway/keys/reconciler.ts",
      "src/domain/gateway/keys/key-retirement.ts",
      "src/domain/gateway/provisioners/provisioner-calls.ts",
      "src/domain/gateway/keys/store.ts",
    ],
    tests: [
      "test/domain/gateway/keys/attempt-races.test.ts",
      "test/domain/gateway/keys/keys.test.ts",
      "test/domain/gateway/keys/ended-access.test.ts",
      "test/domain/gateway/administration/administration.test.ts",
      "test/domain/gateway/keys/times.test.ts",
      "test/properties/gateway-keys.test.ts",
      "test/domain/gateway/**/*.test.ts",
      "test/server/routes/gateway/*.test.ts",
    ],
  },
  budgets: {
    files: [
      "src/domain/access/budgets/budgets.ts",
      "src/domain/access/budgets/budgets-store.ts",
      "src/domain/access/budgets/link-budget.ts",
    ],
    tests: [
      "test/domain/access/budgets/budgets.test.ts",
      "test/domain/access/sign-in/password-guesses.test.ts",
      "test/domain/access/budgets/counted-address.test.ts",
    ],
  },
  "password-links": {
    files: [
      "src/domain/identity/password-links/*.ts",
      "src/domain/identity/users/{lost-access,own-password,cannot-sign-in-store,provisioned-users}.ts",
    ],
    tests: [
      "test/domain/identity/password-links/password-links.test.ts",
      "test/domain/identity/users/*.test.ts",
      "test/domain/identity/*.test.ts",
      "test/domain/access/logins/own-logins.test.ts",
      "test/domain/scim/users/user-accounts.test.ts",
      "test/server/routes/identity/password-links.test.ts",
    ],
  },
  access: {
    files: [
      "src/domain/access/*.ts",
      "src/domain/access/authentication/*.ts",
      "src/domain/access/budgets/*.ts",
      "src/domain/access/device-login/*.ts",
      "src/domain/access/logins/*.ts",
      "src/domain/access/sign-in/*.ts",
      "src/domain/access/tokens/*.ts",
    ],
    tests: [
      "test/domain/access/*.test.ts",
      "test/domain/access/authentication/*.test.ts",
      "test/domain/access/budgets/*.test.ts",
      "test/domain/access/device-login/*.test.ts",
      "test/domain/access/logins/*.test.ts",
      "test/domain/access/second-factor/*.test.ts",
      "test/domain/access/sign-in/*.test.ts",
      "test/domain/access/tokens/*.test.ts",
      "test/domain/erasure/erasure.test.ts",
      "test/domain/sso/*.test.ts",
      "test/server/routes/access/oauth.test.ts",
      "test/server/routes/access/*.test.ts",
      "test/server/auth/revocation.test.ts",
      "test/server/http/problems/refusal-log.test.ts",
      "test/server/routes/pages/pages-routes.test.ts",
      "test/server/token-verification.test.ts",
      "test/app/doctor/second-factor.test.ts",
    ],
  },
  guard: {
    files: ["src/server/auth/guard.ts", "src/server/auth/cookies.ts", "src/server/http/conditional.ts"],
    tests: [
      "test/server/auth/cookies.test.ts",
      "test/server/http/bodies/body-end.test.ts",
      "test/server/http/prepared-responses.test.ts",
      "test/server/http/conditional.test.ts",
      "test/server/openapi.test.ts",
      "test/server/auth/authorization.test.ts",
      "test/server/routes/access/session.test.ts",
      "test/server/routes/access/oauth.test.ts",
      "test/server/routes/governance/governance-delivery.test.ts",
    ],
  },
  bodies: {
    files: [
      "src/platform/json/*.ts",
      "src/platform/json/json-document.ts",
      "src/server/scim/group-body.ts",
      "src/domain/scim/groups/member-intake.ts",
      "src/platform/memory/number-set.ts",
      "src/server/http/bodies/validation.ts",
      "src/server/http/bodies/body-text.ts",
      "src/server/http/bodies/body-end.ts",
    ],
    tests: [
      "test/platform/json/*.test.ts",
      "test/platform/memory/number-set.test.ts",
      "test/server/scim/group-body.test.ts",
      "test/properties/json-structure.test.ts",
      "test/properties/json-positions.test.ts",
      "test/platform/json/json-document.test.ts",
      "test/server/http/bodies/json-text.test.ts",
      "test/server/http/problems/errors.test.ts",
      "test/server/http/bodies/body-end.test.ts",
      "test/server/http/**/*.test.ts",
      "test/server/scim/*.test.ts",
    ],
  },
  callers: {
    files: ["src/server/listener/peer-address.ts", "src/server/http/problems/{refusal,refusal-log}.ts"],
    tests: [
      "test/server/listener/peer-address.test.ts",
      "test/server/http/problems/refusal-log.test.ts",
      "test/server/http/problems/dialect.test.ts",
      "test/server/routes/access/oauth.test.ts",
      "test/server/http/problems/errors.test.ts",
      "test/server/scim/scim-http.test.ts",
      "test/server/routes/connection.test.ts",
      "test/server/http/**/*.test.ts",
      "test/server/pages/**/*.test.ts",
    ],
  },
  passwords: {
    files: ["src/platform/crypto/password-queue.ts"],
    tests: [
      "test/platform/crypto/password-queue.test.ts",
      "test/properties/password-queue.test.ts",
      "test/domain/access/sign-in/*.test.ts",
    ],
  },
  backup: {
    files: [
      "src/domain/backup/*.ts",
      "src/app/backup/{backup,backup-folder,backup-keys,jobs,read-backup,replaced-databases,restore,retention,verify}.ts",
      "src/platform/database/maintenance/copy.ts",
    ],
    tests: [
      "test/app/backup/backup-folder.test.ts",
      "test/app/backup/backup.test.ts",
      "test/app/backup/restore.test.ts",
      "test/domain/backup/*.test.ts",
      "test/app/backup/*.test.ts",
      "test/app/installation/outside-services.test.ts",
    ],
  },
  scheduler: {
    files: ["src/platform/scheduler/*.ts"],
    tests: ["test/platform/scheduler/*.test.ts", "test/app/service/**/*.test.ts"],
  },
  clients: {
    files: ["src/domain/clients/{removal,retention,store}.ts"],
    tests: [
      "test/domain/clients/**/*.test.ts",
      "test/domain/shared/long-lists.test.ts",
      "test/server/routes/*client*.test.ts",
      "test/server/routes/bulk.test.ts",
      "test/server/console/workstations/workstation-actions.test.ts",
    ],
  },
  terminal: {
    files: ["cli/output/printable.ts", "src/platform/observe/log.ts", "src/platform/observe/log-value.ts"],
    tests: ["test/cli/output/printable.test.ts", "test/platform/observe/log.test.ts"],
  },
};
