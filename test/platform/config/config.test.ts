// Settings: precedence of every source, every type at its limits, every refusal, and that secrets stay hidden. Real files in a
// separate folder; flags, environment and working folder are arguments.
import { afterEach, beforeEach, expect, describe as suite, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { Option } from "commander";
import { runDocumentTask } from "../../../src/app/documents/document-tasks.ts";
import {
  addressRange,
  anyOrigin,
  anyUrl,
  listenAddress,
  PORT_MAX,
  publicOrigin,
  publicUrl,
  UNIX_PATH_BYTES_MAX,
} from "../../../src/platform/config/addresses.ts";
import { type Config, describe, loadConfig } from "../../../src/platform/config/config.ts";
import {
  CONFIG_FILE_BYTES_MAX,
  configurationLines,
  type RunConfigTask,
  SYNTAX_PROBLEMS_MAX,
} from "../../../src/platform/config/content.ts";
import { ATTEMPTS, WINDOW_SECONDS } from "../../../src/platform/config/settings/access.ts";
import { SCIM_REQUESTS } from "../../../src/platform/config/settings/identity.ts";
import { KEY_RATE, RECONCILE_TTL_SECONDS } from "../../../src/platform/config/settings/provisioner.ts";
import { ADMIN_PASSWORD_LENGTH_MIN } from "../../../src/platform/config/settings/service.ts";
import { SECRET_FILE_BYTES_MAX } from "../../../src/platform/config/sources.ts";
import {
  attributeOf,
  CONFIG_OPTION,
  fileKeyOf,
  flagOf,
  SETTING_NAMES,
  type SettingName,
  settingOf,
  settingOptions,
  variableOf,
} from "../../../src/platform/config/table.ts";
import * as types from "../../../src/platform/config/types.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { PROBLEMS_MAX } from "../../../src/platform/text/problem-list.ts";
import { YAML_VALUES_MAX } from "../../../src/platform/text/yaml-scan.ts";
import { YAML_DEPTH_MAX } from "../../../src/platform/text/yaml-source.ts";

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "config-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

interface Given {
  flags?: Record<string, unknown>;
  env?: Record<string, string>;
  /** contents of conf/quartermaster.yaml, named by QUARTERMASTER_CONFIG */
  yaml?: string | Uint8Array;
  mode?: number;
}

const CONFIG = "conf/quartermaster.yaml";

function load({ flags = {}, env = {}, yaml, mode = 0o600 }: Given): Config {
  if (yaml === undefined) return loadConfig({ flags, env, cwd });
  write(CONFIG, yaml, mode);
  return loadConfig({ flags, env: { QUARTERMASTER_CONFIG: CONFIG, ...env }, cwd });
}

function write(name: string, content: string | Uint8Array, mode = 0o600): string {
  const path = join(cwd, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, content, { mode });
  return path;
}

function refusal(given: Given): DomainError {
  try {
    load(given);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error("the configuration was accepted");
}

const problemsOf = (given: Given) => refusal(given).problems;
const originOf = (config: Config, name: SettingName) => config.rowOf(name).origin;
const reveal = (config: Config, name: "scim.token" | "metrics.token" | "bootstrap.admin_password") =>
  config.get(name)?.reveal();

suite("sources of an ordinary setting", () => {
  const flags = { logLevel: "debug" };
  const yaml = "log:\n  level: error\n";

  test("CLI-11 the file wins over the default and its line is the origin", () => {
    const config = load({ yaml });
    expect([config.get("log.level"), originOf(config, "log.level")]).toEqual(["error", "file:2"]);
  });

  test("the default applies without any source", () => {
    const config = load({});
    expect([config.get("log.level"), originOf(config, "log.level")]).toEqual(["info", "default"]);
  });

  test("a setting without a default is undefined", () => {
    expect(load({}).get("server.public_url")).toBeUndefined();
  });

  test("a blank environment variable counts as absent", () => {
    const config = load({ env: { QUARTERMASTER_LOG_LEVEL: " \t", QUARTERMASTER_SURPRISE: "" }, yaml });
    expect(config.get("log.level")).toBe("error");
  });

  test("an empty key or section in the file counts as absent", () => {
    const config = load({ yaml: "log:\n  level:\nserver:\n" });
    expect(originOf(config, "log.level")).toBe("default");
  });

  test("an invalid value that is overridden has no effect", () => {
    expect(load({ flags, yaml: "log:\n  level: loud\n" }).get("log.level")).toBe("debug");
  });

  test("ignores flags that are not settings", () => {
    expect(load({ flags: { json: true, yes: true } }).get("log.level")).toBe("info");
  });

  // A wrong value shows which source was read: the error names the setting in the spelling of that source.
  test.each(SETTING_NAMES.filter((name) => settingOf(name).credential === undefined))(
    "CLI-11 CLI-12 %s is read from its flag, else its variable, else the file, else it has its default",
    (name) => {
      // without it the settings of the gateway are ignored
      const gateway = name === "gateway.type" ? {} : { gatewayType: "litellm" };
      const flags = { ...gateway, [attributeOf(name)]: "\0" };
      const env = { [variableOf(name)]: "\0" };
      const wrongInFile = name.split(".").reduceRight<unknown>((below, key) => ({ [key]: below }), [[]]);
      const yaml = JSON.stringify(wrongInFile);
      const pointer = `/${name.replaceAll(".", "/")}`;
      const named = (given: Given) =>
        problemsOf(given)
          .filter((problem) => problem.pointer.startsWith(pointer))
          .map(({ detail }) => detail.split(/[:[]/)[0]);
      expect(named({ flags, env, yaml })).toEqual([flagOf(name)]);
      expect(named({ flags: gateway, env, yaml })).toEqual([variableOf(name)]);
      expect(named({ flags: gateway, yaml })).toEqual([name]);
      expect(originOf(load({}), name)).toBe("default");
    },
  );
});

suite("data_dir", () => {
  test("is ./data below the working folder by default", () => {
    expect(load({}).get("data_dir")).toBe(join(cwd, "data"));
  });

  test("is the first state directory of the service manager if there is one", () => {
    expect(load({ env: { STATE_DIRECTORY: "/var/lib/a:/var/lib/b" } }).get("data_dir")).toBe("/var/lib/a");
  });

  test("can be set even if there is a state directory", () => {
    const env = { STATE_DIRECTORY: "/var/lib/a", QUARTERMASTER_DATA_DIR: "elsewhere" };
    expect(load({ env }).get("data_dir")).toBe(join(cwd, "elsewhere"));
  });

  test("is relative to the configuration file's folder if the file sets it", () => {
    expect(load({ yaml: "data_dir: kept\n" }).get("data_dir")).toBe(join(cwd, "conf/kept"));
  });

  test("is relative to the working folder if a flag sets it", () => {
    const config = load({ flags: { dataDir: "kept" }, yaml: "data_dir: other\n" });
    expect(config.get("data_dir")).toBe(join(cwd, "kept"));
  });
});

suite("which file is read", () => {
  test("--config wins over QUARTERMASTER_CONFIG", () => {
    write("a.yaml", "log:\n  level: debug\n");
    write("b.yaml", "log:\n  level: error\n");
    const config = load({ flags: { config: "a.yaml" }, env: { QUARTERMASTER_CONFIG: "b.yaml" } });
    expect([config.get("log.level"), config.file]).toEqual(["debug", join(cwd, "a.yaml")]);
  });

  test("QUARTERMASTER_CONFIG wins over the configuration directory", () => {
    write("etc/quartermaster.yaml", "log:\n  level: debug\n");
    const config = load({
      env: { CONFIGURATION_DIRECTORY: join(cwd, "etc") },
      yaml: "log:\n  level: error\n",
    });
    expect(config.get("log.level")).toBe("error");
  });

  test("quartermaster.yaml in the configuration directory is found", () => {
    write("etc/quartermaster.yaml", "log:\n  level: debug\n");
    const config = load({ env: { CONFIGURATION_DIRECTORY: `${join(cwd, "etc")}:/other` } });
    expect(config.get("log.level")).toBe("debug");
  });

  test("a configuration directory without the file is allowed", () => {
    expect(load({ env: { CONFIGURATION_DIRECTORY: cwd } }).file).toBeUndefined();
  });

  test("refuses a missing explicit file under the name that the user gave", () => {
    const detail = `does not exist`;
    expect(problemsOf({ flags: { config: "gone.yaml" } })).toEqual([
      { pointer: "", detail: `--config: ${join(cwd, "gone.yaml")} ${detail}` },
    ]);
    expect(problemsOf({ env: { QUARTERMASTER_CONFIG: "gone.yaml" } })).toEqual([
      { pointer: "", detail: `QUARTERMASTER_CONFIG: ${join(cwd, "gone.yaml")} ${detail}` },
    ]);
  });

  test("refuses a folder or a missing file in place of the file", () => {
    for (const config of [".", ""])
      expect(problemsOf({ flags: { config } })[0]?.detail).toBe(`--config: ${cwd} is not a regular file`);
  });

  test("refuses a named pipe without blocking the start", () => {
    Bun.spawnSync(["mkfifo", join(cwd, "pipe")]);
    expect(problemsOf({ flags: { config: "pipe" } })[0]?.detail).toContain("is not a regular file");
  });

  test("a file may have the maximum size, but not one more byte", () => {
    const below = `#${"x".repeat(CONFIG_FILE_BYTES_MAX - 2)}`;
    expect(load({ yaml: below }).file).toBeDefined();
    expect(load({ yaml: `${below}x` }).file).toBeDefined();
    expect(problemsOf({ yaml: `${below}xx` })[0]?.detail).toContain(
      `larger than ${CONFIG_FILE_BYTES_MAX} bytes`,
    );
  });
});

suite("form of the file", () => {
  test("accepts an empty file, a file with only comments, and a byte order mark", () => {
    for (const yaml of ["", "# nothing\n", "---\n", "\uFEFFlog:\n  level: info\n"])
      expect(load({ yaml }).get("log.level")).toBe("info");
  });

  const faults: readonly [name: string, yaml: string | Uint8Array, detail: string, line: number][] = [
    ["a duplicate key", "log:\n  level: info\n  level: debug\n", "a second time", 3],
    ["a duplicate section", "log:\n  level: info\nlog:\n  format: json\n", "a second time", 3],
    ["a tab as indentation", "log:\n\tlevel: info\n", "is indented with a tab", 2],
    ["bytes that are not UTF-8", Buffer.from("log:\n  level: inf\xf6\n", "latin1"), "is not UTF-8", 2],
    [
      "bytes that are not UTF-8 in a last line without end",
      Buffer.from("#\n#\n\xf6", "latin1"),
      "is not UTF-8",
      3,
    ],
    ["a list as root", "- log\n", "must be a mapping", 1],
    ["a word as root", "\nlog\n", "must be a mapping", 1],
    ["a second document", "log:\n---\nlog:\n", "one document only", 2],
    ["an unclosed bracket", "server:\n  trusted_proxies: [a\n", "a bracket is not closed", 3],
    ["an unknown tag", "log:\n  level: !level info\n", "has an unknown tag", 2],
    ["a key that is not text", "? [log]\n: 1\n", "is not plain text", 1],
    ["an alias without an anchor", "log:\n  level: *level\n", "no complete anchor", 2],
    ["a scalar in place of a section", "\nlog: info\n", "must be a mapping of settings", 2],
    ["a list in place of a section", "\nlog: [info]\n", "must be a mapping of settings", 2],
    [
      "a word in place of an inner section",
      "gateway:\n  provisioner: x\n",
      "must be a mapping of settings",
      2,
    ],
  ];
  test.each(faults)("%s is refused with its line", (_, yaml, detail, line) => {
    expect(problemsOf({ yaml })).toEqual([
      expect.objectContaining({ detail: expect.stringContaining(detail), line }),
    ]);
  });

  test("refuses aliases that multiply", () => {
    const levels = ["a0: &a0 [1,1,1,1,1,1,1,1,1]"];
    for (let level = 1; level < 9; level++)
      levels.push(
        `a${level}: &a${level} [${Array(9)
          .fill(`*a${level - 1}`)
          .join(",")}]`,
      );
    const yaml = `governance:\n${levels.map((line) => `  ${line}\n`).join("")}`;
    expect(problemsOf({ yaml })[0]?.detail).toContain("when its aliases are replaced");
  });

  test("reports the first problems of a file with many", () => {
    const twice = (count: number) =>
      Array(count + 1)
        .fill("log:\n")
        .join("");
    expect(problemsOf({ yaml: twice(SYNTAX_PROBLEMS_MAX - 1) })).toHaveLength(SYNTAX_PROBLEMS_MAX - 1);
    expect(problemsOf({ yaml: twice(SYNTAX_PROBLEMS_MAX) })).toHaveLength(SYNTAX_PROBLEMS_MAX);
    expect(problemsOf({ yaml: twice(SYNTAX_PROBLEMS_MAX + 1) })).toHaveLength(SYNTAX_PROBLEMS_MAX);
  });

  test("lists as many unknown keys as problems may have", () => {
    const unknown = (count: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`key_${at}`, 1])));
    const details = (count: number) => problemsOf({ yaml: unknown(count) }).map(({ detail }) => detail);
    expect(details(PROBLEMS_MAX - 1)).toHaveLength(PROBLEMS_MAX - 1);
    expect(details(PROBLEMS_MAX)).toHaveLength(PROBLEMS_MAX);
    expect(details(PROBLEMS_MAX + 1)).toHaveLength(PROBLEMS_MAX + 1);
    expect(details(PROBLEMS_MAX + 1).at(-1)).toBe("and 1 more");
  });

  test("may have as many levels as other YAML and no more", () => {
    const nested = (levels: number) => `governance: ${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}\n`;
    for (const levels of [YAML_DEPTH_MAX - 1, YAML_DEPTH_MAX])
      expect(load({ yaml: nested(levels) }).content?.governance).toBeDefined();
    expect(problemsOf({ yaml: `\n${nested(YAML_DEPTH_MAX + 1)}` })).toMatchObject([
      { detail: expect.stringContaining(`is nested deeper than ${YAML_DEPTH_MAX} levels`), line: 2 },
    ]);
  });

  test("may have as many values and names as other YAML and no more", () => {
    const FRAME = 5; // the file, `governance`, the section, `list` and the list
    const yaml = JSON.stringify({ governance: { list: Array(YAML_VALUES_MAX - FRAME).fill(1) } });
    expect(load({ yaml }).content?.governance).toBeDefined();
    // With aliases, which are read faster. There are also two mappings, three names, two lists and 999 values.
    const ones = (count: number) => Array(count).fill(1);
    const left = YAML_VALUES_MAX + 1 - (2 + 3 + 2 + 999);
    const rest = [...Array(Math.floor(left / 1_000)).fill("*a"), ...ones(left % 1_000)];
    const more = `governance: {first: &a [${ones(999)}], list: [${rest}]}`;
    expect(problemsOf({ yaml: more })).toEqual([
      {
        pointer: "",
        detail: `the file has ${YAML_VALUES_MAX + 1} values and names; the limit is ${YAML_VALUES_MAX}`,
      },
    ]);
  });

  test.each([".inf", "-.INF", ".nan", "1e999"])("%s is refused with its line", (number) => {
    const detail =
      number === "1e999"
        ? "governance.limit: is too large for a number; write it in quotes"
        : "governance.limit: must be a number that JSON can represent, not infinity or NaN";
    const problem = { pointer: "/governance/limit", detail, line: 2 };
    expect(problemsOf({ yaml: `governance:\n  limit: ${number}\n` })).toEqual([problem]);
    if (number === "1e999")
      expect(problemsOf({ yaml: `{"governance":\n{"limit": ${number}}}` })).toEqual([problem]);
  });

  test("anchors may be used", () => {
    const yaml = "server:\n  tls_cert: &pem both.pem\n  tls_key: *pem\n";
    expect(load({ yaml }).get("server.tls_key")).toBe(join(cwd, "conf/both.pem"));
  });
});

