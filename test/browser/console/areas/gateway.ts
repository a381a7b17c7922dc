// Sign-in, provisioning and its tokens. Gateway mode is off in the browser's site.
import type { Area } from "../scenes.ts";

const TOKENS = "/console/identity/tokens";

export const gatewayArea: Area = {
  scenes: [
    { title: "Identity", open: "/console/identity" },
    { title: "SCIM tokens", open: TOKENS },
    { title: "SCIM tokens", state: "with impossible filters", open: `${TOKENS}?show=x&page=x` },
    { title: "Create a token", open: `${TOKENS}/new` },
    { title: "Gateway keys", state: "without gateway mode", open: "/console/gateway/keys" },
  ],
};
