// Settings of the inference gateway that are in no section of their own: `gateway.type`, its URLs and the proxy token.
import { anyUrl, publicUrl } from "../addresses.ts";
import { choice } from "../types.ts";
import { optional, type Settings, sealed } from "./setting.ts";

/** the proxy token gives access to every user's gateway key */
export const PROXY_TOKEN_LENGTH_MIN = 32;

export const GATEWAY_SETTINGS = {
  "gateway.type": optional(choice("litellm"), "type of the inference gateway; if unset, gateway mode is off"),
  "gateway.url": optional(publicUrl, "URL of the inference gateway"),
  "gateway.inference_proxy_url": optional(
    publicUrl,
    "URL at which workstations reach the inference proxy; by default /inference below server.public_url",
  ),
  "gateway.inference_proxy_health_url": optional(
    anyUrl,
    "URL for health checks of the inference proxy; by default the URL that workstations use",
  ),
  "gateway.proxy_token": sealed(
    "gateway-proxy-token",
    `token with which the inference proxy requests keys, at least ${PROXY_TOKEN_LENGTH_MIN} characters`,
    PROXY_TOKEN_LENGTH_MIN,
  ),
} satisfies Settings;