suite("names nobody knows", () => {
  const unknown: readonly [yaml: string, pointer: string, line: number, detail: string][] = [
    ["server:\n  lisen: x\n", "/server/lisen", 2, "server.lisen: no such key; the nearest is server.listen"],
    ["servr:\n  listen: x\n", "/servr", 1, "servr: no such key; the nearest is server"],
    ["data-dir: x\n", "/data-dir", 1, "data-dir: no such key; the nearest is data_dir"],
    [
      "\npackage_catalogue: {}\n",
      "/package_catalogue",
      2,
      "package_catalogue: no such key; the nearest is package_catalog",
    ],
    ["listen: x\n", "/listen", 1, "listen: no such key; the nearest is server.listen"],
    [
      "scim:\n  token_fil: x\n",
      "/scim/token_fil",
      2,
      "scim.token_fil: no such key; the nearest is scim.token_file",
    ],
    ["log/x: 1\n", "/log~1x", 1, "log/x: no such key; the nearest is log"],
    [
      "gateway:\n  provisioner:\n    tpye: x\n",
      "/gateway/provisioner/tpye",
      3,
      "gateway.provisioner.tpye: no such key; the nearest is gateway.provisioner.type",
    ],
    [
      "gateway:\n  timeout_seconds: 3\n",
      "/gateway/timeout_seconds",
      2,
      "gateway.timeout_seconds: no such key; the nearest is gateway.provisioner.timeout_seconds",
    ],
    [
      "gateway: {provisioner.policy.models: [x]}\n",
      "/gateway/provisioner.policy.models",
      1,
      "gateway.provisioner.policy.models: keys are nested; write `models:` below `policy:`",
    ],
    [
      "server.listen: x\n",
      "/server.listen",
      1,
      "server.listen: keys are nested; write `listen:` below `server:`",
    ],
    ["log: {level_file: x}\n", "/log/level_file", 1, "log.level_file: no such key; the nearest is log.level"],
  ];
  test.each(unknown)("CLI-12 refuses %j in the file with the nearest", (yaml, pointer, line, detail) => {
    expect(problemsOf({ yaml })).toEqual([{ pointer, line, detail }]);
  });

  test("refuses an unknown variable with our prefix and suggests the nearest, even if another source is valid", () => {
    const env = { QUARTERMASTER_SERVER_LISEN: ":80", QUARTERMASTER_SCIM_TOKN_FILE: "x", OTHER: "y" };
    expect(problemsOf({ flags: { serverListen: "localhost:1" }, env })).toEqual([
      {
        pointer: "",
        detail: "QUARTERMASTER_SERVER_LISEN: no such setting; the nearest is QUARTERMASTER_SERVER_LISTEN",
      },
      {
        pointer: "",
        detail: "QUARTERMASTER_SCIM_TOKN_FILE: no such setting; the nearest is QUARTERMASTER_SCIM_TOKEN_FILE",
      },
    ]);
  });

  test("a variable that the file refers to may have any name", () => {
    const yaml = "governance:\n  mcp: {key: os.environ/QUARTERMASTER_OF_MINE}\n";
    expect(load({ yaml, env: { QUARTERMASTER_OF_MINE: "x" } }).file).toBeDefined();
  });
});

