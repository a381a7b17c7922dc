// Settings of what the service offers to workstations: `catalog.*`, `harnesses.*`, `package_sources.*`, `sources.*` and `policy.*`.
import { boolean, integer, path } from "../types.ts";
import { optional, type Settings, withDefault } from "./setting.ts";

/** Revisions before the current one whose packages workstations may still download. */
const REVISIONS_KEPT_VISIBLE = { min: 0, max: 20 };

export const CONTENT_SETTINGS = {
  "catalog.file": optional(path, "package catalog to read at startup"),
  "harnesses.file": optional(path, "signed file that extends the certified versions of coding agents"),
  "harnesses.trust": optional(
    path,
    "PEM file with the public keys that are trusted to sign the harness file",
  ),
  "package_sources.public": withDefault(
    boolean,
    "no",
    "whether administrators may fetch archives from any public https host",
  ),
  "sources.revisions_kept_visible": withDefault(
    integer(REVISIONS_KEPT_VISIBLE),
    "3",
    "former revisions of the policy whose packages workstations may still download",
  ),
  "policy.require_second_administrator": withDefault(
    boolean,
    "no",
    "whether another administrator must publish what an administrator wrote in the console or with the API",
  ),
} satisfies Settings;
