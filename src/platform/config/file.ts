// The configuration file as opened: its bytes, who may read it, and its content. Which file it is, and which of its values
// count, is for config/sources.ts; its text is read by config/content.ts.
import { dirname } from "node:path";
import type { Problem } from "../errors.ts";
import {
  CONFIG_FILE_BYTES_MAX,
  type ConfigContent,
  type ConfigReading,
  type FileSetting,
  type RunConfigTask,
  readConfiguration,
} from "./content.ts";
import { readSmallBytes, type SmallBytes } from "./small-file.ts";

/** A configuration file without faults of form. */
export interface ConfigFile extends Omit<ConfigContent, "settings"> {
  /** absolute */
  readonly path: string;
  /** absolute; relative paths in the file start here */
  readonly folder: string;
  /** anyone on this machine may read it */
  readonly isWorldReadable: boolean;
  readonly bytes: Uint8Array;
  /** @returns what a dotted key has (`server.listen`); undefined where it is absent or null */
  settingAt(key: string): FileSetting | undefined;
}

/** The file, or everything that keeps it from being used; unknown keys are listed beside a usable file. */
export interface FileReading {
  readonly file?: ConfigFile;
  readonly problems: readonly Problem[];
}

/** Which file to read. */
export interface NamedFile {
  /** absolute */
  readonly path: string;
  /** how the file was named (`--config`), to begin messages with */
  readonly spelling: string;
}

/** Reads the file at once. @param variables names that are set in the environment */
export function readConfigFile(named: NamedFile, variables: readonly string[]): FileReading {
  const opened = openFile(named);
  return "problems" in opened
    ? opened
    : withContent(named, opened, readConfiguration({ ...opened, variables }));
}

/** Reads the file while others are served. @throws DomainError `document.*` */
export async function readConfigFileWith(
  run: RunConfigTask,
  named: NamedFile,
  variables: readonly string[],
): Promise<FileReading> {
  const opened = openFile(named);
  if ("problems" in opened) return opened;
  return withContent(named, opened, await run("readConfiguration", { bytes: opened.bytes, variables }));
}

function openFile({ path, spelling }: NamedFile): SmallBytes | { problems: readonly Problem[] } {
  const small = readSmallBytes(path, CONFIG_FILE_BYTES_MAX);
  return "wrong" in small
    ? { problems: [{ pointer: "", detail: `${spelling}: ${path} ${small.wrong}` }] }
    : small;
}

function withContent(
  { path }: NamedFile,
  { bytes, isWorldReadable }: SmallBytes,
  { content, problems }: ConfigReading,
): FileReading {
  if (content === undefined) return { problems };
  const { settings, ...rest } = content;
  const settingAt = (key: string) => settings.get(key);
  return { file: { ...rest, path, folder: dirname(path), isWorldReadable, bytes, settingAt }, problems };
}