suite("references from the file to the environment", () => {
  test("both spellings read the variable in scalars, lists and mappings", () => {
    const config = load({
      yaml: [
        "bootstrap: {organization_name: os.environ/ORG}",
        "server: {trusted_proxies: ['env://PROXY', 10.0.0.2]}",
        "scim: {group_role_mappings: {Admins: env://ROLE}}",
      ].join("\n"),
      env: { ORG: "Acme", PROXY: "10.0.0.1", ROLE: "admin" },
    });
    expect(config.get("bootstrap.organization_name")).toBe("Acme");
    expect(config.get("server.trusted_proxies").map((range) => range.address)).toEqual([
      "10.0.0.1",
      "10.0.0.2",
    ]);
    expect(config.get("scim.group_role_mappings").get("Admins")).toBe("admin");
    expect(originOf(config, "bootstrap.organization_name")).toBe("file:1");
  });

  test("refuses a missing or blank variable by name, once", () => {
    const yaml = "server:\n  trusted_proxies: [env://PROXY, env://PROXY, os.environ/BLANK]\n";
    expect(problemsOf({ yaml, env: { BLANK: " " } })).toEqual([
      {
        pointer: "/server/trusted_proxies",
        detail: "server.trusted_proxies: refers to PROXY, BLANK, which is not set",
        line: 2,
      },
    ]);
  });
});

