import type { temporal } from '@temporalio/proto'
import type { NativeConnection } from '@temporalio/worker'
import {
  CATALOG_TYPE,
  type CatalogDefinition,
  type CatalogMemo,
  catalogWorkflowId,
  parseCatalogMemo,
  type TraceTemplates,
} from '../../protocol/catalog.ts'
import { catalogHash } from '../../protocol/catalog-hash.ts'
import { isSameVersion, type WorkerVersion } from '../../protocol/worker-version.ts'
import { fromPayload, toPayload } from '../../temporal/payload.ts'
import { type Routing, shouldPublish } from './should-publish.ts'

export interface PublishOptions {
  connection: Pick<NativeConnection, 'workflowService' | 'withDeadline'>
  namespace: string
  /** The task queue. */
  catalog: string
  definition: CatalogDefinition
  /** Where traces of this catalog's runs are archived. */
  traces: TraceTemplates
  /** Whether this worker has a `redact` of its own. */
  redacted?: boolean
  /** Who publishes, as the engine shows it. */
  identity: string
  /** Null, the default, for a worker without Worker Versioning. */
  version?: WorkerVersion | null
  /** Whether the worker is starting, the default. Later it does not replace what another worker of its version has published. */
  starts?: boolean
}

/** What an attempt to publish has led to, with the hash of this worker's catalog. */
export interface Publication {
  /** `unchanged`: it was there already. `left`: another catalog stands, or new workflows go to another version. */
  state: 'published' | 'unchanged' | 'left'
  hash: string
  /** The other catalog that was replaced, or left in place. */
  other: OtherCatalog | null
}

export interface OtherCatalog {
  hash: string | null
  version: WorkerVersion | null
  /** Names and aliases of ours that it lacks. */
  lacks: string[]
  /** Names and aliases of it that ours lacks. */
  adds: string[]
}

type StartDelay = NonNullable<temporal.api.workflowservice.v1.IStartWorkflowExecutionRequest['workflowStartDelay']>
type Int64 = NonNullable<StartDelay['seconds']>

const OPEN_STATUSES: readonly unknown[] = [1 /* running */, 8 /* paused */]
const WORKFLOW_QUEUE = 1
const TERMINATE_EXISTING = 3
const NOT_FOUND = 5
const TEN_YEARS_SECONDS = 10 * 365 * 24 * 60 * 60

// Within it the connection repeats by itself what fails for a moment.
const DEADLINE_MS = 10_000

/**
 * Makes the catalog known to the API: one parked run that nobody executes (`docs/protocol.md`).
 *
 * Leaves a catalog of the same content and version alone; replaces another one, if it may, in one step, so that no reader ever sees none.
 */
export async function publishCatalog(options: PublishOptions): Promise<Publication> {
  const { connection, definition, traces, redacted = false, version = null, starts = true } = options
  const hash = await catalogHash(definition, traces, redacted)
  return connection.withDeadline(Date.now() + DEADLINE_MS, async () => {
    const there = await readStanding(options)
    if (there?.hash === hash && isSameVersion(there.version, version)) return { state: 'unchanged', hash, other: null }
    const other = there && compare(there, definition)
    if (!shouldPublish(version, there, await readRouting(options), starts)) return { state: 'left', hash, other }
    await connection.workflowService.startWorkflowExecution(toRequest(options, hash))
    return { state: 'published', hash, other }
  })
}

/** Null also for a run that is no catalog: the API takes it for none too. */
async function readStanding({ connection, namespace, catalog }: PublishOptions): Promise<CatalogMemo | null> {
  try {
    const execution = { workflowId: catalogWorkflowId(catalog) }
    const { workflowExecutionInfo: run } = await connection.workflowService.describeWorkflowExecution({
      namespace,
      execution,
    })
    if (!OPEN_STATUSES.includes(run?.status)) return null
    return parseCatalogMemo(
      new Map(Object.entries(run?.memo?.fields ?? {}).map(([key, payload]) => [key, fromPayload(payload)])),
    )
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === NOT_FOUND) return null
    throw error
  }
}

function compare({ hash, version, workflowNames }: CatalogMemo, definition: CatalogDefinition): OtherCatalog {
  const own = Object.keys(definition.workflowNames)
  return {
    hash,
    version,
    lacks: own.filter((name) => !workflowNames.has(name)),
    adds: [...workflowNames.keys()].filter((name) => !own.includes(name)),
  }
}

// Below it most new workflows go to the current version: its names and schemas must not be refused for a canary's.
const MAJORITY_PERCENT = 50

/** The engine knows it for a task queue; an engine without Worker Versioning says nothing, which is the same as no version. */
async function readRouting({ connection, namespace, catalog }: PublishOptions): Promise<Routing> {
  const request = { namespace, taskQueue: { name: catalog }, taskQueueType: WORKFLOW_QUEUE }
  const { versioningInfo } = await connection.workflowService.describeTaskQueue(request)
  const isAhead = (versioningInfo?.rampingVersionPercentage ?? 0) >= MAJORITY_PERCENT
  return {
    current: toVersion(versioningInfo?.currentDeploymentVersion),
    ramping: isAhead ? toVersion(versioningInfo?.rampingDeploymentVersion) : undefined,
  }
}

function toRequest(
  { namespace, catalog, definition, traces, redacted = false, identity, version }: PublishOptions,
  hash: string,
) {
  const { workflowNames } = definition
  const memo = { workflowNames, hash, traces, ...(redacted && { redacted }), ...(version && { version }) }
  return {
    namespace,
    workflowId: catalogWorkflowId(catalog),
    workflowType: { name: CATALOG_TYPE },
    taskQueue: { name: CATALOG_TYPE },
    // Not through the worker's data converter: whatever it does to the user's payloads, the API has to read these.
    input: { payloads: [toPayload(definition)] },
    memo: { fields: Object.fromEntries(Object.entries(memo).map(([key, value]) => [key, toPayload(value)])) },
    workflowStartDelay: { seconds: int64(TEN_YEARS_SECONDS) },
    workflowIdConflictPolicy: TERMINATE_EXISTING,
    requestId: crypto.randomUUID(),
    identity,
  }
}

function toVersion(
  version: temporal.api.deployment.v1.IWorkerDeploymentVersion | null | undefined,
): WorkerVersion | null {
  return version?.buildId ? { deploymentName: version.deploymentName ?? '', buildId: version.buildId } : null
}

// protobufjs writes plain numbers as well; its types know only Long.
function int64(number: number): Int64 {
  return number as unknown as Int64
}
