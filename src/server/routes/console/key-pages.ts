// The keys of the service in the console, and their rotation. The domain requires a confirmed sign-in where necessary.
import { Type } from "@sinclair/typebox";
import type { Domain } from "../../../domain/domain.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Console } from "../../console/console.ts";
import {
  KEY_KINDS,
  KEYS_PATH,
  type KeyKind,
  keysPage,
  ROTATION_WORD,
  rotationPage,
} from "../../console/system/keys.tsx";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../pages/html.ts";
import type { RouteContext } from "../../router.ts";
import { rotateTokenKey, tokenKeysOf } from "../administration/keys.ts";

const KeyPath = Type.Object({ kind: Type.String() });

export function keyPages({ router, domain }: RouteContext, console: Console) {
  return router
    .get(
      KEYS_PATH,
      ({ request }) =>
        console.show(request, "administrator", () =>
          keysPage({
            signing: {
              access_tokens: tokenKeysOf(domain, "access_tokens"),
              inference_tokens: tokenKeysOf(domain, "inference_tokens"),
            },
            sealing: domain.sealingKeys.list(),
            sealingRefusal: sealingRefusal(domain),
          }),
        ),
      pageRoute("showKeys", "Keys that sign tokens and keys that seal secrets"),
    )
    .get(
      `${KEYS_PATH}/:kind/rotate`,
      ({ request, params }) =>
        console.show(request, "administrator", () => {
          const kind = readKind(params.kind);
          return rotationPage(kind, { version: keyInUse(domain, kind) });
        }),
      { ...pageRoute("showKeyRotation", "Asks before a key is rotated"), params: KeyPath },
    )
    .post(
      `${KEYS_PATH}/:kind/rotate`,
      ({ request, body, params }) => {
        const back = KEY_KINDS.some((kind) => kind === params.kind)
          ? new URL(request.url).pathname
          : KEYS_PATH;
        return console.act(request, body, { needs: "administrator", back }, async ({ actor }) => {
          const kind = readKind(params.kind);
          const { typed, version } = body;
          if (typed?.trim() !== ROTATION_WORD)
            return rotationPage(kind, { version, error: `Type ${ROTATION_WORD} to confirm.` });
          if (kind === "sealing") await domain.sealingKeys.rotate(actor, version);
          else await rotateTokenKey(domain, { actor, signs: kind, replaces: version });
          return { to: KEYS_PATH, notice: "The new key is in use." };
        });
      },
      {
        ...formRoute(
          formOf({ csrf: FormField, by: FormField, version: FormField, typed: FormField }),
          formOperation("sendKeyRotation", "Makes a new key of a kind"),
        ),
        params: KeyPath,
      },
    );
}

function readKind(text: string): KeyKind {
  const kind = KEY_KINDS.find((word) => word === text);
  if (kind === undefined)
    throw new DomainError("not_found", "key.unknown_kind", "the service has no keys of this kind");
  return kind;
}

/** @returns the id of the current key, so that a form that is sent twice replaces it once */
const keyInUse = (domain: Domain, kind: KeyKind): string | undefined =>
  kind === "sealing"
    ? domain.sealingKeys.list().find(({ state }) => state === "active")?.id
    : tokenKeysOf(domain, kind)?.find(({ state }) => state === "active")?.kid;

/** @returns why the sealing key cannot be rotated */
function sealingRefusal({ sealingKeys }: Domain): string | undefined {
  try {
    sealingKeys.checkRotate();
    return undefined;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return error.message;
  }
}
