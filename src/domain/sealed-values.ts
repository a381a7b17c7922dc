// The sealed values in the database, by area. Replacing the sealing key covers all of them.
import type { Sealing } from "../platform/crypto/sealing.ts";
import { authenticatorSecrets } from "./access/second-factor/sealed-app-secrets.ts";
import { accessSecrets } from "./access/tokens/signing-keys.ts";
import { gatewaySecrets } from "./gateway/sealing/rewrap.ts";
import { idempotentSecrets } from "./idempotency/service.ts";
import type { SealedSecrets } from "./shared/sealed-secrets.ts";

export const secretsOf = (machine: { sealing: Sealing }): readonly SealedSecrets[] => [
  accessSecrets(machine),
  authenticatorSecrets(machine),
  ...gatewaySecrets(machine),
  idempotentSecrets(machine),
];
