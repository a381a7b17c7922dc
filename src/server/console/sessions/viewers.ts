// The reader of a console page as the area of captured sessions sees a caller.
import type { Viewer } from "../../../domain/sessions/service.ts";
import type { Reader } from "../reader.ts";

type Known = Pick<Reader, "visitor" | "organizationId" | "readsAll" | "mayAdminister">;

/** @returns whose eyes a page has: an auditor finds what administrators find */
export const readingViewer = ({ visitor, organizationId, readsAll }: Known): Viewer => ({
  userId: visitor.principal.userId,
  organizationId,
  isAdministrator: readsAll,
});

/** @returns whose hands a form has: an auditor's reach own sessions only */
export const actingViewer = ({ visitor, organizationId, mayAdminister }: Known): Viewer => ({
  userId: visitor.principal.userId,
  organizationId,
  isAdministrator: mayAdminister,
});
