import type { NativeConnection } from '@temporalio/worker'
import { sha256 } from '../../shared/lib/digest.ts'
import { canonicalJson } from '../../shared/lib/json.ts'
import { describeRun } from '../../shared/temporal/describe-run.ts'
import { TaskQueueType, WorkflowIdConflictPolicy } from '../../shared/temporal/enums.ts'
import { nullOnGrpcNotFound } from '../../shared/temporal/grpc-code.ts'
import { fromMemo, toMemo, toPayload } from '../../shared/temporal/payload.ts'
import { TEN_YEARS_MS, toDuration, toEpochMs } from '../../shared/temporal/time.ts'
import { toWorkerVersion } from '../../shared/temporal/worker-version.ts'
import {
  CATALOG_TYPE,
  type CatalogDefinition,
  type CatalogMemo,
  catalogWorkflowId,
  parseCatalogMemo,
  type TraceTemplates,
} from '../../shared/wire/catalog.ts'
import { isOpen } from '../../shared/wire/execution.ts'
import { isSameVersion, type WorkerVersion } from '../../shared/wire/worker-version.ts'
import { type Routing, shouldPublish } from './should-publish.ts'
import { isGone, type PublisherWatch, watchPublisher } from './watch-publisher.ts'

export interface CatalogPublication {
  connection: Pick<NativeConnection, 'workflowService' | 'withDeadline'>
  namespace: string
  /** The task queue. */
  catalog: string
  definition: CatalogDefinition
  /** Where traces of this catalog's runs are archived. */
  traces: TraceTemplates
  /** Whether this worker has its own `redact`. */
  redacted?: boolean
  /** Under which the worker polls. It is the publisher in the memo, and the author of the run. */
  identity: string
  /** Null, the default, for a worker without Worker Versioning. */
  version?: WorkerVersion | null
  /**
   * The worker's last publication; null (default) while it is starting. Later it replaces another worker's catalog of
   * its own version only if that worker is gone.
   */
  last?: Publication | null
  /** Default: 10 seconds. */
  timeoutMs?: number | undefined
}

/** The result of an attempt to publish. */
export interface Publication {
  /**
   * `unchanged`: it was already published. `renewed`: it was, by a worker that is gone. `skipped`: another catalog
   * remains published, or new workflows are routed to another version.
   */
  state: 'published' | 'unchanged' | 'renewed' | 'skipped'
  /** The hash of this worker's catalog. */
  hash: string
  /** The other catalog, which was replaced or remains published. */
  other: OtherCatalog | null
  /** The worker that has published the catalog that remains; null if that is this worker, or not known. */
  watch: PublisherWatch | null
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
 * A catalog with the same content and version is left alone while its publisher polls. Another one is replaced in one
 * step, if the routing of new workflows allows it: readers always see one of the two.
 */
export async function publishCatalog(options: CatalogPublication): Promise<Publication> {
  const { connection, definition, traces, redacted = false, timeoutMs = TIMEOUT_MS } = options
  const hash = await catalogHash(definition, traces, redacted)
  return connection.withDeadline(Date.now() + timeoutMs, () => publishIfNeeded(options, hash))
}

async function publishIfNeeded(options: CatalogPublication, hash: string): Promise<Publication> {
  const { connection, definition, version = null, last = null } = options
  const published = await readPublished(options)
  const isSame = published?.hash === hash && isSameVersion(published.version, version)
  if (isSame && isPublisher(options, published)) return { state: 'unchanged', hash, other: null, watch: null }

  const other = published && !isSame ? compare(published, definition) : null
  const taskQueue = await readTaskQueue(options)
  const watch = published && watchPublished(published, taskQueue, last)
  const isStarting = last === null && !isSame
  if (!shouldPublish(version, published, taskQueue, isStarting || isGone(watch, isSame)))
    return { state: isSame ? 'unchanged' : 'skipped', hash, other, watch }
  await connection.workflowService.startWorkflowExecution(toRequest(options, hash))
  return { state: isSame ? 'renewed' : 'published', hash, other, watch: null }
}

/** Whether it is this worker, or might be: a catalog without a publisher never changes hands. */
function isPublisher({ identity }: CatalogPublication, { publisher }: CatalogMemo): boolean {
  return publisher === null || publisher === identity
}

function watchPublished(
  { publisher }: CatalogMemo,
  { polledAtMs }: TaskQueue,
  last: Publication | null,
): PublisherWatch | null {
  if (publisher === null) return null
  const seen = { publisher, polledAtMs: polledAtMs(publisher), lookedAtMs: performance.now() }
  return watchPublisher(last?.watch ?? null, seen)
}

/** The catalog that the API currently reads; null without one. A run that is not a catalog does not count. */
async function readPublished({ connection, namespace, catalog }: CatalogPublication): Promise<CatalogMemo | null> {
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

/**
 * Which versions new workflows of the task queue go to, and when a worker has polled it. Null versions on an engine
 * without Worker Versioning.
 */
async function readTaskQueue({ connection, namespace, catalog }: CatalogPublication): Promise<TaskQueue> {
  const request = { namespace, taskQueue: { name: catalog }, taskQueueType: TaskQueueType.WORKFLOW }
  const { versioningInfo, pollers } = await connection.workflowService.describeTaskQueue(request)
  const isRampedUp = (versioningInfo?.rampingVersionPercentage ?? 0) >= MAJORITY_PERCENT
  return {
    current: toWorkerVersion(versioningInfo?.currentDeploymentVersion),
    ramping: isRampedUp ? toWorkerVersion(versioningInfo?.rampingDeploymentVersion) : undefined,
    polledAtMs(identity) {
      const polls = (pollers ?? []).filter((poller) => poller.identity === identity)
      const times = polls.flatMap(({ lastAccessTime }) => toEpochMs(lastAccessTime) ?? [])
      return times.length === 0 ? null : Math.max(...times)
    },
  }
}

interface TaskQueue extends Routing {
  /** The newest poll of the worker; null if the engine lists none. */
  polledAtMs(identity: string): number | null
}

function toRequest(
  { namespace, catalog, definition, traces, redacted = false, identity, version }: CatalogPublication,
  hash: string,
) {
  const { workflowNames } = definition
  const optional = { ...(redacted && { redacted }), ...(version && { version }) }
  const memo = { workflowNames, hash, traces, publisher: identity, ...optional }
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
