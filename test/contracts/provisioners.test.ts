// Every kind of provisioner passes the one suite.
import { createExampleProvisioner } from "../support/example-provisioner.ts";
import { describeProvisioner } from "./provisioner-suite.ts";

describeProvisioner("executable", { make: () => createExampleProvisioner() });
