import type { TraceTemplates } from '../../protocol/catalog.ts'
import type { Call } from '../call.ts'
import type { Catalogs, Published } from '../catalog/catalogs.ts'
import { type Issue, ServiceError } from '../errors.ts'
import { inTime } from '../with-deadline.ts'
import type { StartCommand } from '../workflows.ts'
import { checkArgument } from './check-argument.ts'

export interface Accepted {
  /** The name to start. */
  workflowName: string
  /** What the catalog says of traces; null when it says nothing. */
  traces: TraceTemplates | null
}

// The engine lists a worker for 300 s after its last poll; a live one polls at least once a minute.
const POLL_IS_FRESH_MS = 75_000

// More names than this help nobody.
const MAX_AVAILABLE = 50

/**
 * Whether this may be started, before anything is. Rejects with `UnsupportedWorkflowError`, `ValidationError` or `CatalogNotAvailableError`.
 *
 * Every refusal is given on what was read after the request came, so a fresh deploy is never refused. So is every acceptance
 * where nothing is published: a catalog that is in force is never missed.
 */
export async function accept(
  catalogs: Catalogs,
  command: StartCommand,
  call: Call,
  now: () => number = Date.now,
): Promise<Accepted> {
  const asked: Asked = { catalogs, command, call, now }
  const arrivedAt = now()
  const first = await judge(asked, 0)
  const verdict = first.refusal !== null && first.readAt < arrivedAt ? await judge(asked, arrivedAt) : first
  if (verdict.refusal !== null) throw verdict.refusal
  return verdict.accepted
}

interface Asked {
  catalogs: Catalogs
  command: StartCommand
  call: Call
  now: () => number
}

type Verdict = { readAt: number } & ({ refusal: ServiceError } | { refusal: null; accepted: Accepted })

async function judge(asked: Asked, freshSince: number): Promise<Verdict> {
  const { catalogs, command, call, now } = asked
  const { value: published, readAt } = await inTime(catalogs.published(command.catalog, freshSince), call)
  if (published !== null) return { readAt, ...(await judgePublished(asked, published)) }
  const polled = await inTime(catalogs.lastPolledAt(command.catalog, freshSince), call)
  const lastPoll = polled.value?.getTime() ?? 0
  if (now() - lastPoll >= POLL_IS_FRESH_MS)
    return { readAt: Math.min(readAt, polled.readAt), refusal: unavailable(command) }
  // The kit publishes before it polls: what is read after its poll was seen, and after the request came, has its catalog.
  const again = await inTime(catalogs.published(command.catalog, now()), call)
  const judgement = again.value === null ? judgeUnpublished(command) : await judgePublished(asked, again.value)
  return { readAt: again.readAt, ...judgement }
}

type Judgement = { refusal: ServiceError } | { refusal: null; accepted: Accepted }

async function judgePublished({ catalogs, command, call }: Asked, published: Published): Promise<Judgement> {
  const { workflowNames, traces } = published
  const workflowName = workflowNames.get(command.workflowName)
  if (workflowName === undefined) return { refusal: unsupported(command, [...new Set(workflowNames.values())]) }
  const workflows = await inTime(catalogs.workflows(published), call)
  if (workflows === null)
    call.note({ inputUnchecked: `the definition of catalog ${command.catalog} could not be read` })
  const schema = workflows?.find(({ name }) => name === workflowName)?.inputSchema ?? null
  // Schemas of the older form are shown: they describe what a workflow makes of its input, with defaults filled in.
  const isEnforced = schema !== null && !catalogs.isOlderForm(published.run.workflowId)
  const owner = `workflow "${workflowName}" in catalog "${command.catalog}"`
  const issues = isEnforced ? await checkArgument(command, schema, owner, call) : []
  if (issues.length > 0) return { refusal: invalid(command, issues) }
  return { refusal: null, accepted: { workflowName, traces } }
}

function judgeUnpublished(command: StartCommand): Judgement {
  // A TypeScript worker looks its workflows up in a plain object: it would run these.
  if (command.workflowName in Object.prototype) return { refusal: unsupported(command, null) }
  return { refusal: null, accepted: { workflowName: command.workflowName, traces: null } }
}

function unsupported({ workflowName, catalog }: StartCommand, available: string[] | null): ServiceError {
  return new ServiceError('UnsupportedWorkflowError', `Catalog "${catalog}" has no workflow "${workflowName}"`, {
    details: available !== null && available.length <= MAX_AVAILABLE ? { available } : {},
  })
}

function invalid({ workflowName }: StartCommand, issues: Issue[]): ServiceError {
  const [first] = issues
  return new ServiceError(
    'ValidationError',
    `Invalid input for workflow "${workflowName}": ${first?.path} ${first?.message}`,
    {
      details: { issues },
    },
  )
}

function unavailable({ catalog }: StartCommand): ServiceError {
  return new ServiceError(
    'CatalogNotAvailableError',
    `Catalog "${catalog}" is not available: it is not published, and no worker polls its task queue`,
    {
      details: { retryAfterSeconds: 3 },
    },
  )
}
