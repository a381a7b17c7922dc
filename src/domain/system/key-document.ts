// The keys of the service as the API and the commands show them: keys that sign tokens and keys that seal secrets. The keys
// themselves are never shown.
import { Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../platform/clock.ts";
import type { SigningKeyView } from "../shared/signing-keys/signing-key-ring.ts";
import type { SealingKeyState } from "./sealing-keys.ts";

export const SIGNED_TOKENS = ["access_tokens", "inference_tokens"] as const;
export type SignedTokens = (typeof SIGNED_TOKENS)[number];

export interface TokenKey extends SigningKeyView {
  signs: SignedTokens;
}

const TextOrNull = Type.Union([Type.String(), Type.Null()]);
const Time = Type.String({ format: "date-time" });
const TimeOrNull = Type.Union([Time, Type.Null()]);
const Count = Type.Integer({ minimum: 0 });

export const SigningKey = Type.Object({
  kid: Type.String(),
  signs: Type.Union(SIGNED_TOKENS.map((tokens) => Type.Literal(tokens))),
  algorithm: Type.String(),
  state: Type.String({ description: "active or retired" }),
  created_at: Time,
  retired_at: TimeOrNull,
  verifies_until: TimeOrNull,
});

export const SealingKey = Type.Object({
  id: Type.String(),
  state: Type.String({ description: "active; old: opens secrets and seals none; missing: secrets need it" }),
  source: TextOrNull,
  path: TextOrNull,
  secrets: Type.Record(Type.String(), Count, {
    description: "number of secrets that are sealed with it, by kind",
  }),
  total: Count,
});

export const KeyList = Type.Object({
  signing_keys: Type.Array(SigningKey),
  sealing_keys: Type.Array(SealingKey),
});

const timeOf = (ms: number | null): string | null => (ms === null ? null : toRfc3339(ms));

export const signingKeyDocument = ({ kid, signs, algorithm, state, ...times }: TokenKey) => ({
  kid,
  signs,
  algorithm,
  state,
  created_at: toRfc3339(times.createdAtMs),
  retired_at: timeOf(times.retiredAtMs),
  verifies_until: timeOf(times.verifiesUntilMs),
});

export const sealingKeyDocument = ({ id, state, source, path, secrets, total }: SealingKeyState) => ({
  id,
  state,
  source,
  path,
  secrets,
  total,
});
