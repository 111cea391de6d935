/**
 * What the catalog of a task queue says: its workflows and activities, which input they take, and where the traces of
 * their runs are archived.
 */
import { type CachedValue, type CacheOptions, decideFresh, lazy, readThroughCache } from '../../shared/lib/cache.ts'
import {
  CATALOG_TYPE,
  type CatalogEntry,
  type CatalogMemo,
  catalogWorkflowId,
  type HandlerEntry,
  type JsonSchema,
  parseCatalogActivities,
  parseCatalogMemo,
  parseCatalogWorkflows,
  type TraceTemplates,
} from '../../shared/wire/catalog.ts'
import { isOpen } from '../../shared/wire/execution.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import { fillTemplate } from '../../shared/wire/trace/template.ts'
import { type TraceMeta, toTraceMeta } from '../../shared/wire/trace/trace-meta.ts'
import { isSameVersion, type WorkerVersion } from '../../shared/wire/worker-version.ts'
import { backgroundCall, type Call, withinCall } from '../model/call.ts'
import type { CatalogListing } from '../model/catalog-listing.ts'
import type { Arguments } from '../model/commands.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { Engine, TaskKind } from '../model/engine.ts'
import { hasErrorName, type Issue, nullWhenNotFound, ServiceError } from '../model/errors.ts'
import type { Description } from '../model/execution.ts'
import { isRawPayload } from '../model/raw-payload.ts'
import type { KnownRun } from '../start/known-runs.ts'

/** The catalogs of the task queues. Cached for a short time, and shared by all requests. */
export interface Catalogs {
  /** Namespace of the engine, a part of trace destinations. */
  namespace: string
  /** The published catalog; null when none is published. With `freshSince` (epoch ms) it is not older than that. */
  published(catalog: string, freshSince?: number): Cached<Published | null>
  /**
   * The workflows with their schemas, from the run that `published` was read from; null when it has no definition.
   * Returns the same array as long as that run is cached.
   */
  workflows(published: Published): CatalogEntry[] | null | Promise<CatalogEntry[] | null>
  /** The activities of the same run that may be started without a workflow; empty if it names none. */
  activities(published: Published): Promise<HandlerEntry[]>
  /** When a worker last polled the task queue for such tasks. Default: workflow tasks. */
  lastPolledAt(catalog: string, freshSince?: number, tasks?: TaskKind): Cached<Date | null>
  /** Whether a catalog in the older format was read under this workflow id. */
  isOlderForm(workflowId: string): boolean
}

type Cached<T> = CachedValue<T> | Promise<CachedValue<T>>

export interface Published extends CatalogMemo {
  run: RunRef
}

export interface CatalogOptions extends CacheOptions {
  engine: Engine
  namespace: string
  ttlMs: number
}

// A published catalog takes a few kilobytes. With more task queues than this, some are read more often.
const MAX_CATALOGS = 1000

// Up to 2 MiB each, and each deploy adds one.
const MAX_DEFINITIONS = 50

export function createCatalogs({ engine, namespace, ttlMs, ...options }: CatalogOptions): Catalogs {
  const shared = { maxKeys: MAX_CATALOGS, ...options }
  const olderForms = new Set<string>()

  async function readPublished(catalog: string): Promise<Published | null> {
    const call = catalogCall()
    const parked = await readForm(engine, catalogWorkflowId(catalog), call)
    const older = parked === null ? await readForm(engine, catalog, call) : null
    if (older === null) olderForms.delete(catalog)
    else olderForms.add(catalog)
    return parked ?? older
  }

  // Keyed by run, whose definition never changes. Entries need no TTL, only a limit on their number.
  const definitions = readThroughCache({
    name: 'catalog_definition',
    async read(run) {
      const { args } = await engine.input(JSON.parse(run), catalogCall()).catch(withoutIds)
      return { workflows: parseCatalogWorkflows(args[0]), activities: parseCatalogActivities(args[0]) }
    },
    ttlMs: Number.POSITIVE_INFINITY,
    ...shared,
    maxKeys: MAX_DEFINITIONS,
  })

  const polls = readThroughCache({
    name: 'task_queue',
    read(key) {
      const [catalog, tasks = 'workflow'] = JSON.parse(key)
      return engine.lastPolledAt(catalog, catalogCall(), tasks)
    },
    ttlMs,
    ...shared,
  })

  return {
    namespace,
    published: readThroughCache({ name: 'catalog', read: readPublished, ttlMs, ...shared }).get,
    workflows({ run }) {
      const definition = definitions.get(JSON.stringify(run))
      return definition instanceof Promise
        ? definition.then(({ value }) => value.workflows)
        : definition.value.workflows
    },
    activities: async ({ run }) => (await definitions.get(JSON.stringify(run))).value.activities,
    lastPolledAt: (catalog, freshSince, tasks) => polls.get(JSON.stringify([catalog, tasks]), freshSince),
    isOlderForm: (workflowId) => olderForms.has(workflowId),
  }
}

