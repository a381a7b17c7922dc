// What a setting is, and the three forms in which the files of this folder declare one.

import type { Secret } from "../../secret.ts";
import { type SettingType, secret } from "../types.ts";

export interface Setting<T> {
  readonly type: SettingType<T>;
  readonly doc: string;
  /** as an operator would write it; the type parses it like any other text */
  readonly default?: string;
  /** environment variable of the service manager that replaces the default; a colon-separated list counts by its first entry */
  readonly defaultVariable?: string;
  /** file name below $CREDENTIALS_DIRECTORY; marks the setting as secret */
  readonly credential?: string;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** A setting with a default, as an operator would write it. */
export const withDefault = <T>(type: SettingType<T>, fallback: string, doc: string): Setting<T> => ({
  type,
  default: fallback,
  doc,
});

/** A setting that may be absent. */
export const optional = <T>(type: SettingType<T>, doc: string): Setting<T | undefined> => ({ type, doc });

/** A secret; `credential` is its file name below $CREDENTIALS_DIRECTORY. */
export const sealed = (credential: string, doc: string, lengthMin?: number): Setting<Secret | undefined> => ({
  type: secret(lengthMin),
  credential,
  doc,
});
