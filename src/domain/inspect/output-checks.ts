/** Checks of outputs against the schemas that workers publish, for development. */
import { decideFresh } from '../../lib/cache.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { HANDLERS } from '../admission/admit-message.ts'
import { checkValue } from '../admission/check-argument.ts'
import { publishedEntry } from '../catalog/published-entry.ts'
import { type Call, withTimeout } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { Issue } from '../model/errors.ts'
import type { ExecutionRef, WorkflowResult } from '../model/execution.ts'
import type { Ports } from '../model/ports.ts'
import { withinCall } from '../model/share-calls.ts'
import type { SendCommand, Workflows } from '../model/workflows.ts'

type OutputPorts = Pick<Ports, 'catalogs' | 'knownRuns' | 'now'>

const WARNINGS = {
  workflow: 'The output of a workflow does not match its outputSchema',
  query: 'The result of a query does not match its outputSchema',
  update: 'The result of an update does not match its outputSchema',
} as const

/** What a workflow or a handler has returned. */
interface Output {
  run: ExecutionRef
  value: unknown
  /** Null for the output of the workflow itself. */
  handler: { kind: 'query' | 'update'; name: string } | null
}

/**
 * The verbs, decorated: they warn of an output that does not match the `outputSchema` of its workflow or handler.
 * Results do not change.
 */
export function withOutputChecks(workflows: Workflows, ports: OutputPorts): Workflows {
  async function checked<T>(reading: Promise<T>, call: Call, outputOf: (result: T) => Output | null): Promise<T> {
    const result = await reading
    const output = outputOf(result)
    if (output !== null) await checkOutput(ports, output, call)
    return result
  }
  return {
    ...workflows,
    run: (command, call) => checked(workflows.run(command, call), call, ofWorkflow),
    result: (command, call) => checked(workflows.result(command, call), call, ofWorkflow),
    query: (command, call) => checked(workflows.query(command, call), call, ofHandler('query', command)),
    update: (command, call) => checked(workflows.update(command, call), call, ofHandler('update', command)),
    readUpdate: (command, call) =>
      checked(workflows.readUpdate(command, call), call, (state) =>
        state.stage === 'completed' ? ofUpdate(state, command.name, state.result) : null,
      ),
    updateWithStart: (command, call) =>
      checked(workflows.updateWithStart(command, call), call, (sent) =>
        ofUpdate(sent, command.update.name, sent.result),
      ),
  }
}

function ofWorkflow({ status, workflowId, runId, output }: WorkflowResult): Output | null {
  return status === 'completed' ? { run: { workflowId, runId }, value: output, handler: null } : null
}

function ofHandler(kind: 'query' | 'update', { ref, message }: SendCommand): (value: unknown) => Output {
  return (value) => ({ run: ref, value, handler: { kind, name: message.name } })
}

function ofUpdate({ workflowId, runId }: RunRef, name: string, value: unknown): Output {
  return { run: { workflowId, runId }, value, handler: { kind: 'update', name } }
}

async function checkOutput(ports: OutputPorts, output: Output, call: Call): Promise<void> {
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
  { run: ref, value, handler }: Output,
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
