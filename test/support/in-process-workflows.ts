/** The verbs of the service on the engine, without HTTP. */
import { createCatalogs } from '../../src/service/catalog/catalogs.ts'
import { createEngine } from '../../src/service/engine/engine.ts'
import { grpcTransport } from '../../src/service/engine/transport/grpc/transport.ts'
import { createWorkflows } from '../../src/service/stack.ts'
import type { Workflows } from '../../src/service/verbs.ts'

const SUPPORTED = { supported: true } as const
const FEATURES = {
  ...{ slashInIds: SUPPORTED, updateWithStart: SUPPORTED, asyncUpdates: SUPPORTED },
  ...{
    codec: false,
    traceRemote: false,
    traceKvstore: false,
    traceLocal: false,
    docs: false,
    console: false,
    mcp: true,
    tokens: false,
    links: false,
  },
}

export interface WorkflowsOptions {
  /** Of the engine, `host:port`. */
  address: string
  catalog: string
}

export function inProcessWorkflows({ address, catalog }: WorkflowsOptions): {
  workflows: Workflows
  close(): Promise<void>
} {
  const transport = grpcTransport({ address, apiKey: null, tls: null })
  const namespace = 'default'
  const engine = createEngine({ transport, namespace, maxPayloadBytes: 2 ** 20, codec: null, maxPolls: 100 })
  const workflows = createWorkflows({
    engine,
    catalogs: createCatalogs({ engine, namespace, ttlMs: 60_000 }),
    traceSources: [],
    traceMaxBytes: 2 ** 20,
    deployment: { version: '0.0.0', runtime: 'node', transport: 'grpc', uiUrl: null, features: FEATURES },
    messageTimeoutMs: 10_000,
    defaults: { catalog, namespace },
    resultCacheBytes: 0,
  })
  return { workflows, close: async () => transport.close() }
}
