// Every kind of provisioner passes the one suite.
import { createBuiltinProvisioner } from "../support/builtin-provisioner.ts";
import { createExampleProvisioner } from "../support/example-provisioner.ts";
import { describeProvisioner } from "./provisioner-suite.ts";

describeProvisioner("built-in", { make: () => createBuiltinProvisioner() });
describeProvisioner("executable", { make: () => createExampleProvisioner() });
