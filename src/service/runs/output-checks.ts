/** Checks of outputs against the schemas that workers publish, for development. */
import { decideFresh } from '../../shared/lib/cache.ts'
import type { JsonSchema } from '../../shared/wire/catalog.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import { checkValue, publishedEntry } from '../catalog/catalogs.ts'
import { HANDLERS } from '../messages/admit-message.ts'
import { type Call, withinCall, withTimeout } from '../model/call.ts'
import type { ReadUpdateCommand, SendCommand, UpdateWithStartCommand } from '../model/commands.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { StartedUpdate, UpdateState } from '../model/engine.ts'
import type { Issue } from '../model/errors.ts'
import type { ExecutionRef, WorkflowResult } from '../model/execution.ts'
import type { ActivityResult, StandaloneRun } from '../model/standalone-activity.ts'
import type { Ports } from '../ports.ts'

type OutputPorts = Pick<Ports, 'catalogs' | 'engine' | 'knownRuns' | 'now'>

const WARNINGS = {
  workflow: 'The output of a workflow does not match its outputSchema',
  query: 'The result of a query does not match its outputSchema',
  update: 'The result of an update does not match its outputSchema',
  activity: 'The output of an activity does not match its outputSchema',
} as const

/** What a workflow, a handler or a standalone activity has returned. */
export type CheckedOutput = OfRun | { activity: StandaloneRun; value: unknown }

interface OfRun {
  run: ExecutionRef
  value: unknown
  /** Null for the output of the workflow itself. */
  handler: { kind: 'query' | 'update'; name: string } | null
}

export function ofActivity({ status, activityId, runId, output }: ActivityResult): CheckedOutput | null {
  return status === 'completed' ? { activity: { activityId, runId }, value: output } : null
}

export function ofWorkflow({ status, workflowId, runId, output }: WorkflowResult): CheckedOutput | null {
  return status === 'completed' ? { run: { workflowId, runId }, value: output, handler: null } : null
}

export function ofHandler(kind: 'query' | 'update'): (value: unknown, command: SendCommand) => CheckedOutput {
  return (value, { ref, message }) => ({ run: ref, value, handler: { kind, name: message.name } })
}

export function ofUpdate(state: UpdateState, { name }: ReadUpdateCommand): CheckedOutput | null {
  return state.stage === 'completed' ? updated(state, name, state.result) : null
}

export function ofUpdateWithStart(sent: StartedUpdate, { update }: UpdateWithStartCommand): CheckedOutput {
  return updated(sent, update.name, sent.result)
}

function updated({ workflowId, runId }: RunRef, name: string, value: unknown): CheckedOutput {
  return { run: { workflowId, runId }, value, handler: { kind: 'update', name } }
}

/**
 * Warns of an output that does not match the `outputSchema` of its workflow or handler. Does not change the result, and
 * does not reject.
 */
export async function checkOutput(ports: OutputPorts, output: CheckedOutput, call: Call): Promise<void> {
  const readCall = withTimeout(call, TIMEOUT_MS.outputSchema)
  try {
    const { issues, kind, facts } = await decideFresh(
      (freshSince) => findIssues(ports, output, freshSince, readCall),
      (found) => (found.issues.length === 0 ? null : found.readAt),
      ports.now,
    )
    if (issues.length === 0) return
    const message = summary(issues)
    call.warnOfOutput(message)
    call.warn(WARNINGS[kind], { ...facts, message })
  } catch (error) {
    call.note({ outputUnchecked: String(error) })
  }
}

interface Published {
  kind: keyof typeof WARNINGS
  /** For the log. */
  facts: Readonly<Record<string, string>>
  owner: string
  /** Null if none is published. */
  schema: JsonSchema | null
  /** Epoch milliseconds. */
  readAt: number
}

async function findIssues(
  ports: OutputPorts,
  output: CheckedOutput,
  freshSince: number,
  call: Call,
): Promise<Published & { issues: Issue[] }> {
  const published = await ('activity' in output
    ? ofPublishedActivity(ports, output.activity, freshSince, call)
    : ofPublishedWorkflow(ports, output, freshSince, call))
  const { kind, owner, schema } = published
  if (schema === null) return { ...published, issues: [] }
  const pointer = kind === 'query' || kind === 'update' ? '/result' : '/output'
  const { issues, abortedBy } = await checkValue(output.value, pointer, schema, owner, call)
  if (abortedBy !== null) call.note({ outputUnchecked: `${owner}: ${abortedBy}` })
  return { ...published, issues }
}

async function ofPublishedWorkflow(
  { catalogs, knownRuns }: OutputPorts,
  { run: ref, handler }: OfRun,
  freshSince: number,
  call: Call,
): Promise<Published> {
  // A run never changes its name or catalog, so a cached one will do. Without a run id it may be another run by now.
  const isOneRun = ref.runId !== undefined
  const { value: run, readAt: runReadAt } = await withinCall(knownRuns.read(ref, isOneRun ? 0 : freshSince), call)
  const { entry, readAt: entryReadAt } = await publishedEntry(catalogs, run, freshSince, call)
  const { workflowName, catalog, runId } = run
  const readAt = isOneRun ? entryReadAt : Math.min(runReadAt, entryReadAt)
  const facts = { workflowId: ref.workflowId, runId, workflowName }
  const workflow = `workflow "${workflowName}" in catalog "${catalog}"`
  if (handler === null) return { kind: 'workflow', facts, owner: workflow, schema: entry?.outputSchema ?? null, readAt }
  const { kind, name } = handler
  const schema = entry?.[HANDLERS[kind]].find((published) => published.name === name)?.outputSchema ?? null
  return { kind, facts: { ...facts, handlerName: name }, owner: `${kind} "${name}" of ${workflow}`, schema, readAt }
}

async function ofPublishedActivity(
  { catalogs, engine }: OutputPorts,
  activity: StandaloneRun,
  freshSince: number,
  call: Call,
): Promise<Published> {
  const { activityName, catalog } = await engine.describeActivity(activity, call)
  const { value: published, readAt } = await withinCall(catalogs.published(catalog, freshSince), call)
  const described = published === null ? [] : await withinCall(catalogs.activities(published), call)
  const schema = described.find(({ name }) => name === activityName)?.outputSchema ?? null
  const owner = `activity "${activityName}" in catalog "${catalog}"`
  return { kind: 'activity', facts: { ...activity, activityName }, owner, schema, readAt }
}

function summary([first, ...others]: Issue[]): string {
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return `${first?.path} ${first?.message}${more}`
}