async function readForm(engine: Engine, workflowId: string, call: Call): Promise<Published | null> {
  const description = await engine.describe({ workflowId }, call).catch(nullWhenNotFound).catch(withoutIds)
  if (description === null || description.workflowName !== CATALOG_TYPE || !isOpen(description.status)) return null
  const memo = parseCatalogMemo(description.memo)
  return memo === null ? null : { ...memo, run: { workflowId, runId: description.runId } }
}

/** Removes the ids of the catalog's run, which a client would mistake for those of its own workflow. */
function withoutIds(error: unknown): never {
  if (!(error instanceof ServiceError)) throw error
  const { workflowId: _, runId: __, ...details } = error.details
  throw new ServiceError(error.error, error.message, { cause: error.cause, details })
}

function catalogCall(): Call {
  return backgroundCall('catalog', TIMEOUT_MS.catalog)
}

/** Lists the workflows and the activities of a catalog. */
export async function readCatalog(
  { catalogs, now }: { catalogs: Catalogs; now?: () => number },
  { catalog }: { catalog: string },
  call: Call,
): Promise<CatalogListing> {
  const { value: published } = await decideFresh(
    async (freshSince) => withinCall(catalogs.published(catalog, freshSince), call),
    ({ value, readAt }) => (value === null ? readAt : null),
    now,
  )
  const workflows = published && (await withinCall(catalogs.workflows(published), call))
  if (published === null || workflows === null)
    throw new ServiceError('CatalogNotFoundError', `Catalog "${catalog}" is not published`)
  const activities = await withinCall(catalogs.activities(published), call)
  return { catalog, inputsChecked: !catalogs.isOlderForm(published.run.workflowId), workflows, activities }
}

/**
 * The workflow of a run as its catalog publishes it. Null if the catalog says nothing about the run: it is not
 * published, or its schemas do not apply to the run.
 */
export async function publishedEntry(
  catalogs: Catalogs,
  { workflowName, catalog, pinnedVersion }: Pick<KnownRun, 'catalog' | 'pinnedVersion' | 'workflowName'>,
  freshSince: number,
  call: Call,
): Promise<{ entry: CatalogEntry | null; readAt: number }> {
  const { value: published, readAt } = await withinCall(catalogs.published(catalog, freshSince), call)
  if (published === null || !isEnforced(catalogs, published, pinnedVersion)) return { entry: null, readAt }
  const workflows = await withinCall(catalogs.workflows(published), call)
  return { entry: workflows?.find(({ name }) => name === workflowName) ?? null, readAt }
}

/** The catalog of a run, and whether its values must be redacted, because only its workers know which may be shown. */
export async function readPublished(
  { catalogs }: { catalogs: Catalogs },
  { catalog }: Pick<Description, 'catalog'>,
  call: Call,
): Promise<{ published: Published | null; redacted: boolean }> {
  try {
    const { value: published } = await withinCall(catalogs.published(catalog), call)
    return { published, redacted: published?.redacted === true }
  } catch (error) {
    // The transport cannot send this name, so nothing is known: the workers may have a `redact` function.
    if (hasErrorName(error, 'NotSupportedError')) return { published: null, redacted: true }
    throw error
  }
}