suite("secrets", () => {
  const yaml = "scim:\n  token: from the file\n";

  function everySource(): Given & { env: Record<string, string> } {
    write("credentials/scim-token", "from the credential\n");
    write("named-by-variable", "from the variable's file\n");
    write("named-by-flag", "from the flag's file\n");
    write("conf/named-by-file", "from the file's file\n");
    return {
      flags: { scimTokenFile: "named-by-flag" },
      env: {
        CREDENTIALS_DIRECTORY: join(cwd, "credentials"),
        QUARTERMASTER_SCIM_TOKEN_FILE: "named-by-variable",
        QUARTERMASTER_SCIM_TOKEN: "from the environment",
      },
      yaml: `${yaml}  token_file: named-by-file\n`,
    };
  }

  test("CLI-12 SVC-5 come from the first of: credential, file by flag, by variable, by the file, environment, file", () => {
    const given = everySource();
    const seen: unknown[] = [];
    const look = (next: Given) => {
      const config = load(next);
      seen.push([reveal(config, "scim.token"), originOf(config, "scim.token")]);
    };
    look(given);
    const { CREDENTIALS_DIRECTORY, ...withoutCredentials } = given.env;
    look({ ...given, env: withoutCredentials });
    look({ ...given, env: withoutCredentials, flags: {} });
    const { QUARTERMASTER_SCIM_TOKEN_FILE, ...withoutTwin } = withoutCredentials;
    look({ ...given, env: withoutTwin, flags: {} });
    look({ env: withoutTwin, yaml });
    look({ yaml });
    look({});
    expect(CREDENTIALS_DIRECTORY).toBeDefined();
    expect(QUARTERMASTER_SCIM_TOKEN_FILE).toBeDefined();
    expect(seen).toEqual([
      ["from the credential", "credential"],
      ["from the flag's file", "secret file"],
      ["from the variable's file", "secret file"],
      ["from the file's file", "secret file"],
      ["from the environment", "environment"],
      ["from the file", "file:2"],
      [undefined, "default"],
    ]);
  });

  test("offers no secret as a flag", () => {
    expect(load({ flags: { scimToken: "sesame" } }).get("scim.token")).toBeUndefined();
    const flags = settingOptions().map((option) => option.flags);
    expect(flags).toContain("--scim-token-file <path>");
    expect(flags.filter((flag) => flag.startsWith("--scim-token "))).toEqual([]);
  });

  test("lose only one newline at the end of their file", () => {
    for (const [content, expected] of [
      [" open \n", " open "],
      ["open\r\n", "open"],
      ["open\n\n", "open\n"],
      ["open", "open"],
    ] as const) {
      write("secret", content);
      expect(reveal(load({ flags: { scimTokenFile: "secret" } }), "scim.token")).toBe(expected);
    }
  });

  test("warns about a secret in a plain variable and names the safer ways", () => {
    const config = load({ env: { QUARTERMASTER_SCIM_TOKEN: "sesame" } });
    expect(config.warnings).toHaveLength(1);
    expect(config.warnings[0]).toContain("QUARTERMASTER_SCIM_TOKEN passes a secret");
    expect(config.warnings[0]).toContain(
      "QUARTERMASTER_SCIM_TOKEN_FILE or the systemd credential scim-token",
    );
  });

  test("warns about a secret in a variable that the file refers to", () => {
    const config = load({ yaml: "scim:\n  token: env://TOKEN\n", env: { TOKEN: "sesame" }, mode: 0o644 });
    expect(reveal(config, "scim.token")).toBe("sesame");
    expect(config.warnings[0]).toStartWith("TOKEN passes a secret");
  });

  test("accepts secrets in files without a warning", () => {
    write("credentials/metrics-token", "sesame");
    const config = load({ yaml, env: { CREDENTIALS_DIRECTORY: "credentials" } });
    expect([config.warnings, reveal(config, "metrics.token")]).toEqual([[], "sesame"]);
  });

  test("proposes no command that closes a file of several lines, which was named by mistake", () => {
    const path = write("passwd", "root:x:0:0\nana:x:1000:1000\n", 0o644);
    expect(problemsOf({ flags: { scimTokenFile: "passwd" } }).map(({ detail }) => detail)).toEqual([
      `--scim-token-file: everyone on this machine can read ${path}; it has several lines and does not look like a secret: name the file of the secret`,
    ]);
  });

  test("refuses a secret in a file that everyone can read, with the command that fixes it", () => {
    const secretFile = write("secret", "sesame", 0o604);
    const credential = write("credentials/metrics-token", "sesame", 0o644);
    const given = {
      flags: { scimTokenFile: "secret" },
      env: { CREDENTIALS_DIRECTORY: "credentials" },
      yaml: "bootstrap:\n  admin_password: correct horse\n",
      mode: 0o644,
    };
    expect(problemsOf(given).map((problem) => problem.detail)).toEqual([
      `credential metrics-token: everyone on this machine can read ${credential}; run: chmod 600 ${credential}`,
      `bootstrap.admin_password: everyone on this machine can read this secret; run: chmod 600 ${join(cwd, CONFIG)}`,
      `--scim-token-file: everyone on this machine can read ${secretFile}; run: chmod 600 ${secretFile}`,
    ]);
  });

  test("accepts a secret in a file that its owner and group can read, also through a link", () => {
    symlinkSync(write("target", "sesame", 0o440), join(cwd, "link"));
    expect(reveal(load({ flags: { scimTokenFile: "link" } }), "scim.token")).toBe("sesame");
  });

  test("accepts the path of a secret in a configuration file that everyone can read", () => {
    write("conf/secret", "sesame");
    const config = load({ yaml: "scim:\n  token_file: secret\n", mode: 0o644 });
    expect(reveal(config, "scim.token")).toBe("sesame");
  });

  const unusable: readonly [name: string, content: string | Uint8Array | undefined, detail: string][] = [
    ["missing", undefined, "does not exist"],
    ["empty", "", "must not be empty"],
    ["only a newline", "\n", "must not be empty"],
    ["not UTF-8", Uint8Array.of(0xff, 0xfe), "is not UTF-8 text"],
  ];
  test.each(unusable)(
    "refuses a secret in a file that is %s and looks for it nowhere else",
    (_, content, detail) => {
      if (content !== undefined) write("secret", content);
      const env = { QUARTERMASTER_SCIM_TOKEN_FILE: "secret", QUARTERMASTER_SCIM_TOKEN: "sesame" };
      const [problem, ...more] = problemsOf({ env });
      expect(more).toEqual([]);
      expect(problem?.pointer).toBe("/scim/token_file");
      expect(problem?.detail).toStartWith("QUARTERMASTER_SCIM_TOKEN_FILE: ");
      expect(problem?.detail).toContain(detail);
    },
  );

  test("may have the maximum size of their file, but not one more byte", () => {
    for (const size of [SECRET_FILE_BYTES_MAX - 1, SECRET_FILE_BYTES_MAX]) {
      write("secret", "x".repeat(size));
      expect(reveal(load({ flags: { scimTokenFile: "secret" } }), "scim.token")).toHaveLength(size);
    }
    write("secret", "x".repeat(SECRET_FILE_BYTES_MAX + 1));
    const [problem] = problemsOf({ flags: { scimTokenFile: "secret" } });
    expect(problem?.detail).toContain(`is larger than ${SECRET_FILE_BYTES_MAX} bytes`);
  });

  test("refuses the path of a secret file that comes from a missing variable", () => {
    expect(problemsOf({ yaml: "scim:\n  token_file: env://GONE\n" })).toEqual([
      { pointer: "/scim/token_file", detail: "scim.token_file: refers to GONE, which is not set", line: 2 },
    ]);
  });

  test("the first administrator's password has a minimum length", () => {
    const env = (length: number) => ({ env: { QUARTERMASTER_BOOTSTRAP_ADMIN_PASSWORD: "p".repeat(length) } });
    for (const length of [ADMIN_PASSWORD_LENGTH_MIN, ADMIN_PASSWORD_LENGTH_MIN + 1])
      expect(reveal(load(env(length)), "bootstrap.admin_password")).toHaveLength(length);
    expect(problemsOf(env(ADMIN_PASSWORD_LENGTH_MIN - 1))).toEqual([
      {
        pointer: "/bootstrap/admin_password",
        detail: "QUARTERMASTER_BOOTSTRAP_ADMIN_PASSWORD: must have at least 12 characters",
      },
    ]);
  });

  test("never shows a secret in output of the settings", () => {
    const env = { QUARTERMASTER_SCIM_TOKEN: "sesame-1", QUARTERMASTER_METRICS_TOKEN: "sesame-2" };
    const config = load({ env, yaml: "governance:\n  mcp: {key: sesame-3}\n" });
    const shown = [
      JSON.stringify([config, describe(config), config.get("scim.token")]),
      inspect(config, { depth: 9, showHidden: true, getters: false }),
      inspect(describe(config), { depth: 9 }),
      Bun.inspect(config, { depth: 9 }),
      `${config.get("scim.token")}`,
      ...config.warnings,
    ].join("\n");
    expect(shown).toContain("QUARTERMASTER_SCIM_TOKEN");
    expect(shown).not.toContain("sesame");
  });

  const leaks: readonly [name: string, given: Given][] = [
    ["too short a password", { env: { QUARTERMASTER_BOOTSTRAP_ADMIN_PASSWORD: "sesame" } }],
    ["an unclosed quote", { yaml: 'scim:\n  token: "sesame\n' }],
    ["an unknown alias", { yaml: "scim:\n  token: *sesame\n" }],
    ["an unknown tag", { yaml: "scim:\n  token: !sesame x\n" }],
    ["text after a quote", { yaml: "scim:\n  token: 'a' sesame\n" }],
    ["a list", { yaml: "scim:\n  token: [sesame]\n" }],
    ["an address with credentials", { env: { QUARTERMASTER_SERVER_PUBLIC_URL: "https://u:sesame@host" } }],
    ["a mapping that is not JSON", { env: { QUARTERMASTER_SCIM_GROUP_ROLE_MAPPINGS: "sesame" } }],
    ["a wrong number", { flags: { limitsWindowSeconds: "sesame" } }],
  ];
  test.each(leaks)("never shows a secret in the refusal of %s", (_, given) => {
    const error = refusal(given);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("sesame");
    expect(JSON.stringify([error, error.message, error.hint, error.problems])).not.toContain("sesame");
  });
});

suite("problems", () => {
  test("reports the problems of every source together, in one error", () => {
    const error = refusal({
      flags: { logFormat: "loud" },
      env: {
        QUARTERMASTER_LIMITS_WINDOW_SECONDS: "0",
        QUARTERMASTER_NOPE: "1",
        QUARTERMASTER_SCIM_TOKEN_FILE: "gone",
      },
      yaml: "server:\n  listen: here\n  tls_cert: a.pem\n  extra: 1\nlog:\n  level: loud\n",
    });
    expect([error.kind, error.reason]).toEqual(["invalid", "config.invalid"]);
    expect(error.message).toBe(`the configuration has 8 problems (file: ${join(cwd, CONFIG)})`);
    expect(error.hint).toContain("quartermaster config check");
    expect(error.problems.map(({ pointer, line }) => [pointer, line])).toEqual([
      ["/server/extra", 4],
      ["/server/listen", 2],
      ["/log/level", 6],
      ["/log/format", undefined],
      ["/scim/token_file", undefined],
      ["/limits/window_seconds", undefined],
      ["", undefined],
      ["/server/tls_key", undefined],
    ]);
  });

  test("name the setting in the spelling that the user chose", () => {
    const details = [
      problemsOf({ flags: { logLevel: "x" } }),
      problemsOf({ env: { QUARTERMASTER_LOG_LEVEL: "x" } }),
      problemsOf({ yaml: "log:\n  level: x\n" }),
    ].map(([problem]) => problem?.detail);
    const rest = "must be one of debug, info, warning, error";
    expect(details).toEqual([
      `--log-level: ${rest}`,
      `QUARTERMASTER_LOG_LEVEL: ${rest}`,
      `log.level: ${rest}`,
    ]);
  });

  test("reports the problems of other sources together with an unreadable file", () => {
    const problems = problemsOf({ env: { QUARTERMASTER_LOG_LEVEL: "x" }, yaml: "- a\n" });
    expect(problems.map((problem) => problem.pointer)).toEqual(["", "/log/level"]);
  });

  test("a single problem is announced in the singular", () => {
    expect(refusal({ flags: { logLevel: "x" } }).message).toBe("the configuration has one problem");
  });
});

