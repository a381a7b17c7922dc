// Settings of what the service offers to workstations: `catalog.*`, `harnesses.*`, `package_sources.*` and `policy.*`.
import { boolean, path } from "../types.ts";
import { always, optional, type Settings } from "./setting.ts";

export const CONTENT_SETTINGS = {
  "catalog.file": optional(path, "package catalog to read at start"),
  "harnesses.file": optional(path, "signed file that extends the certified versions of coding agents"),
  "harnesses.trust": optional(
    path,
    "PEM file with the public keys that are trusted to sign the harness file",
  ),
  "package_sources.public": always(
    boolean,
    "no",
    "whether administrators may fetch archives from any public https host",
  ),
  "policy.require_second_administrator": always(
    boolean,
    "no",
    "whether another administrator must publish what an administrator wrote in the console or with the API",
  ),
} satisfies Settings;
