// `branding show`, `apply` and `upload`: reads and changes the branding, like the console.
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  IMAGE_BYTES_MAX,
  type ImageKind,
  imageAddress,
  readImage,
} from "../../../src/domain/system/branding-image.ts";
import { type Branding, toBranding } from "../../../src/domain/system/model.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { readFile } from "../../../src/platform/files/operator-files.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { withFileContext } from "../../exit.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { originFor } from "../users/invite.ts";

const linesOf = ({ logoUrl, faviconUrl }: Branding): string[] => [
  `logo:  ${logoUrl ?? "none"}`,
  `icon:  ${faviconUrl ?? "none"}`,
];

export async function show({ domain, actor, output }: Call): Promise<void> {
  const branding = domain.branding.get(actor.organizationId);
  output.result(toBranding(branding), linesOf(branding).join("\n"));
}

export async function apply(call: Call): Promise<void> {
  const { domain, actor, context, command, text } = call;
  const before = domain.branding.get(actor.organizationId);
  const update = {
    logoUrl: text("logoUrl") ?? before.logoUrl,
    faviconUrl: text("iconUrl") ?? before.faviconUrl,
  };
  const after = domain.branding.checkUpdate(actor, update);
  if (isDeepStrictEqual(before, after)) return tell(call, after, false);
  const wanted = { action: "replace the branding", details: linesOf(after) };
  if (!(await isConfirmed(context, command, wanted))) return;
  tell(call, await domain.branding.update(actor, update));
}

export async function upload(call: Call): Promise<void> {
  const { domain, actor, context, command, args } = call;
  const [given = "", file = ""] = args;
  const kind = kindOf(given);
  await withFileContext(file, async () => {
    const bytes = new Uint8Array(await readFile(resolve(context.cwd, file), IMAGE_BYTES_MAX));
    readImage(kind, bytes);
    const address = imageAddress(originFor(call), kind, bytes);
    const wanted = { action: `make ${file} the ${kind}`, details: [`It is served at ${address}.`] };
    if (!(await isConfirmed(context, command, wanted))) return;
    tell(call, await domain.branding.uploadImage(actor, { kind, bytes, address }));
  });
}

const tell = ({ output }: Call, branding: Branding, changed = true): void =>
  output.result({ changed, ...toBranding(branding) }, linesOf(branding).join("\n"));

function kindOf(text: string): ImageKind {
  if (text === "logo" || text === "icon") return text;
  throw new DomainError(
    "invalid",
    "branding.unknown_kind",
    `${JSON.stringify(text)} is neither logo nor icon`,
  );
}
