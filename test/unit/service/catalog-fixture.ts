import { type Catalogs, createCatalogs } from '../../../src/service/catalog/catalogs.ts'
import type { StartCommand } from '../../../src/service/model/commands.ts'
import type { Deployment } from '../../../src/service/model/deployment.ts'
import { decorated, type Engine } from '../../../src/service/model/engine.ts'
import { ServiceError } from '../../../src/service/model/errors.ts'
import type { Description } from '../../../src/service/model/execution.ts'
import { createSearchAttributes } from '../../../src/service/runs/search-attributes.ts'
import type { TraceTemplates } from '../../../src/shared/wire/catalog.ts'
import type { ErrorDetails } from '../../../src/shared/wire/execution.ts'
import type { WorkerVersion } from '../../../src/shared/wire/worker-version.ts'

export const SEARCH_ATTRIBUTES = createSearchAttributes({ engine: { searchAttributeTypes: async () => new Map() } })

export const DEPLOYMENT: Deployment = {
  version: '1.2.3',
  runtime: 'node',
  transport: 'grpc',
  uiUrl: null,
  features: {
    slashInIds: { supported: true },
    updateWithStart: { supported: true },
    asyncUpdates: { supported: true },
    codec: false,
    traceRemote: false,
    traceKvstore: false,
    links: false,
    traceLocal: true,
    docs: false,
    console: false,
    mcp: false,
    tokens: false,
  },
}

/** An engine with these verbs; any other verb is a bug. */
export function anEngine(verbs: Partial<Engine>): Engine {
  return decorated(unexpected, verbs)
}

export function aDescription(overrides: Partial<Description> = {}): Description {
  return {
    workflowId: 'orders-17',
    runId: 'run-1',
    firstRunId: 'run-1',
    workflowName: 'order',
    catalog: 'orders',
    status: 'running',
    parent: null,
    memo: new Map(),
    startedAt: new Date(1000),
    completedAt: null,
    historyLength: 3,
    pinnedVersion: null,
    workerVersion: null,
    executionTimeoutMs: null,
    runTimeoutMs: null,
    ...overrides,
  }
}

/** A start of `order` without arguments. */
export function aStart<More extends Partial<StartCommand>>(more: More) {
  return { workflowName: 'order', catalog: 'orders', args: [] as unknown[], argumentPointer: '/input', ...more }
}

/** Of a run that failed with an error of its own. */
export function errorDetails(overrides: Partial<ErrorDetails> = {}): ErrorDetails {
  return { name: 'X', message: 'no', retryable: false, activityId: null, details: [], cause: null, ...overrides }
}

export function notFound(workflowId: string): ServiceError {
  return new ServiceError('WorkflowNotFoundError', `Workflow ${workflowId} not found`, { details: { workflowId } })
}

export interface PublishedWorkflow {
  name: string
  aliases?: string[]
  inputSchema?: object
  inputOptional?: boolean
  outputSchema?: object
  signals?: PublishedHandler[]
  queries?: PublishedHandler[]
  updates?: PublishedHandler[]
}

interface PublishedHandler {
  name: string
  inputSchema?: object
  inputOptional?: boolean
  outputSchema?: object
}

interface PublishOptions {
  activities?: PublishedHandler[]
  id?: string
  traces?: TraceTemplates
  redacted?: boolean
  version?: WorkerVersion
}

/** Catalogs on an engine that records its calls, with a clock that the test moves. */
export function makeCatalogs({ ttlMs = 5000 } = {}) {
  const runs = new Map<string, Description>()
  const definitions = new Map<string, unknown>()
  const polls = new Map<string, Date>()
  const reads: string[] = []
  const clock = { now: 1_000_000_000 }

  const verbs = {
    async describe({ workflowId }) {
      reads.push(`describe ${workflowId}`)
      const run = runs.get(workflowId)
      if (run === undefined) throw notFound(workflowId)
      return run
    },
    async input({ runId }) {
      reads.push(`input ${runId}`)
      return { workflowName: '$catalog', args: [definitions.get(runId)] }
    },
    async lastPolledAt(catalog) {
      reads.push(`lastPolledAt ${catalog}`)
      return polls.get(catalog) ?? null
    },
  } satisfies Partial<Engine>
  const engine = anEngine(verbs)
  const catalogs: Catalogs = createCatalogs({ engine, namespace: 'default', ttlMs, now: () => clock.now })

  return {
    engine,
    engineSupport: {
      pause: async () => true,
      repair: async () => true,
      schedules: async () => true,
      activities: async () => true,
    },
    catalogs,
    runs,
    reads,
    now: () => clock.now,
    pass: (ms: number) => {
      clock.now += ms
    },
    /** Publishes the catalog `orders` as a new run, in the current form unless `id` says otherwise. */
    publish(
      runId: string,
      workflows: PublishedWorkflow[],
      { id = '$catalog:orders', traces, redacted, version, activities }: PublishOptions = {},
    ) {
      const names = workflows.flatMap(({ name, aliases = [] }) => [name, ...aliases].map((known) => [known, name]))
      const memo = new Map<string, unknown>([['workflowNames', Object.fromEntries(names)]])
      if (traces !== undefined) memo.set('traces', traces)
      if (version !== undefined) memo.set('version', version)
      if (redacted !== undefined) memo.set('redacted', redacted)
      runs.set(id, aDescription({ workflowId: id, runId, workflowName: '$catalog', memo }))
      definitions.set(runId, { workflows, activities })
    },
    /** Lets a worker poll `orders` now. */
    poll: () => void polls.set('orders', new Date(clock.now)),
  }
}

/** Catalogs as above, with these workflows in the catalog `orders`. */
export function publishedCatalogs(workflows: PublishedWorkflow[] = [{ name: 'order' }], options?: PublishOptions) {
  const fixture = makeCatalogs()
  fixture.publish('c1', workflows, options)
  return fixture
}

function never(): Promise<never> {
  return Promise.reject(new Error('This verb was not expected'))
}

// biome-ignore lint/correctness/useYield: it always throws
async function* noEntries(): AsyncGenerator<never> {
  await never()
}

/** Every call of the engine rejects. */
const unexpected = new Proxy({} as Engine, { get: (_, name) => (name === 'readEntries' ? noEntries : never) })
