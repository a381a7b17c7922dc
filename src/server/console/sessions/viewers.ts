// Converts the reader of a console page to the viewer that the domain of captured sessions expects.
import type { Viewer } from "../../../domain/sessions/service.ts";
import type { Reader } from "../reader.ts";

type Known = Pick<Reader, "visitor" | "organizationId" | "readsAll" | "mayAdminister">;

/** @returns the viewer for reading: an auditor may read what administrators may read */
export const readingViewer = ({ visitor, organizationId, readsAll }: Known): Viewer => ({
  userId: visitor.principal.userId,
  organizationId,
  isAdministrator: readsAll,
});

/** @returns the viewer for changes: an auditor may change own sessions only */
export const actingViewer = ({ visitor, organizationId, mayAdminister }: Known): Viewer => ({
  userId: visitor.principal.userId,
  organizationId,
  isAdministrator: mayAdminister,
});
