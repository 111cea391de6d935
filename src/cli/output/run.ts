/** A run, its result and its explanation, as a terminal shows them. */
import type { Explanation, OpenRun, WorkflowResult, WorkflowStatus } from '../../client/responses.ts'
import { jsonForTerminal } from './json.ts'
import { paint, paintStatus } from './paint.ts'
import { pairs } from './table.ts'
import { cellOf, durationOf, fieldText, zonedTime } from './value.ts'

export function renderStatus(run: WorkflowStatus): string {
  return pairs([
    ['Status', paintStatus(cellOf(run.status))],
    ['Workflow', cellOf(run.workflowName)],
    ['Id', cellOf(run.workflowId)],
    ['Run', cellOf(run.runId)],
    ['Catalog', cellOf(run.catalog)],
    ['Started', zonedTime(run.startedAt)],
    ['Completed', zonedTime(run.completedAt)],
    ['Took', durationOf(run)],
    ['Events', cellOf(run.historyLength)],
    ['Problem', run.problem === null ? null : paint('red', cellOf(run.problem.message))],
  ])
}

/**
 * What keeps an open run from progress, for the line that shows what a command waits for; empty if nothing is known.
 */
export function renderProgress({ workflowStatus, problem }: Partial<OpenRun>): string {
  if (problem !== undefined) return `, workflow task failing (attempt ${problem.attempt}): ${problem.message}`
  return workflowStatus === 'paused' ? ', but paused' : ''
}

export function renderResult(result: WorkflowResult): string {
  const { trace, status, output } = result
  const head = pairs([
    ['Status', paintStatus(cellOf(status))],
    ['Id', cellOf(result.workflowId)],
    ['Run', cellOf(result.runId)],
    ['Error', result.error === null ? null : paint('red', cellOf(result.error))],
    ['Name', fieldText(result.errorDetails?.name)],
    ['Trace', fieldText(trace?.destinations.remote ?? trace?.destinations.local)],
  ])
  return status === 'completed' ? `${head}\n\n${jsonForTerminal(output)}` : head
}

export function renderExplanation({ verdict, since, reasons }: Explanation): string {
  const lines = reasons.map(({ kind, advice }) => `${paint('dim', '-')} ${cellOf(kind)}: ${cellOf(advice)}`)
  const sinceText = since === null ? '' : ` since ${zonedTime(since)}`
  return [`${paint('bold', cellOf(verdict))}${sinceText}`, ...lines].join('\n')
}
