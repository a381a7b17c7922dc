// Formats SCIM tokens as table columns, without the secret.
import type { ScimTokenView } from "../../../src/domain/scim/tokens/tokens.ts";
import { dateOf } from "../../output/details.ts";
import type { Column } from "../../output/table.ts";

export const TOKEN_COLUMNS: readonly Column<ScimTokenView>[] = [
  { header: "LABEL", value: ({ label }) => label },
  { header: "STATE", value: ({ state }) => state },
  { header: "PROFILE", value: ({ profile }) => profile },
  { header: "TOKEN", value: ({ prefix }) => (prefix === null ? null : `${prefix}…`) },
  { header: "LAST USED", value: ({ lastUsedAtMs }) => dateOf(lastUsedAtMs) },
  { header: "EXPIRES", value: ({ expiresAtMs }) => dateOf(expiresAtMs) },
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "CREATED", value: ({ createdAtMs }) => dateOf(createdAtMs), isWide: true },
  { header: "CREATED BY", value: ({ createdBy }) => createdBy, isWide: true },
  { header: "REVOKED", value: ({ revokedAtMs }) => dateOf(revokedAtMs), isWide: true },
];