suite("own TLS", () => {
  test("needs certificate and key, from any source", () => {
    const config = load({ flags: { serverTlsCert: "c.pem" }, yaml: "server:\n  tls_key: k.pem\n" });
    expect([config.get("server.tls_cert"), config.get("server.tls_key")]).toEqual([
      join(cwd, "c.pem"),
      join(cwd, "conf/k.pem"),
    ]);
  });

  test.each([
    ["serverTlsCert", "/server/tls_key"],
    ["serverTlsKey", "/server/tls_cert"],
  ])("refuses %s without the other half and names the missing one", (flag, pointer) => {
    expect(problemsOf({ flags: { [flag]: "x.pem" } }).map((problem) => problem.pointer)).toEqual([pointer]);
  });

  test("is not reported as incomplete if the file with the other half cannot be read", () => {
    const problems = problemsOf({ flags: { serverTlsCert: "x.pem" }, yaml: "server:\n\ttls_key: k.pem\n" });
    expect(problems).toHaveLength(1);
  });
});

suite("sections that are handed on", () => {
  const yaml = [
    "governance:",
    "  rules:",
    "    - id: one",
    "    - id: two",
    "      value: os.environ/GONE",
    "package_catalog:",
    "  packages: &list []",
    "  a/b: *list",
  ].join("\n");

  const sectionsOf = ({ content }: Config) => ({
    governance: content?.governance && JSON.parse(content.governance),
    hasCatalog: content?.hasCatalog,
  });

  test("passes the sections on unchanged, references included", () => {
    expect(sectionsOf(load({ yaml }))).toEqual({
      governance: { rules: [{ id: "one" }, { id: "two", value: "os.environ/GONE" }] },
      hasCatalog: true,
    });
    expect(JSON.parse(load({ yaml }).content?.whole ?? "").package_catalog).toEqual({
      packages: [],
      "a/b": [],
    });
  });

  const linesOf = (text: string, pointers: readonly string[]) =>
    configurationLines({ bytes: Buffer.from(text), pointers });
  const pointers = [
    "/governance",
    "/governance/rules/1",
    "/governance/rules/1/value",
    "/package_catalog/a~1b",
    "/governance/rules/1/value/deeper",
    "/governance/rules/7",
  ];

  test("know the line of each pointer, or of the nearest parent", () => {
    expect(linesOf(yaml, [...pointers, "/gateway"])).toEqual([1, 4, 5, 8, 5, 2, 1]);
  });

  test("know the same lines in JSON", () => {
    const json = [
      '{"governance":',
      '  {"rules": [',
      '    {"id": "o{n\\"e", "list": [[1, 2], -1.5e3, true]},',
      '    {"id": "two",',
      '      "value": "os.environ/GONE" }]},',
      ' "package_catalog": {',
      '  "packages": [],',
      '  "a\\u002fb": [] } }',
    ].join("\n");
    const inside = ["/governance/rules/0/list/0/1", "/governance/rules/0/list/2"];
    expect(linesOf(json, [...pointers, ...inside, "/gateway"])).toEqual([1, 4, 5, 8, 5, 2, 3, 3, 1]);
    expect(linesOf(json, [...pointers, ...inside])).toEqual(
      linesOf(`${json} # no JSON`, [...pointers, ...inside]),
    );
  });

  test("know the line of a value behind an alias", () => {
    const text = "governance: &rules\n  one: 1\n  two: 2\npackage_catalog: *rules\n";
    expect(linesOf(text, ["/package_catalog/two"])).toEqual([3]);
  });

  test("has no sections if the file or its content is missing", () => {
    expect(load({}).content).toBeUndefined();
    const empty = load({ yaml: "governance:\npackage_catalog:\n" });
    expect(sectionsOf(empty)).toEqual({ governance: undefined, hasCatalog: false });
  });
});

suite("a file that is read again", () => {
  const texts = (level: string) => `log: {level: ${level}}\ngovernance: {name: ${level}}\n`;
  const counting = () => {
    const names: string[] = [];
    const run: RunConfigTask = async (name, request) => {
      names.push(name);
      return runDocumentTask(name, request);
    };
    return { names, run };
  };

  test("is read again on request without changing the effective settings", async () => {
    const config = load({ yaml: texts("info") });
    write(CONFIG, texts("debug"));
    const { names, run } = counting();
    const reading = await config.readFileAgain(run);
    write(CONFIG, texts("error"));
    expect(config.valueIn(reading, "log.level")).toBe("debug");
    expect(config.reloadedFrom(reading).get("log.level")).toBe("debug");
    expect(config.fileIn(reading)?.governance).toBe('{"name":"debug"}');
    expect(config.get("log.level")).toBe("info");
    expect(names).toEqual(["readConfiguration"]);
  });

  test("is refused if it is missing or malformed, even if only its folder was named", async () => {
    write("etc/quartermaster.yaml", texts("info"));
    const found = load({ env: { CONFIGURATION_DIRECTORY: join(cwd, "etc") } });
    const named = load({ yaml: texts("info") });
    rmSync(join(cwd, "etc/quartermaster.yaml"));
    write(CONFIG, "- a\n");
    for (const config of [found, named]) {
      const reading = await config.readFileAgain(counting().run);
      for (const use of [
        () => config.fileIn(reading),
        () => config.valueIn(reading, "log.level"),
        () => config.reloadedFrom(reading),
      ])
        expect(use).toThrow("the configuration has one problem");
    }
  });

  test("stays absent if the service runs without one", async () => {
    const config = load({});
    expect(config.fileIn(await config.readFileAgain(counting().run))).toBeUndefined();
  });
});

/** The result of parsing a raw value: the value, or the whole error. */
const read = <T>(type: types.SettingType<T>, raw: unknown): unknown => {
  const reading = type.read(raw, "/folder");
  return "wrong" in reading ? reading : reading.value;
};
const accepts = <T>(type: types.SettingType<T>, raw: unknown): boolean =>
  !("wrong" in type.read(raw, "/folder"));

