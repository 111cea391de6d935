/** Checks of outputs against the schemas that workers publish, for development. */
import { decideFresh } from '../../shared/lib/cache.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import { publishedEntry } from '../catalog/published-entry.ts'
import { HANDLERS } from '../messages/admit-message.ts'
import { type Call, withinCall, withTimeout } from '../model/call.ts'
import type { ReadUpdateCommand, SendCommand, UpdateWithStartCommand } from '../model/commands.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { StartedUpdate, UpdateState } from '../model/engine.ts'
import type { Issue } from '../model/errors.ts'
import type { ExecutionRef, WorkflowResult } from '../model/execution.ts'
import type { Ports } from '../ports.ts'
import { checkValue } from '../start/check-argument.ts'

type OutputPorts = Pick<Ports, 'catalogs' | 'knownRuns' | 'now'>

const WARNINGS = {
  workflow: 'The output of a workflow does not match its outputSchema',
  query: 'The result of a query does not match its outputSchema',
  update: 'The result of an update does not match its outputSchema',
} as const

/** What a workflow or a handler has returned. */
export interface CheckedOutput {
  run: ExecutionRef
  value: unknown
  /** Null for the output of the workflow itself. */
  handler: { kind: 'query' | 'update'; name: string } | null
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
  const { kind = 'workflow', name: handlerName } = output.handler ?? {}
  const readCall = withTimeout(call, TIMEOUT_MS.outputSchema)
  try {
    const {
      issues,
      readAt: _,
      ...facts
    } = await decideFresh(
      (freshSince) => findIssues(ports, output, freshSince, readCall),
      (found) => (found.issues.length === 0 ? null : found.readAt),
      ports.now,
    )
    if (issues.length === 0) return
    const message = summary(issues)
    call.warnOfOutput(message)
    const handler = handlerName !== undefined && { handlerName }
    call.warn(WARNINGS[kind], { ...facts, ...handler, message })
  } catch (error) {
    call.note({ outputUnchecked: String(error) })
  }
}

interface Found {
  workflowId: string
  runId: string
  workflowName: string
  issues: Issue[]
  /** Epoch milliseconds. */
  readAt: number
}

async function findIssues(
  { catalogs, knownRuns }: OutputPorts,
  { run: ref, value, handler }: CheckedOutput,
  freshSince: number,
  call: Call,
): Promise<Found> {
  // A run never changes its name or catalog, so a cached one will do. Without a run id it may be another run by now.
  const isOneRun = ref.runId !== undefined
  const { value: run, readAt: runReadAt } = await withinCall(knownRuns.read(ref, isOneRun ? 0 : freshSince), call)
  const { entry, readAt: entryReadAt } = await publishedEntry(catalogs, run, freshSince, call)
  const { workflowName, catalog, runId } = run
  const published = handler === null ? entry : entry?.[HANDLERS[handler.kind]].find(({ name }) => name === handler.name)
  const readAt = isOneRun ? entryReadAt : Math.min(runReadAt, entryReadAt)
  const facts = { workflowId: ref.workflowId, runId, workflowName, readAt }
  const schema = published?.outputSchema ?? null
  if (schema === null) return { ...facts, issues: [] }
  const workflow = `workflow "${workflowName}" in catalog "${catalog}"`
  const owner = handler === null ? workflow : `${handler.kind} "${handler.name}" of ${workflow}`
  const { issues, abortedBy } = await checkValue(value, handler === null ? '/output' : '/result', schema, owner, call)
  if (abortedBy !== null) call.note({ outputUnchecked: `${owner}: ${abortedBy}` })
  return { ...facts, issues }
}

function summary([first, ...others]: Issue[]): string {
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return `${first?.path} ${first?.message}${more}`
}
