// Schemas that several operations on captured sessions share.
import { Type } from "@sinclair/typebox";
import { SHARING_MODES } from "../../../domain/sessions/model.ts";
import { Uuid } from "../../http/paging.ts";

export const SessionPath = Type.Object({ id: Uuid });
export const SharingModeWord = Type.Unsafe<string>({ type: "string", enum: SHARING_MODES });
export const UserRef = Type.Object({ id: Uuid, email: Type.String({ format: "email" }) });

/** @param schema JSON Schema of the text */
export const nullable = (schema: object) =>
  Type.Unsafe<string | null>({ ...schema, type: ["string", "null"] });
