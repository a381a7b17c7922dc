// The one socket of a process that only forwards inference. It refuses requests until the process is ready. In addition to
// inference it serves the metrics of this process, to callers who may read the metrics of the service.
import type { Registry } from "prom-client";
import type { Config } from "../../../platform/config/config.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Tracer } from "../../../platform/tracing/tracer.ts";
import { canReadMetrics, type MetricsAccess } from "../../../server/auth/metrics-access.ts";
import type { InferenceHandler } from "../../../server/inference/handler.ts";
import { type Handler, type Listener, listen, removeDeadSocket } from "../../../server/listener/listen.ts";
import { tracedHandler } from "../../../server/tracing/traced-handler.ts";
import { tlsOf } from "../configuration/settings-reload.ts";
import { PROXY_FLAG, startingProxy } from "../service-sockets.ts";

/** Time for the last bytes of responses, after inference has been drained. */
const STOP_MS = 2_000;

export interface ProxySocketParts extends MetricsAccess {
  metrics: Registry;
  /** undefined while tracing is off */
  tracer: Tracer | undefined;
}

export interface ProxySocket {
  listener: Listener;
  address: string;
  open(inference: InferenceHandler, parts: ProxySocketParts): void;
  stop(): Promise<void>;
}

/** @throws DomainError `listen.*`; Error without `gateway.proxy.listen` */
export async function openProxySocket(config: Config, log: Log): Promise<ProxySocket> {
  const where = config.get("gateway.proxy.listen");
  if (!where) throw new Error("gateway.proxy.listen is not set");
  let handler: Handler = startingProxy;
  await removeDeadSocket(where, PROXY_FLAG);
  const listener = listen(
    (request, address, forwarding, socket) => handler(request, address, forwarding, socket),
    {
      listen: where,
      flag: PROXY_FLAG,
      tls: tlsOf(config),
      trustedProxies: config.get("server.trusted_proxies"),
      forwardedHeader: config.get("server.forwarded_header"),
      report: (error) => log.error("http.unhandled_error", { error }),
    },
  );
  return {
    listener,
    address: listener.address,
    open(inference, { metrics, tracer, ...access }) {
      const plain: Handler = (request, addressOf, _forwarding, socket) =>
        isForMetrics(request) && canReadMetrics(request, { address: addressOf(request) }, access)
          ? pageOf(metrics)
          : inference.handle(request, socket, addressOf);
      handler = tracer ? tracedHandler(plain, tracer) : plain;
    },
    stop: () => listener.stop(STOP_MS),
  };
}

const isForMetrics = ({ method, url }: Request): boolean =>
  method === "GET" && url.includes("/metrics") && URL.parse(url)?.pathname === "/metrics";

const pageOf = async (metrics: Registry): Promise<Response> =>
  new Response(await metrics.metrics(), {
    headers: { "content-type": metrics.contentType, "cache-control": "no-store" },
  });
