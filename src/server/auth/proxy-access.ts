// Admits the inference proxy to the operations on users' gateway keys: the caller must have the configured proxy token.

import { equalInConstantTime } from "../../platform/crypto/constant-time.ts";
import { DomainError } from "../../platform/errors.ts";
import type { Secret } from "../../platform/secret.ts";
import { unrouted } from "../http/problems/refusal.ts";
import { bearerTokenIn } from "./bearer-token.ts";

/** @throws HttpError 404 where no token is configured; DomainError `access.proxy_token_invalid` */
export function admitProxy(request: Request, token: Secret | undefined): void {
  if (!token) throw unrouted(request.method, []);
  if (equalInConstantTime(bearerTokenIn(request) ?? "", token.reveal())) return;
  throw new DomainError(
    "unauthenticated",
    "access.proxy_token_invalid",
    "the token of the inference proxy is required",
  );
}
