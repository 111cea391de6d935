import type { RequestMetrics } from '../http/pipeline/observe.ts'
import { knownMethod } from './http-method.ts'
import { createRegistry, type Registry } from './prometheus.ts'

/** The metrics of one service. `docs/limits-and-logs.md` describes each of them. */
export interface Metrics extends RequestMetrics {
  waitStarted(): void
  waitEnded(): void
  /** `name` is what has changed: readers of streams, feeds that they share, bytes in the buffers of feeds. */
  streamsChanged(name: 'readers' | 'feeds' | 'bytes', by: number): void
  callStarted(call: MeasuredCall): void
  /** `code` is the name of the gRPC status code. */
  callEnded(call: MeasuredCall, code: string, ms: number): void
  cacheRead(cache: string, isHit: boolean): void
  /** Counts a new policy that was not valid, so that the old one is still in force. */
  policyReloadFailed(): void
  /** For a scrape. */
  text(): string
}

export interface MeasuredCall {
  /** A method of Temporal's WorkflowService, like `DescribeWorkflowExecution`. */
  method: string
  isPoll: boolean
}

// OpenTelemetry's buckets for the duration of HTTP requests, and two more: `run` waits 30 s by default.
// https://opentelemetry.io/docs/specs/semconv/http/http-metrics/
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60]

/**
 * Creates the metrics, which begin at zero. `build` describes this deployment. `keyAges` returns how old the keys of
 * each issuer of JWTs are, in seconds.
 */
export function createMetrics(
  build: { version: string; runtime: string; transport: string },
  keyAges: () => readonly (readonly [issuer: string, seconds: number])[] = () => [],
): Metrics {
  const registry = createRegistry()
  const requests = registry.histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Duration of HTTP requests, from the arrival of the headers to the end of the response.',
    labels: ['http_request_method', 'http_route', 'http_response_status_code'],
    buckets: DURATION_BUCKETS,
  })
  const activeRequests = registry.gauge({
    name: 'http_server_active_requests',
    help: 'HTTP requests that have no complete response yet.',
    labels: ['http_request_method'],
  })
  const inFlight = registry.gauge({
    name: 'portico_requests_in_flight',
    help: 'Requests that count towards SERVICE_MAX_INFLIGHT.',
  })
  const queued = registry.gauge({
    name: 'portico_requests_queued',
    help: 'Requests that wait until fewer than SERVICE_MAX_INFLIGHT are in flight.',
  })
  const calls = registry.histogram({
    name: 'rpc_client_call_duration_seconds',
    help: 'Duration of calls to the Temporal server, without long polls. Each attempt counts.',
    labels: ['rpc_method', 'rpc_response_status_code'],
    buckets: DURATION_BUCKETS,
  })
  const polls = registry.counter({
    name: 'portico_polls_total',
    help: 'Long polls of the Temporal server that have ended.',
    labels: ['rpc_response_status_code'],
  })
  const openPolls = registry.gauge({ name: 'portico_open_polls', help: 'Open long polls of the Temporal server.' })
  const openWaits = registry.gauge({ name: 'portico_open_waits', help: 'Requests that wait for the end of a run.' })
  const streams = {
    readers: registry.gauge({ name: 'portico_stream_readers', help: 'Requests that read the stream of a run.' }),
    feeds: registry.gauge({ name: 'portico_stream_feeds', help: 'Runs whose streams are read. Readers share a feed.' }),
    bytes: registry.gauge({ name: 'portico_stream_buffered_bytes', help: 'Items of streams in memory.' }),
  }
  const cacheReads = registry.counter({
    name: 'portico_cache_reads_total',
    help: 'Reads of a cache, by whether the value was cached.',
    labels: ['cache', 'result'],
  })
  const denied = registry.counter({
    name: 'portico_denied_total',
    help: 'Requests that the policy does not allow.',
    labels: ['action', 'rule'],
  })
  const limited = registry.counter({
    name: 'portico_limited_total',
    help: 'Requests rejected because their caller was over a limit of its rule.',
    labels: ['rule'],
  })
  const ignored = registry.counter({
    name: 'portico_hook_events_ignored_total',
    help: 'Events of webhooks that their hook does not want.',
    labels: ['hook'],
  })
  const reloadFailures = registry.counter({
    name: 'portico_policy_reload_failures_total',
    help: 'New versions of the policy that were not valid.',
  })
  registry.computedBy({
    name: 'portico_jwks_age_seconds',
    help: 'Age of the keys of an issuer of JWTs.',
    label: 'issuer',
    read: keyAges,
  })
  registry
    .gauge({ name: 'portico_build_info', help: 'Always 1.', labels: Object.keys(build) })
    .add(1, ...Object.values(build))
  processMetrics(registry)

  return {
    requestStarted: (method) => activeRequests.add(1, knownMethod(method)),
    requestEnded({ method, route, status, ms }) {
      activeRequests.add(-1, knownMethod(method))
      requests.observe(ms / 1000, knownMethod(method), route ?? '', status)
    },
    inFlightChanged: (by) => inFlight.add(by),
    queuedChanged: (by) => queued.add(by),
    waitStarted: () => openWaits.add(1),
    waitEnded: () => openWaits.add(-1),
    streamsChanged: (name, by) => streams[name].add(by),
    callStarted({ isPoll }) {
      if (isPoll) openPolls.add(1)
    },
    callEnded({ method, isPoll }, code, ms) {
      if (!isPoll) return calls.observe(ms / 1000, method, code)
      openPolls.add(-1)
      polls.add(1, code)
    },
    cacheRead: (cache, isHit) => cacheReads.add(1, cache, isHit ? 'hit' : 'miss'),
    callerDenied: (verb, rule) => denied.add(1, verb, rule),
    callerLimited: (rule) => limited.add(1, rule),
    eventIgnored: (hook) => ignored.add(1, hook),
    policyReloadFailed: () => reloadFailures.add(1),
    text: registry.text,
  }
}

/** The metrics of the process that the runtime can read without further permissions. */
function processMetrics(registry: Registry): void {
  registry.computed({
    name: 'process_cpu_seconds_total',
    help: 'User and system CPU time of the process.',
    type: 'counter',
    read: () => orNull(({ cpuUsage }) => (cpuUsage().user + cpuUsage().system) / 1e6),
  })
  registry.computed({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the process.',
    type: 'gauge',
    read: () => orNull(({ memoryUsage }) => memoryUsage().rss),
  })
  registry.computed({
    name: 'process_start_time_seconds',
    help: 'When the process started, in seconds since 1970.',
    type: 'gauge',
    read: () => performance.timeOrigin / 1000,
  })
}

/** Null where the runtime does not have the value, or does not permit reading it. */
function orNull(read: (process: NodeJS.Process) => number): number | null {
  try {
    // Not imported: workerd may not have it, and Deno loads it when it is first used (decision 020).
    return read(globalThis.process)
  } catch {
    return null
  }
}
