import type { NativeConnection } from '@temporalio/worker'
import { sha256 } from '../../lib/digest.ts'
import { canonicalJson } from '../../lib/json.ts'
import {
  CATALOG_TYPE,
  type CatalogDefinition,
  type CatalogMemo,
  catalogWorkflowId,
  parseCatalogMemo,
  type TraceTemplates,
} from '../../protocol/catalog.ts'
import { isOpen } from '../../protocol/execution.ts'
import { isSameVersion, type WorkerVersion } from '../../protocol/worker-version.ts'
import { describeRun } from '../../temporal/describe-run.ts'
import { TaskQueueType, WorkflowIdConflictPolicy } from '../../temporal/enums.ts'
import { nullOnGrpcNotFound } from '../../temporal/grpc-code.ts'
import { fromMemo, toMemo, toPayload } from '../../temporal/payload.ts'
import { TEN_YEARS_MS, toDuration } from '../../temporal/time.ts'
import { toWorkerVersion } from '../../temporal/worker-version.ts'
import { type Routing, shouldPublish } from './should-publish.ts'

export interface PublishOptions {
  connection: Pick<NativeConnection, 'workflowService' | 'withDeadline'>
  namespace: string
  /** The task queue. */
  catalog: string
  definition: CatalogDefinition
  /** Where traces of this catalog's runs are archived. */
  traces: TraceTemplates
  /** Whether this worker has its own `redact`. */
  redacted?: boolean
  /** Shown by the engine as the author of the run. */
  identity: string
  /** Null, the default, for a worker without Worker Versioning. */
  version?: WorkerVersion | null
  /**
   * Whether the worker is starting (default). Later it does not replace another worker's catalog of its own version.
   */
  starts?: boolean
  /** Default: 10 seconds. */
  timeoutMs?: number | undefined
}

/** The result of an attempt to publish. */
export interface Publication {
  /**
   * `unchanged`: it was already published. `skipped`: another catalog remains published, or new workflows are routed to
   * another version.
   */
  state: 'published' | 'unchanged' | 'skipped'
  /** The hash of this worker's catalog. */
  hash: string
  /** The other catalog, which was replaced or remains published. */
  other: OtherCatalog | null
}

export interface OtherCatalog {
  hash: string | null
  version: WorkerVersion | null
  /** Names and aliases that only this worker's catalog has. */
  missingNames: string[]
  /** Names and aliases that only the other catalog has. */
  additionalNames: string[]
}

// Within this time the SDK's connection retries transient failures itself.
const TIMEOUT_MS = 10_000

/**
 * Publishes the catalog for the API as a workflow run that no worker executes (`docs/protocol.md`).
 *
 * A catalog with the same content and version is left alone. Another one is replaced in one step, if the routing of new
 * workflows allows it: readers always see one of the two.
 */
export async function publishCatalog(options: PublishOptions): Promise<Publication> {
  const { connection, definition, traces, redacted = false, version = null, starts = true } = options
  const { timeoutMs = TIMEOUT_MS } = options
  const hash = await catalogHash(definition, traces, redacted)
  return connection.withDeadline(Date.now() + timeoutMs, async () => {
    const published = await readPublished(options)
    if (published?.hash === hash && isSameVersion(published.version, version))
      return { state: 'unchanged', hash, other: null }
    const other = published && compare(published, definition)
    if (!shouldPublish(version, published, await readRouting(options), starts)) return { state: 'skipped', hash, other }
    await connection.workflowService.startWorkflowExecution(toRequest(options, hash))
    return { state: 'published', hash, other }
  })
}

/** The catalog that the API currently reads; null without one. A run that is not a catalog does not count. */
async function readPublished({ connection, namespace, catalog }: PublishOptions): Promise<CatalogMemo | null> {
  const { workflowService } = connection
  const execution = { workflowId: catalogWorkflowId(catalog) }
  const described = await workflowService.describeWorkflowExecution({ namespace, execution }).catch(nullOnGrpcNotFound)
  if (described === null) return null
  const { status, memo } = describeRun(described.workflowExecutionInfo)
  return isOpen(status) ? parseCatalogMemo(fromMemo(memo)) : null
}

function compare({ hash, version, workflowNames }: CatalogMemo, definition: CatalogDefinition): OtherCatalog {
  const own = Object.keys(definition.workflowNames)
  return {
    hash,
    version,
    missingNames: own.filter((name) => !workflowNames.has(name)),
    additionalNames: [...workflowNames.keys()].filter((name) => !own.includes(name)),
  }
}

// Below 50 % most new workflows go to the current version, whose names and schemas a canary must not replace.
const MAJORITY_PERCENT = 50

/** Which versions new workflows of the task queue go to. Null versions on an engine without Worker Versioning. */
async function readRouting({ connection, namespace, catalog }: PublishOptions): Promise<Routing> {
  const request = { namespace, taskQueue: { name: catalog }, taskQueueType: TaskQueueType.WORKFLOW }
  const { versioningInfo } = await connection.workflowService.describeTaskQueue(request)
  const isRampedUp = (versioningInfo?.rampingVersionPercentage ?? 0) >= MAJORITY_PERCENT
  return {
    current: toWorkerVersion(versioningInfo?.currentDeploymentVersion),
    ramping: isRampedUp ? toWorkerVersion(versioningInfo?.rampingDeploymentVersion) : undefined,
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
    // The worker's data converter is bypassed: the API must be able to read the catalog whatever the converter does.
    input: { payloads: [toPayload(definition)] },
    memo: toMemo(memo),
    workflowStartDelay: toDuration(TEN_YEARS_MS),
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.TERMINATE_EXISTING,
    requestId: crypto.randomUUID(),
    identity,
  }
}

/**
 * Hex SHA-256 of the canonical JSON of `{definition, redacted, traces}`.
 * A worker publishes only if its catalog has another hash.
 */
export async function catalogHash(
  definition: CatalogDefinition,
  traces: TraceTemplates,
  redacted = false,
): Promise<string> {
  // Left out when false: workers in other languages do not know it.
  return sha256(canonicalJson({ definition, traces, ...(redacted && { redacted }) }))
}
