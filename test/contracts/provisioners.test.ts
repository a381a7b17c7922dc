// Every kind of provisioner passes the one suite.
import { createBuiltinProvisioner } from "../support/gateway/builtin-provisioner.ts";
import { createExampleProvisioner } from "../support/gateway/example-provisioner.ts";
import { LITELLM_VERSIONS } from "../support/gateway/litellm-gateway.ts";
import { describeProvisioner } from "./provisioner-suite.ts";

for (const version of LITELLM_VERSIONS)
  describeProvisioner(`built-in (LiteLLM ${version})`, { make: () => createBuiltinProvisioner({ version }) });
describeProvisioner("executable", { make: () => createExampleProvisioner() });