suite("types", () => {
  test("text accepts one line up to its limit, trimmed, and no bare number", () => {
    expect(read(types.text, "  Acme  ")).toBe("Acme");
    const lengths = [0, 1, types.TEXT_LENGTH_MAX - 1, types.TEXT_LENGTH_MAX, types.TEXT_LENGTH_MAX + 1];
    expect(lengths.map((length) => accepts(types.text, "x".repeat(length)))).toEqual([
      false,
      true,
      true,
      true,
      false,
    ]);
    expect([7, true, "two\nlines", null, []].map((raw) => accepts(types.text, raw))).toEqual(
      Array(5).fill(false),
    );
  });

  test("path becomes absolute and has a limit", () => {
    expect(read(types.path, "a/../b")).toBe("/folder/b");
    expect(read(types.path, "/a")).toBe("/a");
    const ofBytes = (bytes: number) => `/${"x".repeat(bytes - 1)}`;
    const sizes = [types.PATH_BYTES_MAX - 1, types.PATH_BYTES_MAX, types.PATH_BYTES_MAX + 1];
    expect(sizes.map((bytes) => accepts(types.path, ofBytes(bytes)))).toEqual([true, true, false]);
    expect(["", " ", "a\0b", 7, null].map((raw) => accepts(types.path, raw))).toEqual(Array(5).fill(false));
  });

  test("integer accepts numbers and digits within its range", () => {
    const type = types.integer({ min: 60, max: 3600 });
    expect([59, 60, 61, 3599, 3600, 3601].map((raw) => accepts(type, raw))).toEqual([
      false,
      true,
      true,
      true,
      true,
      false,
    ]);
    expect([read(type, " 900 "), read(type, 900)]).toEqual([900, 900]);
    expect(
      ["", "9e2", "60.5", 60.5, "0x64", "+100", Number.NaN, true, null, ["100"]].filter((raw) =>
        accepts(type, raw),
      ),
    ).toEqual([]);
    expect(read(type, 1)).toEqual({ wrong: "must be a whole number from 60 to 3600" });
  });

  test("amount accepts decimals within its range", () => {
    const type = types.amount({ max: 10 });
    expect([read(type, "0"), read(type, 2.5), read(type, " 10.0 ")]).toEqual([0, 2.5, 10]);
    expect([9.9, 10, 10.1].map((raw) => accepts(type, raw))).toEqual([true, true, false]);
    expect(["", "-1", "1e1", ".5", "1.", "x", null].filter((raw) => accepts(type, raw))).toEqual([]);
    expect(read(type, "11")).toEqual({ wrong: "must be a number from 0 to 10, such as 2.5" });
  });

  test("formed accepts text that matches its pattern, trimmed", () => {
    const type = types.pattern(/^[a-c]+$/, { placeholder: "letters", form: "letters from a to c" });
    expect(read(type, " cab ")).toBe("cab");
    expect(["", "d", null, []].filter((raw) => accepts(type, raw))).toEqual([]);
    expect(read(type, "d")).toEqual({ wrong: "must be letters from a to c" });
  });

  test("integer may be negative within its range", () => {
    expect(read(types.integer({ min: -2, max: 2 }), "-2")).toBe(-2);
  });

  test("boolean accepts four words for each value", () => {
    for (const raw of ["1", "true", "yes", "on", "ON", true, 1]) expect(read(types.boolean, raw)).toBe(true);
    for (const raw of ["0", "false", "no", "off", "No", false, 0])
      expect(read(types.boolean, raw)).toBe(false);
    expect(["", "2", "y", "nein", null, []].filter((raw) => accepts(types.boolean, raw))).toEqual([]);
  });

  test("choice accepts its words exactly", () => {
    const type = types.choice("admin", "member");
    expect(read(type, " admin ")).toBe("admin");
    expect(["Admin", "", "adm", null].filter((raw) => accepts(type, raw))).toEqual([]);
    expect(read(type, "owner")).toEqual({ wrong: "must be one of admin, member" });
  });

  test("email accepts addresses up to the limit", () => {
    const ofLength = (length: number) => `${"x".repeat(length - 4)}@a.b`;
    const max = types.EMAIL_LENGTH_MAX;
    expect([max - 1, max, max + 1].map((length) => accepts(types.email, ofLength(length)))).toEqual([
      true,
      true,
      false,
    ]);
    expect(["ana@localhost", "Ana.B@example.org"].map((raw) => read(types.email, raw))).toEqual([
      "ana@localhost",
      "Ana.B@example.org",
    ]);
    expect(
      ["", "ana", "@a.b", "ana@", "a b@c.d", "a@b@c", "a@b,c@d"].filter((raw) => accepts(types.email, raw)),
    ).toEqual([]);
  });

  test("secret keeps its text unchanged and has a minimum length", () => {
    expect([2, 3, 4].map((length) => accepts(types.secret(3), "x".repeat(length)))).toEqual([
      false,
      true,
      true,
    ]);
    const reading = types.secret().read(" a ", "/");
    expect("value" in reading && reading.value).toBeInstanceOf(Secret);
    expect("value" in reading && reading.value.reveal()).toBe(" a ");
    expect("text" in reading && reading.text).toBe("set");
    expect([7, "", "  ", null].filter((raw) => accepts(types.secret(), raw))).toEqual([]);
  });

  test("list accepts commas or a YAML list, and names each invalid item", () => {
    const type = types.list(types.integer({ min: 1, max: 9 }));
    expect(read(type, " 1, 2 ,,3,")).toEqual([1, 2, 3]);
    expect(read(type, [1, "2"])).toEqual([1, 2]);
    expect([read(type, ""), read(type, [])]).toEqual([[], []]);
    expect(read(type, "1,x,2,10")).toEqual({
      wrong: "item 2 must be a whole number from 1 to 9; item 4 must be a whole number from 1 to 9",
    });
    expect(accepts(type, { a: 1 })).toBe(false);
    const max = types.LIST_ITEMS_MAX;
    expect([max - 1, max, max + 1].map((length) => accepts(type, Array(length).fill(1)))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("map accepts JSON or a YAML mapping, and names each invalid entry", () => {
    const type = types.map(types.choice("admin", "member"));
    expect(read(type, '{"Admins":"admin","__proto__":"member"}')).toEqual(
      new Map([
        ["Admins", "admin"],
        ["__proto__", "member"],
      ] as const),
    );
    expect(read(type, { Staff: "member" })).toEqual(new Map([["Staff", "member"]] as const));
    expect(read(type, { A: "root", B: "admin", C: 1 })).toEqual({
      wrong: "A must be one of admin, member; C must be one of admin, member",
    });
    expect(["", "{", "[]", "null", "3", [], 3].filter((raw) => accepts(type, raw))).toEqual([]);
    const ofSize = (size: number) =>
      Object.fromEntries(Array.from({ length: size }, (_, i) => [`g${i}`, "admin"]));
    const max = types.MAP_ENTRIES_MAX;
    expect([max - 1, max, max + 1].map((size) => accepts(type, ofSize(size)))).toEqual([true, true, false]);
  });
});

suite("addresses", () => {
  test("listen accepts host and port, IPv6 in brackets, or a socket path", () => {
    expect(read(listenAddress, "localhost:0")).toEqual({ kind: "tcp", host: "localhost", port: 0 });
    expect(read(listenAddress, "10.0.0.1:80")).toEqual({ kind: "tcp", host: "10.0.0.1", port: 80 });
    expect(read(listenAddress, "[::1]:8080")).toEqual({ kind: "tcp", host: "::1", port: 8080 });
    expect(read(listenAddress, "unix:/run/q.sock")).toEqual({ kind: "unix", path: "/run/q.sock" });
    expect(read(listenAddress, "unix:q.sock")).toEqual({ kind: "unix", path: "/folder/q.sock" });
  });

  test("listen prints the value that it parses", () => {
    for (const given of ["localhost:0", "[::1]:8080", "unix:/run/q.sock"])
      expect(listenAddress.read(given, "/")).toMatchObject({ text: given });
  });

  test("listen refuses ports above the maximum and socket paths that are too long", () => {
    const ports = [PORT_MAX - 1, PORT_MAX, PORT_MAX + 1];
    expect(ports.map((port) => accepts(listenAddress, `h:${port}`))).toEqual([true, true, false]);
    const sizes = [UNIX_PATH_BYTES_MAX - 1, UNIX_PATH_BYTES_MAX, UNIX_PATH_BYTES_MAX + 1];
    expect(sizes.map((bytes) => accepts(listenAddress, `unix:/${"x".repeat(bytes - 1)}`))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test.each([
    "",
    "8080",
    8080,
    ":8080",
    "host",
    "host:",
    "host:-1",
    "host:1a",
    "::1:80",
    "[::1]",
    "[10.0.0.1]:80",
  ])("listen refuses %p", (raw) => expect(accepts(listenAddress, raw)).toBe(false));
  test.each(["1.2.3.400:80", "a b:80", "http://h:80", "[::1", "unix:", "-a:80", null, { h: 80 }])(
    "listen refuses %p",
    (raw) => expect(accepts(listenAddress, raw)).toBe(false),
  );

  test("the public address is an origin without a trailing slash", () => {
    expect(read(publicOrigin, "https://Q.example.org/")).toBe("https://q.example.org");
    expect(read(publicOrigin, "https://q.example.org:8443")).toBe("https://q.example.org:8443");
  });

  test.each(["http://localhost:8080", "http://127.0.0.1", "http://127.8.9.1:1", "http://[::1]:8080"])(
    "the public address may be %p",
    (raw) => expect(read(publicOrigin, raw)).toBe(raw),
  );

  test.each(["http://example.org", "http://127.0.0.1.example.org", "http://0.0.0.0:1", "http://10.0.0.1"])(
    "the public address must be https, not %p",
    (raw) => expect(read(publicOrigin, raw)).toEqual({ wrong: "must be https (http is only for localhost)" }),
  );

  test.each(["https://h/path", "https://h?", "https://h/?q", "https://h#", "https://u:p@h", "https://@h"])(
    "the public address must be no more than an origin, not %p",
    (raw) => expect(accepts(publicOrigin, raw)).toBe(false),
  );
  test.each(["", "h", "ftp://h", "https://", "https://h:99999", "https:\\\\h", "https://a b", 7])(
    "the public address must be an address, not %p",
    (raw) => expect(accepts(publicOrigin, raw)).toBe(false),
  );

  test("an origin without secrets may be http anywhere, and is only an origin", () => {
    expect(read(anyOrigin, "http://proxy:8081/")).toBe("http://proxy:8081");
    expect(read(anyOrigin, "https://h")).toBe("https://h");
    expect(
      ["http://h/path", "http://u:p@h", "ftp://h", "", 7].filter((raw) => accepts(anyOrigin, raw)),
    ).toEqual([]);
  });

  test("a URL may have a path, which is kept without its trailing slash", () => {
    expect(read(publicUrl, "https://H:443/gw/v2/")).toBe("https://h/gw/v2");
    expect(read(publicUrl, "https://h/")).toBe("https://h");
    expect(read(anyUrl, "http://proxy:8081/a/./b")).toBe("http://proxy:8081/a/b");
    expect(
      [
        "https://h/a?q",
        "https://h/a#f",
        "https://h//a",
        "https://h/%2e",
        "https://u@h/a",
        "ftp://h/a",
      ].filter((raw) => accepts(publicUrl, raw)),
    ).toEqual([]);
    expect(read(publicUrl, "http://h/a")).toEqual({ wrong: "must be https (http is only for localhost)" });
  });

  test("a range is an address with or without a prefix", () => {
    expect(read(addressRange, "10.0.0.1")).toEqual({ address: "10.0.0.1", prefix: 32, family: "ipv4" });
    expect(read(addressRange, "fd00::/8")).toEqual({ address: "fd00::", prefix: 8, family: "ipv6" });
    expect(
      ["10.0.0.0/0", "10.0.0.0/31", "10.0.0.0/32", "::/127", "::/128"].every((raw) =>
        accepts(addressRange, raw),
      ),
    ).toBe(true);
  });

  test.each([
    "",
    "proxy.example.org",
    "10.0.0.0/33",
    "::/129",
    "10.0.0.0/",
    "10.0.0/8",
    "10.0.0.0/-1",
    "fe80::1%eth0",
  ])("a range is not %p", (raw) => expect(accepts(addressRange, raw)).toBe(false));
});

suite("the table", () => {
  test("matches the documented defaults", () => {
    const shown = Object.fromEntries(describe(load({})).map(({ key, value }) => [key, value]));
    expect(shown).toEqual({
      data_dir: join(cwd, "data"),
      "server.listen": "127.0.0.1:8080",
      "server.public_url": "unset",
      "server.tls_cert": "unset",
      "server.tls_key": "unset",
      "server.trusted_proxies": "",
      "server.forwarded_header": "x-forwarded-for",
      "log.level": "info",
      "log.format": "auto",
      "metrics.token": "unset",
      "package_sources.public": "false",
      "sources.revisions_kept_visible": "3",
      "policy.require_second_administrator": "false",
      "keys.sealing_key": "unset",
      "bootstrap.admin_email": "admin@example.com",
      "bootstrap.admin_password": "unset",
      "bootstrap.organization_name": "Development",
      "bootstrap.organization_slug": "dev",
      "backup.every_hours": "24",
      "backup.keep": "7",
      "backup.keep_replaced": "30",
      "console.auditors": "",
      "console.enabled": "true",
      "backup.sessions": "false",
      "backup.directory": "unset",
      "database.replicated": "false",
      "catalog.file": "unset",
      "harnesses.file": "unset",
      "harnesses.trust": "unset",
      "clients.retention_days": "365",
      "blobs.store": "local",
      "blobs.s3.endpoint": "unset",
      "blobs.s3.public_endpoint": "unset",
      "blobs.s3.region": "us-east-1",
      "blobs.s3.bucket": "unset",
      "blobs.s3.package_bucket": "unset",
      "blobs.s3.prefix": "unset",
      "blobs.s3.path_style": "true",
      "blobs.s3.access_key_id": "unset",
      "blobs.s3.secret_access_key": "unset",
      "blobs.s3.session_token": "unset",
      "blobs.s3.ca_file": "unset",
      "blobs.s3.sse": "unset",
      "standby.replica": "unset",
      "standby.litestream": "/usr/local/bin/litestream",
      "standby.lease": "false",
      "standby.sftp_key_file": "unset",
      "standby.sftp_host_key": "unset",
      "sessions.administrators_may_read": "false",
      "sessions.retention_days": "30",
      "sessions.superseded_days": "7",
      "sessions.total_bytes_max": "unset",
      "sessions.uploads_at_once": "32",
      "sessions.url_ttl_seconds": "300",
      "invitations.retention_days": "365",
      "audit.retention_days": "unset",
      "tracing.url": "unset",
      "tracing.sample_ratio": "0.01",
      "tracing.trust_callers": "false",
      "tracing.propagate": "false",
      "tracing.authorization": "unset",
      "tracing.ca_file": "unset",
      "tracing.client_cert": "unset",
      "tracing.client_key": "unset",
      "audit.forward.url": "unset",
      "audit.forward.authorization": "unset",
      "audit.forward.ca_file": "unset",
      "audit.forward.client_cert": "unset",
      "audit.forward.client_key": "unset",
      "scim.token": "unset",
      "scim.group_role_mappings": "{}",
      "scim.link_existing": "by_address",
      "scim.page_max": "200",
      "scim.scan_rows_max": "200000",
      "scim.requests_per_second": "100",
      "scim.requests_burst": "500",
      "identity.mode": "password",
      "identity.oidc.issuer": "unset",
      "identity.oidc.client_id": "unset",
      "identity.oidc.client_secret": "unset",
      "identity.oidc.client_key": "unset",
      "identity.oidc.client_auth": "client_secret_basic",
      "identity.oidc.provider_id": "oidc",
      "identity.oidc.provider_name": "company sign-in",
      "identity.oidc.extra_scopes": "",
      "identity.oidc.provisioning": "unset",
      "identity.oidc.trust_email": "false",
      "identity.oidc.external_id_claim": "unset",
      "identity.oidc.groups_claim": "groups",
      "identity.oidc.group_role_mappings": "{}",
      "identity.oidc.allowed_groups": "",
      "identity.oidc.allowed_domains": "",
      "identity.oidc.required_claims": "{}",
      "identity.oidc.max_age_seconds": "unset",
      "identity.oidc.require_acr": "",
      "identity.oidc.clock_skew_seconds": "60",
      "identity.oidc.reconfirm_hours": "unset",
      "identity.oidc.auto_redirect": "false",
      "identity.oidc.logout": "local",
      "identity.oidc.logout_ends_grants": "false",
      "identity.oidc.ca_file": "unset",
      "identity.second_factor": "optional",
      "access.access_token_ttl_seconds": "900",
      "access.refresh_token_ttl_seconds": "2592000",
      "access.browser_session_ttl_seconds": "43200",
      "access.device_code_ttl_seconds": "600",
      "access.poll_interval_seconds": "5",
      "access.signing_key_rotation_days": "30",
      "access.token_memory_mb": "64",
      "limits.password_guesses_per_account_and_address": "10",
      "limits.password_guesses_per_account": "200",
      "limits.password_guesses_per_address": "50",
      "limits.second_factor_guesses": "5",
      "limits.user_code_guesses_per_user": "5",
      "limits.user_code_guesses_per_address": "20",
      "limits.device_codes_per_address": "600",
      "limits.pending_logins_per_address": "200",
      "limits.pending_logins_per_network": "1000",
      "limits.invitations_per_actor": "100",
      "limits.window_seconds": "900",
      "gateway.type": "unset",
      "gateway.url": "unset",
      "gateway.inference_proxy_url": "unset",
      "gateway.inference_proxy_health_url": "unset",
      "gateway.proxy_token": "unset",
      "gateway.proxy.mode": "unset",
      "gateway.proxy.listen": "unset",
      "gateway.proxy.max_in_flight": "2000",
      "gateway.proxy.max_body_bytes": "33554432",
      "gateway.proxy.buffer_bytes": "1048576",
      "gateway.proxy.buffer_total_bytes": "67108864",
      "gateway.proxy.token_rps": "50",
      "gateway.proxy.token_burst": "100",
      "gateway.proxy.failures_per_address": "20",
      "gateway.proxy.connect_timeout_seconds": "2",
      "gateway.proxy.headers_timeout_seconds": "600",
      "gateway.proxy.idle_timeout_seconds": "300",
      "gateway.proxy.stream_seconds_max": "3600",
      "gateway.proxy.drain_seconds": "20",
      "gateway.proxy.cut_streams": "true",
      "gateway.proxy.credential_header": "authorization",
      "gateway.proxy.identity_headers": "{}",
      "gateway.proxy.extra_paths": "",
      "gateway.proxy.model_policy": "off",
      "gateway.proxy.budgets.requests_per_day": "0",
      "gateway.proxy.budgets.tokens_per_day": "0",
      "gateway.proxy.budgets.parallel_requests": "50",
      "gateway.request_logs.enabled": "true",
      "gateway.request_logs.retention_days": "30",
      "gateway.request_logs.queue_rows": "10000",
      "gateway.inference_jwt.issuer": "unset",
      "gateway.inference_jwt.audience": "unset",
      "gateway.inference_jwt.token_ttl_seconds": "43200",
      "gateway.inference_jwt.rotation_days": "30",
      "gateway.provisioner.type": "unset",
      "gateway.provisioner.reconcile_ttl_seconds": "86400",
      "gateway.provisioner.timeout_seconds": "15",
      "gateway.provisioner.model_catalog_refresh_seconds": "300",
      "gateway.provisioner.max_concurrency": "8",
      "gateway.provisioner.executable_path": "unset",
      "gateway.provisioner.executable_sha256": "unset",
      "gateway.provisioner.executable_environment": "",
      "gateway.provisioner.policy_revision": "unset",
      "gateway.provisioner.admin_key": "unset",
      "gateway.provisioner.policy.models": "",
      "gateway.provisioner.policy.max_budget": "unset",
      "gateway.provisioner.policy.budget_duration": "unset",
      "gateway.provisioner.policy.rpm_limit": "unset",
      "gateway.provisioner.policy.tpm_limit": "unset",
      "gateway.provisioner.policy.max_parallel_requests": "unset",
      "gateway.provisioner.policy.duration": "unset",
      "gateway.provisioner.policy.team_scoped": "false",
    });
  });

  const ranges: readonly [name: SettingName, min: number, max: number][] = [
    ["sources.revisions_kept_visible", 0, 20],
    ["access.access_token_ttl_seconds", 60, 3600],
    ["access.refresh_token_ttl_seconds", 3600, 31_536_000],
    ["access.browser_session_ttl_seconds", 300, 2_592_000],
    ["access.device_code_ttl_seconds", 60, 3600],
    ["access.poll_interval_seconds", 1, 60],
    ["access.signing_key_rotation_days", 1, 365],
    ["access.token_memory_mb", 1, 4096],
    ["scim.page_max", 100, 1000],
    ["scim.scan_rows_max", 1000, 10_000_000],
    ["scim.requests_per_second", 1, SCIM_REQUESTS.max],
    ["scim.requests_burst", 1, SCIM_REQUESTS.max],
    ["limits.password_guesses_per_account_and_address", 1, ATTEMPTS.max],
    ["limits.password_guesses_per_account", 1, ATTEMPTS.max],
    ["limits.password_guesses_per_address", 1, ATTEMPTS.max],
    ["limits.second_factor_guesses", 1, ATTEMPTS.max],
    ["limits.user_code_guesses_per_user", 1, ATTEMPTS.max],
    ["limits.user_code_guesses_per_address", 1, ATTEMPTS.max],
    ["limits.device_codes_per_address", 1, ATTEMPTS.max],
    ["limits.pending_logins_per_address", 1, ATTEMPTS.max],
    ["limits.pending_logins_per_network", 1, ATTEMPTS.max],
    ["limits.invitations_per_actor", 1, ATTEMPTS.max],
    ["limits.window_seconds", 1, WINDOW_SECONDS.max],
    ["gateway.inference_jwt.token_ttl_seconds", 60, 43_200],
    ["gateway.inference_jwt.rotation_days", 1, 365],
    ["gateway.provisioner.reconcile_ttl_seconds", 1, RECONCILE_TTL_SECONDS.max],
    ["gateway.provisioner.timeout_seconds", 1, 60],
    ["gateway.provisioner.model_catalog_refresh_seconds", 30, 86_400],
    ["gateway.provisioner.max_concurrency", 1, 64],
    ["gateway.provisioner.policy.rpm_limit", 1, KEY_RATE.max],
    ["gateway.provisioner.policy.tpm_limit", 1, KEY_RATE.max],
    ["gateway.provisioner.policy.max_parallel_requests", 1, KEY_RATE.max],
  ];
  test.each(ranges)("%s ranges from %d to %d", (name, min, max) => {
    const taken = [min - 1, min, max, max + 1].map((raw) => accepts(settingOf(name).type, raw));
    expect(taken).toEqual([false, true, true, false]);
  });

  test("gives each value its type without a cast", () => {
    const config = load({ yaml: "scim:\n  group_role_mappings: {Admins: admin}\n" });
    const ttlSeconds: number = config.get("access.access_token_ttl_seconds");
    const role: "admin" | "member" | undefined = config.get("scim.group_role_mappings").get("Admins");
    const publicUrl: string | undefined = config.get("server.public_url");
    const token: Secret | undefined = config.get("metrics.token");
    // @ts-expect-error a setting without a default may be absent
    const certificate: string = config.get("server.tls_cert");
    expect([ttlSeconds, role, publicUrl, token, certificate]).toEqual([
      900,
      "admin",
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("describes secrets as set or unset, each with its origin", () => {
    write("secret", "sesame");
    const config = load({ flags: { scimTokenFile: "secret" } });
    expect(config.rowOf("scim.token")).toMatchObject({ value: "set", origin: "secret file" });
    expect(config.rowOf("metrics.token")).toMatchObject({ value: "unset", origin: "default" });
  });

  test("gives commander options for exactly the known settings", () => {
    const options = settingOptions().map(({ flags, doc }) => new Option(flags, doc));
    const keys = SETTING_NAMES.map((name) =>
      settingOf(name).credential === undefined ? name : fileKeyOf(name),
    );
    expect(options.map((option) => option.attributeName())).toEqual(keys.map(attributeOf));
    expect(options.every((option) => option.required && option.description !== "")).toBe(true);
    expect(new Option(CONFIG_OPTION.flags).attributeName()).toBe("config");
  });

  test("shows the flag, a hint of its value and the default", () => {
    expect(settingOptions()[1]).toEqual({
      flags: "--server-listen <address>",
      doc: "where to listen: host:port, [ipv6]:port or unix:/path",
      defaultText: "127.0.0.1:8080",
    });
  });
});
