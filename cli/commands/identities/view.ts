// Formats identities as table columns.
import type { IdentityView } from "../../../src/domain/sso/service.ts";
import { dateOf } from "../../output/details.ts";
import type { Column } from "../../output/table.ts";

export const IDENTITY_COLUMNS: readonly Column<IdentityView>[] = [
  { header: "USER", value: ({ email }) => email },
  { header: "ISSUER", value: ({ issuer }) => issuer },
  { header: "SUBJECT", value: ({ subject }) => subject, isWhole: true },
  { header: "LINKED BY", value: ({ linkedBy }) => linkedBy },
  { header: "LAST SIGN-IN", value: ({ lastSignInAtMs }) => dateOf(lastSignInAtMs) },
  { header: "LINKED", value: ({ linkedAtMs }) => new Date(linkedAtMs), isWide: true },
  { header: "USER ID", value: ({ userId }) => userId, isWide: true },
];
