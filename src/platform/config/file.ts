// Opens the configuration file: its bytes, its permissions and its content. config/config.ts decides which file to open,
// config/content.ts parses the text, config/sources.ts decides which of its values take effect.
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

/** A configuration file without syntax problems. */
export interface ConfigFile extends Omit<ConfigContent, "settings"> {
  /** absolute */
  readonly path: string;
  /** absolute; relative paths in the file are resolved against it */
  readonly folder: string;
  /** anyone on this machine may read it */
  readonly isWorldReadable: boolean;
  readonly bytes: Uint8Array;
  /** @returns the value and line of a dotted key (`server.listen`); undefined if it is absent or null */
  settingAt(key: string): FileSetting | undefined;
}

/** The file, or the problems that make it unusable. Unknown keys are listed even if the file is usable. */
export interface FileReading {
  readonly file?: ConfigFile;
  readonly problems: readonly Problem[];
}

/** Which file to read. */
export interface NamedFile {
  /** absolute */
  readonly path: string;
  /** how the file was named (`--config`); messages begin with it */
  readonly spelling: string;
}

/** Reads and parses the file in this thread. @param variables names that are set in the environment */
export function readConfigFile(named: NamedFile, variables: readonly string[]): FileReading {
  const opened = openFile(named);
  return "problems" in opened
    ? opened
    : withContent(named, opened, readConfiguration({ ...opened, variables }));
}

/** Reads the file and lets `run` parse it outside the event loop. @throws DomainError `document.*` */
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
