import type { Config } from '../shared/config.ts'
import type { KvStore } from '../shared/stores/kv/kv-store.ts'
import type { ObjectReader } from '../shared/stores/s3/object-reader.ts'
import { type Catalogs, createCatalogs } from './catalog/catalogs.ts'
import { remoteCodec } from './engine/codec.ts'
import type { EncodedOutput } from './engine/context.ts'
import type { Transport } from './engine/transport/transport.ts'
import type { Links } from './links/links.ts'
import type { Deployment } from './model/deployment.ts'
import type { TraceSource } from './model/trace-source.ts'
import { createObservedEngine, createWorkflows } from './stack.ts'
import type { Metrics } from './telemetry/metrics.ts'
import type { HostTracer } from './telemetry/observers.ts'
import { tracesFromHistory } from './traces/from-history.ts'
import { tracesFromKv } from './traces/from-kv.ts'
import { tracesFromObjects } from './traces/from-objects.ts'
import type { Workflows } from './verbs.ts'

/** What all namespaces share. */
export interface SharedParts {
  config: Config
  transport: Transport
  deployment: Deployment
  metrics: Metrics | null
  tracer: HostTracer
  links: Links
  /** Where traces are stored; null without one. */
  objects: ObjectReader | null
  kv: KvStore | null
  /** Further trace sources of a namespace. */
  traceSourcesOf(namespace: string): readonly TraceSource[]
  onEncodedOutput(output: EncodedOutput): void
}

/** A namespace of the engine: its verbs and its catalogs. Its caches, waits and polls are its own. */
export interface Namespace {
  workflows: Workflows
  catalogs: Catalogs
}

export function createNamespace(namespace: string, shared: SharedParts): Namespace {
  const { config, transport, metrics, tracer, onEncodedOutput } = shared
  const { codecEndpoint, namespaces } = config.engine
  const { maxBytes } = config.traces
  const options = {
    transport,
    namespace,
    maxPayloadBytes: config.limits.maxPayloadBytes,
    codec: codecEndpoint === null ? null : remoteCodec({ endpoint: codecEndpoint, namespace }),
    onEncodedOutput,
    maxPolls: config.limits.maxPolls,
    streams: {
      maxBufferBytes: config.limits.streamBufferBytes,
      maxUpdates: config.limits.streamUpdates,
      onCount: metrics?.streamsChanged,
    },
  }
  const engine = createObservedEngine(options, { tracer, metrics })
  const onCacheRead = metrics?.cacheRead
  const catalogs = createCatalogs({ engine, namespace, ttlMs: config.catalogTtlMs, onCacheRead })
  const workflows = createWorkflows({
    engine,
    catalogs,
    traceSources: [
      ...storedTraces(namespace, shared),
      ...shared.traceSourcesOf(namespace),
      tracesFromHistory({ engine, maxBytes }),
    ],
    traceMaxBytes: maxBytes,
    deployment: shared.deployment,
    links: shared.links,
    defaults: { catalog: config.catalog, namespace: config.engine.namespace },
    messageTimeoutMs: config.messageTimeoutMs,
    // The variable limits the memory of the process.
    resultCacheBytes: Math.floor(config.resultCacheBytes / namespaces.length),
    checksOutputs: config.checkOutputs,
    onCacheRead,
  })
  return { workflows, catalogs }
}

/**
 * Sources of traces that workers on other machines store:
 * object storage, and the key-value store for the spans of open runs.
 */
function storedTraces(namespace: string, { config, objects, kv }: SharedParts): TraceSource[] {
  const { storage, maxBytes } = config.traces
  const isOnlyNamespace = config.engine.namespaces.length === 1
  const archived = storage &&
    objects && [tracesFromObjects({ objects, rules: storage, namespace, isOnlyNamespace, maxBytes })]
  return [...(archived ?? []), ...(kv === null ? [] : [tracesFromKv({ kv, namespace, maxBytes })])]
}
