import type { temporal } from '@temporalio/proto'
import type { NativeConnection } from '@temporalio/worker'
import { CATALOG_TYPE, type CatalogDefinition, catalogWorkflowId, type TraceTemplates } from '../protocol/catalog.ts'
import { catalogHash } from '../protocol/catalog-hash.ts'

export interface PublishOptions {
  connection: Pick<NativeConnection, 'workflowService' | 'withDeadline'>
  namespace: string
  /** The task queue. */
  catalog: string
  definition: CatalogDefinition
  /** Where traces of this catalog's runs go. */
  traces: TraceTemplates
  /** Who publishes, as the engine shows it. */
  identity: string
}

/** False when the same catalog was there already. */
export interface Published {
  published: boolean
  hash: string
}

type Payload = temporal.api.common.v1.IPayload
type StartDelay = NonNullable<temporal.api.workflowservice.v1.IStartWorkflowExecutionRequest['workflowStartDelay']>
type Int64 = NonNullable<StartDelay['seconds']>

const RUNNING = 1
const TERMINATE_EXISTING = 3
const NOT_FOUND = 5
const TEN_YEARS_SECONDS = 10 * 365 * 24 * 60 * 60

// Within it the connection repeats what fails for a moment: up to ten times in ten seconds.
const DEADLINE_MS = 20_000

/**
 * Makes the catalog known to the API: one parked run that nobody executes (`docs/protocol.md`).
 *
 * Leaves a catalog of the same content alone; replaces any other in one step, so that no reader ever sees none.
 */
export async function publishCatalog(options: PublishOptions): Promise<Published> {
  const { connection, definition, traces } = options
  const hash = await catalogHash(definition, traces)
  return connection.withDeadline(Date.now() + DEADLINE_MS, async () => {
    if ((await publishedHash(options)) === hash) return { published: false, hash }
    await connection.workflowService.startWorkflowExecution(toRequest(options, hash))
    return { published: true, hash }
  })
}

async function publishedHash({ connection, namespace, catalog }: PublishOptions): Promise<unknown> {
  try {
    const execution = { workflowId: catalogWorkflowId(catalog) }
    const { workflowExecutionInfo: run } = await connection.workflowService.describeWorkflowExecution({ namespace, execution })
    return run?.status === RUNNING ? fromPayload(run.memo?.fields?.hash) : null
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === NOT_FOUND) return null
    throw error
  }
}

function toRequest({ namespace, catalog, definition, traces, identity }: PublishOptions, hash: string) {
  return {
    namespace,
    workflowId: catalogWorkflowId(catalog),
    workflowType: { name: CATALOG_TYPE },
    taskQueue: { name: CATALOG_TYPE },
    input: { payloads: [toPayload(definition)] },
    memo: { fields: { workflowNames: toPayload(definition.workflowNames), hash: toPayload(hash), traces: toPayload(traces) } },
    workflowStartDelay: { seconds: int64(TEN_YEARS_SECONDS) },
    workflowIdConflictPolicy: TERMINATE_EXISTING,
    requestId: crypto.randomUUID(),
    identity,
  }
}

// Not through the worker's data converter: whatever it does to the user's payloads, the API has to read these.
function toPayload(value: unknown): Payload {
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(value)) }
}

function fromPayload(payload: Payload | undefined): unknown {
  if (!payload?.data) return null
  try {
    return JSON.parse(Buffer.from(payload.data).toString())
  } catch {
    return null // of another publisher's making: it is not ours, so ours replaces it
  }
}

// protobufjs writes plain numbers as well; its types know only Long.
function int64(number: number): Int64 {
  return number as unknown as Int64
}
