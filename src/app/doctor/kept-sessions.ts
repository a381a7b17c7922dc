// The text of `doctor` and `status` about the captured sessions of an installation.
import type { Kept } from "../../domain/sessions/service.ts";
import { countText } from "../../platform/count-text.ts";
import { bytesText } from "../../platform/files/disk.ts";

/** @returns `2 versions, 12.0 KiB`, and the announced uploads */
export function sessionsText({ versions, bytes, announced }: Kept): string {
  const kept = versions === 0 ? "none" : `${countText(versions, "version")}, ${bytesText(bytes)}`;
  const { uploads } = announced;
  if (uploads === 0) return kept;
  return `${kept}; ${countText(uploads, "upload")} of ${bytesText(announced.bytes)} announced`;
}
