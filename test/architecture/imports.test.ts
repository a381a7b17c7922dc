// Rules for imports, sizes and comments, checked in the source text, so that reviewers need not look for violations. Each rule is
// tested with a small example of a violation. An exception is listed by file, with its reason.
import { describe, expect, test } from "bun:test";
import { type Import, readSources, type Source, sourceOf } from "../support/source.ts";

interface Rule {
  /** a sentence that completes "src/some/file.ts …" */
  readonly text: string;
  readonly appliesTo: RegExp;
  /** file to reason */
  readonly except?: Readonly<Record<string, string>>;
  /** @returns the problems of the source, one entry for each place */
  violations(source: Source): readonly string[];
  /** path and text of a file that breaks the rule */
  readonly broken: readonly [path: string, text: string];
}

const FILE_LINES_MAX = 300;

const importing = (isForbidden: (imported: Import, source: Source) => boolean) => (source: Source) =>
  source.imports.filter((imported) => isForbidden(imported, source)).map(({ target }) => `imports ${target}`);

const containing = (pattern: RegExp) => (source: Source) =>
  [...source.code.matchAll(new RegExp(pattern, "g"))].map(([found]) => `contains ${found.trim()}`);

const SERVER_OR_CLI = /^(?:src\/server|cli)\//;
const SERVER_OR_CLI_LIBRARY = /^(?:elysia|@elysiajs\/.*|commander|preact.*)$/;
const NETWORK = /^(?:node:)?(?:https?|http2|tls|dgram|dns)(?:\/promises)?$|^(?:undici|axios|ssh2)$/;
const DRIZZLE = /^drizzle-orm/;
const STORE = /(?:^|[/-])store\.ts$/;
const TABLES = /(?:^|[/-])tables\.ts$/;

/** facts and helpers that every area may use */
const SHARED = new Set(["shared", "harnesses"]);

const areaOf = (path: string): string | undefined => {
  const area = /^src\/domain\/([^/]+)\//.exec(path)?.[1];
  return area === undefined || SHARED.has(area) ? undefined : area;
};

/** areas meet through their service; a type of another area's model costs nothing at run time */
function bypassesService({ target, typeOnly }: Import, { path }: Source): boolean {
  const area = areaOf(target);
  if (area === undefined || area === areaOf(path)) return false;
  const isService = target === `src/domain/${area}/service.ts`;
  const isModelType = target === `src/domain/${area}/model.ts` && typeOnly;
  return !isService && !isModelType;
}

function leavesItsArea({ target, typeOnly }: Import, { path }: Source): boolean {
  const area = areaOf(target);
  return area !== undefined && area !== areaOf(path) && !(target.endsWith("/model.ts") && typeOnly);
}

