// What a document demands of clients, worked out from the document itself and written into it on publishing
// (control-api.md section 4.3). Nothing stays behind once its cause is gone (section 20 item 28).

import type { GovernanceConfig } from "../model.ts";

export interface StampOptions {
  /** gateway mode: the block is projected into the document, else removed */
  gateway: boolean;
  /** SemVer, without a leading v */
  serverVersion: string;
}

/** Takes out what stamping has put in, so that only what administrators wrote is left; call it before changing a revision. */
export const unstamped = (_document: GovernanceConfig): GovernanceConfig => {
  throw new Error("follows");
};

/** @returns the document with contract version, capabilities, minimum client version and gateway block as it needs them */
export const stamp = (_document: GovernanceConfig, _options: StampOptions): GovernanceConfig => {
  throw new Error("follows");
};
