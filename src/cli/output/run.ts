/** A run, its result and its explanation, as a terminal shows them. */
import type { Explanation, ListedRun, OpenRun, WorkflowResult, WorkflowStatus } from '../../client/responses.ts'
import { jsonForTerminal } from './json.ts'
import { paint, paintStatus } from './paint.ts'
import { pairs, table } from './table.ts'
import { cellOf, durationCell, fieldText, timeCell } from './value.ts'

export function renderStatus(run: WorkflowStatus): string {
  return pairs([
    ['Status', paintStatus(cellOf(run.status))],
    ['Workflow', cellOf(run.workflowName)],
    ['Id', cellOf(run.workflowId)],
    ['Run', cellOf(run.runId)],
    ['Catalog', cellOf(run.catalog)],
    ['Started', timeCell(run.startedAt) || null],
    ['Completed', timeCell(run.completedAt) || null],
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

export function renderRuns(runs: ListedRun[], nextPageToken: string | null): string {
  if (runs.length === 0) return 'No runs.'
  const rows = runs.map((run) => [
    paintStatus(cellOf(run.status)),
    cellOf(run.workflowName),
    cellOf(run.workflowId),
    cellOf(run.runId),
    timeCell(run.startedAt),
    durationOf(run) ?? '',
  ])
  const list = table(['Status', 'Workflow', 'Id', 'Run', 'Started (UTC)', 'Took'], rows)
  return nextPageToken === null ? list : `${list}\n\nMore: --page-token ${cellOf(nextPageToken)}`
}

export function renderExplanation({ verdict, since, reasons }: Explanation): string {
  const lines = reasons.map(({ kind, advice }) => `${paint('dim', '-')} ${cellOf(kind)}: ${cellOf(advice)}`)
  const sinceText = since === null ? '' : ` since ${timeCell(since)} UTC`
  return [`${paint('bold', cellOf(verdict))}${sinceText}`, ...lines].join('\n')
}

function durationOf({ startedAt, completedAt }: { startedAt: string | null; completedAt: string | null }) {
  if (startedAt === null || completedAt === null) return null
  return durationCell(Date.parse(completedAt) - Date.parse(startedAt))
}