const EXPORTED_FUNCTION =
  /^export (?:async )?function\*? (\w+)|^export const (\w+)[^=\n]*=\s*(?:async )?(?:\(|<\w|\w+ =>)/;

function withoutDocstring({ text }: Source): string[] {
  const lines = text.split("\n");
  return lines.flatMap((line, at) => {
    const [, declared, assigned] = EXPORTED_FUNCTION.exec(line) ?? [];
    const name = declared ?? assigned;
    const hasDocstring = (lines[at - 1] ?? "").trimEnd().endsWith("*/");
    return name === undefined || hasDocstring ? [] : [`says nothing about ${name}`];
  });
}

/** Statements on rows that decide about access, by table or by the table's name in SQL. */
const WRITES_ACCESS =
  /\.(?:update|delete)\((?:users|grants|loginSessions|deviceLogins|signingKeys)\)|\b(?:UPDATE|DELETE FROM) (?:users|grants|login_sessions|device_logins|signing_keys)\b/i;

/** @returns the top-level declarations of a source text */
const declarationsIn = ({ code }: Source): { name: string; text: string }[] =>
  code.split(/^(?=(?:export )?(?:async )?(?:function|const|class) )/m).map((text) => ({
    name: /(?:function|const|class) (\w+)/.exec(text)?.[1] ?? "",
    text,
  }));

/** Statements that change nothing that cached decisions about access depend on. */
const LEAVES_ACCESS: Readonly<Record<string, string>> = {
  "src/domain/access/tokens/grants-store.ts extendGrant": "a refresh only extends the grant",
  "src/domain/access/sign-in/login-sessions-store.ts extend": "only extends the session",
  "src/domain/access/sign-in/login-sessions-store.ts confirm": "no cache keeps when a session was confirmed",
  "src/domain/access/sign-in/login-sessions-store.ts forgetConfirmations":
    "no cache keeps when a session was confirmed",
  "src/domain/access/device-login/device-logins-store.ts claimOne":
    "says who may decide, not how it was decided",
  "src/domain/access/device-login/device-logins-store.ts decideOne": "is compiled here and run by decide",
  "src/domain/access/device-login/device-logins-store.ts redeemOne":
    "redeeming the login also deletes it from the cache",
};

const withoutRevision = (source: Source): string[] =>
  declarationsIn(source)
    .filter(({ text }) => WRITES_ACCESS.test(text) && !text.includes('markTopicChanged(tx, "access")'))
    .map(({ name }) => name)
    .filter((name) => LEAVES_ACCESS[`${source.path} ${name}`] === undefined)
    .map((name) => `changes access in ${name} without moving its revision`);

const RULES: readonly Rule[] = [
  {
    text: "a statement that may end access moves the revision that caches ask for",
    appliesTo: /^(?:src|cli)\//,
    violations: withoutRevision,
    broken: [
      "src/domain/access/new-store.ts",
      "export const endAll = (tx: Tx): void => void tx.update(grants).set({ revokedAtMs: 1 }).run();",
    ],
  },
  {
    text: "the domain uses no library of the server or the commands, and no network",
    appliesTo: /^src\/domain\//,
    violations: importing(({ target }) => SERVER_OR_CLI_LIBRARY.test(target) || NETWORK.test(target)),
    broken: ["src/domain/clients/service.ts", 'import { Elysia } from "elysia";'],
  },
  {
    text: "the domain is given time, environment and listening; it does not take them",
    appliesTo: /^src\/domain\//,
    violations: containing(/\bprocess\.|\bDate\.now\(|\bnew Date\(\)|\bBun\.serve\b|\bMath\.random\(/),
    broken: ["src/domain/clients/service.ts", "const seenAtMs = Date.now();"],
  },
  {
    text: "server and commands do not reach past the services to statements or tables",
    appliesTo: SERVER_OR_CLI,
    violations: importing(({ target }) => DRIZZLE.test(target) || STORE.test(target) || TABLES.test(target)),
    broken: ["src/server/routes/clients.ts", 'import * as store from "../../domain/clients/store.ts";'],
  },
  {
    text: "areas meet only through service.ts, or through types of model.ts",
    appliesTo: /^src\/domain\//,
    except: {
      "src/domain/domain.ts": "joins every area",
      "src/domain/sealed-values.ts": "a part of it: what is sealed in every area",
      "src/domain/erasers.ts": "a part of it: what erases a person in every area",
    },
    violations: importing(bypassesService),
    broken: ["src/domain/access/tokens.ts", 'import { isActive } from "../identity/model.ts";'],
  },
  {
    text: "a store stays with its own tables",
    appliesTo: /^src\/domain\/.*store\.ts$/,
    violations: importing(leavesItsArea),
    broken: ["src/domain/access/store.ts", 'import { createIdentity } from "../identity/service.ts";'],
  },
  {
    text: "only stores and tables speak SQL",
    appliesTo: /^src\/domain\/(?!.*(?:store|tables)\.ts$)/,
    violations: importing(({ target }) => DRIZZLE.test(target) || target === "bun:sqlite"),
    broken: ["src/domain/clients/service.ts", 'import { eq } from "drizzle-orm";'],
  },
  {
    text: "tables need nothing but drizzle and other tables",
    appliesTo: /^src\/domain\/.*tables\.ts$/,
    violations: importing(
      ({ target, typeOnly }) => !DRIZZLE.test(target) && !TABLES.test(target) && !typeOnly,
    ),
    broken: ["src/domain/clients/tables.ts", 'import { HEALTH } from "./model.ts";'],
  },
  {
    text: "errors.ts is a leaf that everybody may import",
    appliesTo: /^src\/platform\/errors\.ts$/,
    violations: importing(() => true),
    broken: ["src/platform/errors.ts", 'import type { Actor } from "./actor.ts";'],
  },
  {
    text: "only outbound.ts opens outgoing connections",
    appliesTo: /^(?:src(?!\/server\/console\/browser)|cli|migrations)\//, // a browser runs the code of that folder
    except: {
      "src/platform/outbound/outbound.ts": "is that file",
      "src/platform/outbound/tls-delivery.ts": "is the part of it for peers that only take bytes",
      "src/platform/outbound/sftp.ts": "is the part of it for files over SFTP",
      "src/platform/outbound/public-https.ts": "is the part of it that leads to public hosts",
      "src/platform/outbound/upstream.ts": "is the part of it that streams to the inference gateway",
      "src/platform/outbound/named-server.ts":
        "is the part of it that leads to the server that the operator names on the command line",
      "src/platform/files/unix-socket.ts": "asks whether a program listens on a socket of this machine",
      "src/server/listener/listen.ts": "sets the limit that the runtime keeps in node:http",
    },
    violations: (source) => [
      ...importing(({ target, typeOnly }) => NETWORK.test(target) && !typeOnly)(source),
      ...importing(
        ({ target, names }) =>
          /^(?:node:)?net$/.test(target) && /\b(?:connect|createConnection|Socket)\b/.test(names),
      )(source),
      ...containing(
        /(?<![.\w])fetch\(|\bglobalThis\.fetch\b|\bBun\.(?:fetch|connect|udpSocket|dns)\b|\bnew (?:WebSocket|EventSource)\(|\bcreateRemoteJWKSet\b/,
      )(source),
    ],
    broken: ["src/domain/gateway/service.ts", "const answer = await fetch(url);"],
  },
  {
    text: `no file is longer than ${FILE_LINES_MAX} lines`,
    appliesTo: /^/,
    violations: ({ text }) => (text.trimEnd().split("\n").length > FILE_LINES_MAX ? ["is longer"] : []),
    broken: ["src/platform/long.ts", "// line\n".repeat(FILE_LINES_MAX + 1)],
  },
  {
    text: "every file opens with a comment",
    appliesTo: /^(?!.*\.d\.ts$)/,
    violations: ({ text }) => (/^(?:#!.*\n)?(?:\/\/ |\/\*)/.test(text) ? [] : ["opens without one"]),
    broken: ["src/platform/silent.ts", "export const answer = 42;"],
  },
  {
    text: "every exported function of a service or of the platform has a docstring",
    appliesTo: /^src\/(?:domain\/[^/]+\/service|platform\/.+)\.ts$/,
    violations: withoutDocstring,
    broken: ["src/platform/silent.ts", "export const answer = (): number => 42;"],
  },
];

const sources = await readSources(["src", "cli", "migrations"]);

const violationsOf = ({ appliesTo, except, violations }: Rule, files: readonly Source[]): string[] =>
  files
    .filter(({ path }) => appliesTo.test(path) && except?.[path] === undefined)
    .flatMap((source) => violations(source).map((what) => `${source.path} ${what}`));

describe.each(RULES.map((rule) => [rule.text, rule] as const))("%s", (_, rule) => {
  test("holds in every file", () => {
    expect(violationsOf(rule, sources)).toEqual([]);
  });

  test("is detected when it is broken", () => {
    expect(violationsOf(rule, [sourceOf(...rule.broken)])).toHaveLength(1);
  });
});

test("a file with the maximum number of lines is allowed", () => {
  const rule = RULES.find(({ text }) => text.startsWith("no file is longer"));
  const longest = sourceOf("src/platform/long.ts", "// line\n".repeat(FILE_LINES_MAX));
  expect(rule?.violations(longest)).toEqual([]);
});

test("CLI-19 only outbound.ts can open connections, so that commands open none", () => {
  const rule = RULES.find(({ text }) => text.startsWith("only outbound.ts opens"));
  const inCommands = sources.filter(({ path }) => path.startsWith("cli/"));
  expect(inCommands.length).toBeGreaterThan(0);
  expect(rule && violationsOf(rule, sources)).toEqual([]);
});

test.each([
  "src/platform/outbound/public-https.ts",
  "src/platform/outbound/sftp.ts",
  "src/platform/outbound/tls-delivery.ts",
])("only outbound.ts imports its part %s", (part) => {
  const users = sources.filter(({ imports }) =>
    imports.some(({ target, typeOnly }) => target === part && !typeOnly),
  );
  expect(users.map(({ path }) => path)).toEqual(["src/platform/outbound/outbound.ts"]);
});

test("only the probe imports the part of outbound.ts for a named server", () => {
  const part = "src/platform/outbound/named-server.ts";
  const users = sources.filter(({ imports }) =>
    imports.some(({ target, typeOnly }) => target === part && !typeOnly),
  );
  expect(users.map(({ path }) => path)).toEqual(["src/app/probe/probe.ts"]);
});

test("SSO-46 sources load the library of company sign-in only when it is used", () => {
  const AT_LOAD = /^(?:import|export) (?!type )[^;]* from "(?:openid-client|oauth4webapi)/m;
  expect(sources.filter(({ text }) => AT_LOAD.test(text)).map(({ path }) => path)).toEqual([]);
  expect(sources.filter(({ text }) => text.includes('await import("openid-client")'))).toHaveLength(1);
});

test("the source files and their imports are found", () => {
  const paths = sources.map(({ path }) => path);
  expect(paths).toContain("src/platform/database/database.ts");
  expect(paths).toContain("migrations/index.ts");
  expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(sources.length);
});

test("imports are recognized in every form", () => {
  const { imports } = sourceOf(
    "src/domain/a/b.ts",
    [
      'import type { One } from "./one.ts";',
      'import { type Two, type Three } from "../two.ts";',
      'import { type Four, five } from "five";',
      'import {\n  six,\n  seven,\n} from "../../six.ts";',
      'export * from "./eight.ts";',
      'import "./nine.ts";',
      'const ten = await import("./ten.ts");',
      '// import { never } from "./comment.ts";',
    ].join("\n"),
  );
  expect(imports.map(({ target, typeOnly }) => `${target}${typeOnly ? " (types)" : ""}`)).toEqual([
    "src/domain/a/one.ts (types)",
    "src/domain/two.ts (types)",
    "five",
    "src/six.ts",
    "src/domain/a/eight.ts",
    "src/domain/a/nine.ts",
    "src/domain/a/ten.ts",
  ]);
});
