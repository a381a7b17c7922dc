// The sockets of the service and their handlers: the main listener, and a second one for inference if the settings have
// its address. Both refuse requests until the service is ready.
import type { Config } from "../../platform/config/config.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { Tracer } from "../../platform/tracing/tracer.ts";
import { startingResponse } from "../../server/http/problems/refusal.ts";
import type { InferenceHandler } from "../../server/inference/handler.ts";
import { dialectOf } from "../../server/inference/paths.ts";
import { refusal } from "../../server/inference/refusals.ts";
import { type Handler, type Listener, listen, removeDeadSocket } from "../../server/listener/listen.ts";
import type { UntrustedPeer } from "../../server/listener/peer-address.ts";
import type { Server } from "../../server/server.ts";
import { tracedHandler } from "../../server/tracing/traced-handler.ts";
import { proxyUrlOf } from "../installation/gateway-settings.ts";
import { isProxyInProcess, PROXY_PREFIX } from "../installation/proxy-settings.ts";
import { tlsOf } from "./configuration/settings-reload.ts";
import { type Part, separateProxyListener } from "./divided/division.ts";

/** The setting with the address of the proxy's own listener. */
export const PROXY_FLAG = "--gateway-proxy-listen";

/** The address of inference. */
export interface InferencePlace {
  /** address for workstations */
  url: string;
  /** of its own listener; undefined for a path of the main one */
  address: string | undefined;
}

export interface OpenedParts {
  /** undefined unless this service forwards inference requests */
  inference: InferenceHandler | undefined;
  /** undefined while tracing is off */
  tracer: Tracer | undefined;
}

export interface ServiceSockets {
  listener: Listener;
  /** the main listener, and the one for inference alone if there is one */
  listeners: readonly Listener[];
  /** undefined unless this process forwards inference */
  inference: InferencePlace | undefined;
  /** the first peer that forwards an address without being a trusted proxy; pending until one appears */
  untrusted: Promise<UntrustedPeer>;
  baseUrl(): string;
  open(server: Server, parts: OpenedParts): void;
  /** Stops all listeners: see `Listener`. */
  stop(drainMs?: number): Promise<void>;
}

/** @throws DomainError `listen.*`; then nothing listens */
export async function openServiceSockets(config: Config, log: Log, only?: Part): Promise<ServiceSockets> {
  await using undo = new AsyncDisposableStack();
  const isForwarding = isProxyInProcess(config);
  let main: Handler = (request) =>
    isForwarding && URL.parse(request.url, ANY_ORIGIN)?.pathname.startsWith(`${PROXY_PREFIX}/`)
      ? startingProxy(request)
      : startingResponse(request);
  let proxy: Handler = startingProxy;
  const untrusted = Promise.withResolvers<UntrustedPeer>();
  const shared = {
    tls: tlsOf(config),
    trustedProxies: config.get("server.trusted_proxies"),
    forwardedHeader: config.get("server.forwarded_header"),
    noteUntrusted: untrusted.resolve,
    report: (error: unknown) => log.error("http.unhandled_error", { error }),
  };
  const where = config.get("server.listen");
  await removeDeadSocket(where);
  const listener = listen(
    (request, address, forwarding, socket) => main(request, address, forwarding, socket),
    { ...shared, listen: where },
  );
  undo.defer(() => listener.stop());
  const own = separateProxyListener(config, only);
  if (own) await removeDeadSocket(own, PROXY_FLAG);
  const proxyListener =
    own &&
    listen((request, address, forwarding, socket) => proxy(request, address, forwarding, socket), {
      ...shared,
      listen: own,
      flag: PROXY_FLAG,
    });
  undo.move();
  const baseUrl = config.get("server.public_url") ?? listener.address;
  const listeners = proxyListener ? [listener, proxyListener] : [listener];
  return {
    listener,
    listeners,
    inference:
      isForwarding && only !== "control"
        ? { url: proxyUrlOf(config, () => baseUrl), address: proxyListener?.address }
        : undefined,
    untrusted: untrusted.promise,
    baseUrl: () => baseUrl,
    open(server, { inference, tracer }) {
      const traced = (handler: Handler) => (tracer ? tracedHandler(handler, tracer) : handler);
      if (inference && proxyListener) proxy = traced(handlerOf(inference));
      main = traced(inference && !proxyListener ? inFront(inference, server) : server.handle);
    },
    stop: async (drainMs) => void (await Promise.all(listeners.map((each) => each.stop(drainMs)))),
  };
}

const ANY_ORIGIN = "http://localhost";

/** Answers an agent while the process starts. Agents repeat a request after a refusal in the form of their API. */
export const startingProxy = ({ url }: Request): Response =>
  refusal("service.starting", dialectOf(url), "none");

const handlerOf =
  (inference: InferenceHandler): Handler =>
  (request, addressOf, _forwarding, socket) =>
    inference.handle(request, socket, addressOf);

/** The framework never sees a request below the prefix of the proxy. */
const inFront =
  (inference: InferenceHandler, server: Server): Handler =>
  (request, addressOf, forwardingOf, socket) =>
    inference.answers(request)
      ? inference.handle(request, socket, addressOf)
      : server.handle(request, addressOf, forwardingOf);
