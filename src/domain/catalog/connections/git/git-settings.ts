// The environment and the settings of one run of git. Settings of the machine and of its user have no effect.
import { SHARED_TEXT_PATH } from "../../../../platform/programs/program.ts";

const MIB = 1024 ** 2;
/** Seconds without a byte from the host after which git ends, even if this process was killed. */
const SILENT_SECONDS_MAX = 60;

/** How git reaches a repository. */
export interface GitRemote {
  /** https, without a user name */
  url: string;
  /** value of the header `Authorization`; undefined for none */
  authorization: string | undefined;
  /** may contain a user name and a password; undefined for none */
  proxy: string | undefined;
}

/** The private files and folders of one run. */
export interface GitPlaces {
  /** an empty folder */
  home: string;
  /** PEM file with all trusted certificate authorities */
  authorities: string;
  /** bare repository */
  repository: string;
}

/**
 * @returns all variables; none of them is a secret
 * @source git(1), "Environment Variables"
 */
export const gitEnvironment = ({ home, repository }: GitPlaces): Readonly<Record<string, string>> => ({
  HOME: home,
  XDG_CONFIG_HOME: home,
  GIT_DIR: repository,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "/bin/false",
  SSH_ASKPASS: "/bin/false",
  GIT_SSH_COMMAND: "/bin/false",
  GIT_ALLOW_PROTOCOL: "https",
  GIT_LITERAL_PATHSPECS: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  LC_ALL: "C",
  TZ: "UTC",
});

/** Arguments that make every run read the settings. */
export const WITH_SETTINGS: readonly string[] = ["-c", `include.path=${SHARED_TEXT_PATH}`];

/**
 * @returns the text of a configuration file, with the credential
 * @source git-config(1)
 */
export function gitSettings(
  { url, authorization, proxy = "" }: GitRemote,
  { home, authorities }: GitPlaces,
): string {
  const { origin } = new URL(url);
  return [
    ...section("core", {
      hooksPath: "/dev/null",
      attributesFile: "/dev/null",
      excludesFile: "/dev/null",
      fsmonitor: "false",
      packedGitLimit: 32 * MIB,
      packedGitWindowSize: MIB,
      // git streams larger files, without export-subst and line ending conversion. A different value changes the content of archives.
      deltaBaseCacheLimit: 16 * MIB,
      bigFileThreshold: 32 * MIB,
    }),
    ...section("protocol", { version: 2 }),
    ...section("transfer", { fsckObjects: "true", bundleURI: "false" }),
    ...section("fetch", { unpackLimit: 1, recurseSubmodules: "false", writeCommitGraph: "false" }),
    ...section("gc", { auto: 0 }),
    ...section("maintenance", { auto: "false" }),
    ...section("pack", { threads: 1 }),
    ...section("credential", { helper: "" }),
    ...section("http", {
      followRedirects: "false",
      sslVerify: "true",
      sslCAInfo: authorities,
      sslCAPath: home,
      proxy,
      proxyAuthMethod: "basic",
      proxySSLCAInfo: authorities,
      lowSpeedLimit: 1,
      lowSpeedTime: SILENT_SECONDS_MAX,
      userAgent: "git/quartermaster",
    }),
    ...(authorization === undefined
      ? []
      : section(`http ${quotedValue(`${origin}/`)}`, { extraHeader: `Authorization: ${authorization}` })),
    "",
  ].join("\n");
}

const section = (name: string, values: Readonly<Record<string, string | number>>): string[] => [
  `[${name}]`,
  ...Object.entries(values).map(([key, value]) => `\t${key} = ${quotedValue(String(value))}`),
];

/** Only these two characters need escapes (git-config(1), "Syntax"). No value here has a line break. */
const quotedValue = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;