// The engine lists a worker for 300 s after its last poll; a running worker polls at least once a minute.
const MAX_POLL_AGE_MS = 75_000

/** Whether a worker still polls a task queue that was last polled at that time. */
export function isPolling(lastPolledAt: Date | null, now: number): boolean {
  return now - (lastPolledAt?.getTime() ?? 0) < MAX_POLL_AGE_MS
}

/**
 * Whether the schemas of the catalog apply to a run. Those in the older format are informational: they describe the
 * input after the workflow has filled in defaults. Those of another version than the one that the run is pinned to are
 * not its own.
 */
export function isEnforced(catalogs: Catalogs, { run, version }: Published, pinned: WorkerVersion | null): boolean {
  return (pinned === null || isSameVersion(pinned, version)) && !catalogs.isOlderForm(run.workflowId)
}

/** `checkInput`, which is loaded on first use: docs/decisions/020-what-is-loaded-when.md. */
export const inputCheck = lazy(
  () => import('./check-input.ts'),
  ({ checkInput }) => checkInput,
)

/**
 * Checks the first argument against what the catalog publishes for `name`, and returns the issues.
 *
 * Parts of a schema that cannot be evaluated are ignored, because the worker checks again; a warning is logged once.
 */
export async function checkArgument(
  { args, argumentPointer }: Arguments,
  { inputSchema, inputOptional }: Pick<HandlerEntry, 'inputOptional' | 'inputSchema'>,
  name: string,
  call: Call,
): Promise<Issue[]> {
  if (inputSchema === null || isRawPayload(args[0])) return []
  if (args.length === 0) return inputOptional === false ? [{ path: argumentPointer, message: 'is required' }] : []
  const { issues, abortedBy } = await checkValue(args[0], argumentPointer, inputSchema, name, call)
  if (abortedBy !== null) call.note({ inputUnchecked: `${name}: ${abortedBy}` })
  return issues
}

/** The same for any value. `abortedBy` says why the check ended without a result; null otherwise. */
export async function checkValue(
  value: unknown,
  pointer: string,
  schema: JsonSchema,
  name: string,
  call: Call,
): Promise<{ issues: Issue[]; abortedBy: string | null }> {
  const checkInput = inputCheck.current ?? (await inputCheck.get())
  const { issues, abortedBy, skipped } = checkInput(value, schema, pointer)
  if (skipped.length > 0) call.warn(`The schema of ${name} cannot be checked in full`, { unusable: skipped })
  return { issues, abortedBy }
}

/** Where the trace of the run is archived, according to its catalog, its memo, or `fromClosing`, in this order. */
export async function readTraceMeta(
  run: Pick<Description, 'catalog' | 'memo' | 'runId'>,
  catalogs: Catalogs,
  call: Call,
  fromClosing: () => Promise<TraceMeta | null> = async () => null,
): Promise<TraceMeta | null> {
  const { value: published } = await withinCall(catalogs.published(run.catalog), call)
  if (published?.traces != null) return fillTemplates(published.traces, run, catalogs.namespace)
  return toTraceMeta(run.memo.get('trace')) ?? (await fromClosing())
}

/** The same for a response that is complete without it: null when it cannot be read. */
export async function traceMetaOrNull(
  run: Pick<Description, 'catalog' | 'memo' | 'runId'>,
  catalogs: Catalogs,
  call: Call,
): Promise<TraceMeta | null> {
  try {
    return await readTraceMeta(run, catalogs, call)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    call.note({ traceUnknown: error.message })
    return null
  }
}

/** The destinations of a run, from the templates of its catalog. */
export function fillTemplates(
  templates: TraceTemplates,
  { runId }: Pick<Description, 'runId'>,
  namespace: string,
): TraceMeta | null {
  if (templates === false) return null
  const { local, remote } = templates
  const fill = (template: string) => fillTemplate(template, { namespace, runId })
  return {
    destinations: {
      ...(local === undefined ? {} : { local: fill(local) }),
      ...(remote === undefined ? {} : { remote: fill(remote) }),
    },
  }
}
