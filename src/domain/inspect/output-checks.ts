/** Checks of outputs against the schemas that workers publish, for development. */
import { checkValue } from '../admission/check-argument.ts'
import { type Call, withTimeout } from '../call.ts'
import { publishedEntry } from '../catalog/published-entry.ts'
import { TIMEOUT_MS } from '../deadlines.ts'
import type { Issue } from '../errors.ts'
import type { WorkflowResult } from '../execution.ts'
import type { Ports } from '../ports.ts'
import { withinCall } from '../within-call.ts'
import type { Workflows } from '../workflows.ts'

type OutputPorts = Pick<Ports, 'catalogs' | 'knownRuns' | 'now'>

/** The same verbs, which warn of an output that does not match the `outputSchema` of its workflow. Results do not change. */
export function withOutputChecks(workflows: Workflows, ports: OutputPorts): Workflows {
  async function checked(reading: Promise<WorkflowResult>, call: Call): Promise<WorkflowResult> {
    const result = await reading
    if (result.status === 'completed') await checkOutput(ports, result, call)
    return result
  }
  return {
    ...workflows,
    run: (command, call) => checked(workflows.run(command, call), call),
    result: (ref, call) => checked(workflows.result(ref, call), call),
    waitForResult: (command, call) => checked(workflows.waitForResult(command, call), call),
  }
}

async function checkOutput(ports: OutputPorts, result: WorkflowResult, call: Call): Promise<void> {
  const { now = Date.now } = ports
  const readCall = withTimeout(call, TIMEOUT_MS.outputSchema)
  try {
    const cached = await findIssues(ports, result, 0, readCall)
    // A worker may have published another schema since.
    const { issues, workflowName } =
      cached.issues.length > 0 ? await findIssues(ports, result, now(), readCall) : cached
    if (issues.length === 0) return
    const { workflowId, runId } = result
    const message = summary(issues)
    call.warnOfOutput(message)
    call.warn('The output of a workflow does not match its outputSchema', { workflowId, runId, workflowName, message })
  } catch (error) {
    call.note({ outputUnchecked: String(error) })
  }
}

async function findIssues(
  { catalogs, knownRuns }: OutputPorts,
  { workflowId, runId, output }: WorkflowResult,
  freshSince: number,
  call: Call,
): Promise<{ workflowName: string; issues: Issue[] }> {
  // A run never changes its name or catalog.
  const { value: run } = await withinCall(knownRuns.read({ workflowId, runId }), call)
  const { entry } = await publishedEntry(catalogs, run, freshSince, call)
  const { workflowName, catalog } = run
  const schema = entry?.outputSchema ?? null
  if (schema === null) return { workflowName, issues: [] }
  const owner = `workflow "${workflowName}" in catalog "${catalog}"`
  const { issues, abortedBy } = await checkValue(output, '/output', schema, owner, call)
  if (abortedBy !== null) call.note({ outputUnchecked: `${owner}: ${abortedBy}` })
  return { workflowName, issues }
}

function summary([first, ...others]: Issue[]): string {
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return `${first?.path} ${first?.message}${more}`
}
