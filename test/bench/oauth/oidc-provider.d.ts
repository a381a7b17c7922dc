// The part of oidc-provider that the benchmark uses; the package has no types.
declare module "oidc-provider" {
  import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

  interface Saved {
    /** @returns the value that its holder presents */
    save(ttlSeconds?: number): Promise<string>;
  }
  interface Grant extends Saved {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
  }
  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
    interactionDetails(
      request: IncomingMessage,
      response: ServerResponse,
    ): Promise<{ prompt: { name: string }; params: Readonly<Record<string, unknown>> }>;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
    readonly Client: { find(id: string): Promise<object | undefined> };
    readonly DeviceCode: new (
      fields: object,
    ) => Saved;
    readonly RefreshToken: new (
      fields: object,
    ) => Saved;
    readonly Grant: new (
      fields: object,
    ) => Grant;
  }
}
