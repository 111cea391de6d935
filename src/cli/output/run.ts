/** A run as a terminal shows it: status, result, explanation, trace and history. */
import type {
  Explanation,
  HistoryEvent,
  HistoryPage,
  OpenRun,
  WorkflowResult,
  WorkflowStatus,
} from '../../client/responses.ts'
import { isObject } from '../../shared/lib/json.ts'
import {
  cellOf,
  durationCell,
  durationOf,
  fieldText,
  pairs,
  rowsOf,
  shorten,
  table,
  timeCell,
  zonedTime,
} from './table.ts'
import { jsonForTerminal, paint, paintStatus } from './terminal.ts'

// Details may be a megabyte. JSON has all of them.
const MAX_PROGRESS_WIDTH = 200

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
    ...(run.progress ?? []).map(({ activityType, details }): [string, string] => [
      'Progress',
      shorten(`${cellOf(activityType)}: ${cellOf(details)}`, MAX_PROGRESS_WIDTH),
    ]),
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
  const lines = reasons.map(
    ({ kind, since, advice }) => `${paint('dim', '-')} ${cellOf(kind)}${sinceText(since)}: ${cellOf(advice)}`,
  )
  return [`${paint('bold', cellOf(verdict))}${sinceText(since)}`, ...lines].join('\n')
}

function sinceText(since: string | null): string {
  return since === null ? '' : ` since ${zonedTime(since)}`
}

/** The steps of a run as a tree, with how long each took. */
export function renderTrace(trace: unknown): string {
  if (!isObject(trace) || !isObject(trace.data)) return cellOf(trace)
  const lines = linesOf(trace.data, '', trace.complete === true ? 'not finished' : 'open')
  return [...lines, '', ...sourceLines(trace)].join('\n')
}

/** Where a trace comes from, and what it lacks. */
export function sourceLines({ source, complete, warnings }: Record<string, unknown>): string[] {
  return [
    paint('dim', `source: ${cellOf(source)}${complete === true ? '' : ', the run is open'}`),
    ...(Array.isArray(warnings) ? warnings.map((warning) => paint('yellow', cellOf(warning))) : []),
  ]
}

/** The node and what is below it. `unfinished` describes what has no end: in a run that has ended it never gets one. */
function linesOf(node: Record<string, unknown>, indent: string, unfinished: string): string[] {
  const children = Array.isArray(node.children) ? node.children.filter(isObject) : []
  const below = node.kind === 'workflow' && typeof node.endedAt === 'number' ? 'not finished' : unfinished
  const lines = children.flatMap((child, index) => {
    const isLast = index === children.length - 1
    const [line = '', ...more] = linesOf(child, `${indent}${isLast ? '   ' : '│  '}`, below)
    return [paint('dim', `${indent}${isLast ? '└─ ' : '├─ '}`) + line, ...more]
  })
  return [lineOf(node, unfinished), ...lines]
}

function lineOf(node: Record<string, unknown>, unfinished: string) {
  const { kind, name } = node
  const failure = failureOf(node)
  const kindLabel = kind === 'step' || kind === 'workflow' ? '' : paint('dim', `${cellOf(kind)} `)
  const failed = failure === null ? '' : paint(failure.style, `  ${failure.text}`)
  return `${kindLabel}${cellOf(name)}  ${paint('dim', stepNotes(node, unfinished).join(', '))}${failed}`
}

/** How long a step took, and what was not as usual. */
export function stepNotes({ startedAt, endedAt, attributes }: Record<string, unknown>, unfinished: string): string[] {
  const hasEnded = typeof startedAt === 'number' && typeof endedAt === 'number'
  const { attempts, canceled } = isObject(attributes) ? attributes : {}
  return [
    hasEnded ? durationCell(endedAt - startedAt) : unfinished,
    ...(typeof attempts === 'number' && attempts > 1 ? [`${attempts} attempts`] : []),
    ...(canceled === true ? ['canceled'] : []),
  ]
}

/** Its error, or else the last one that was retried. */
export function failureOf({ error, attributes }: Record<string, unknown>) {
  const { lastFailure } = isObject(attributes) ? attributes : {}
  if (isObject(error)) return { style: 'red', text: `${cellOf(error.name)}: ${cellOf(error.message)}` } as const
  return isObject(lastFailure) ? ({ style: 'yellow', text: `after ${cellOf(lastFailure.message)}` } as const) : null
}

/** What identifies the subject of an event, in the order in which it is chosen. */
const SUBJECTS = ['activityType', 'workflowType', 'signalName', 'updateName', 'timerId', 'markerName']

export function renderHistory({ workflow, events, nextPageToken }: HistoryPage, columns: number): string {
  const list = [
    `${cellOf(workflow.workflowId)} ${paintStatus(cellOf(workflow.status))}`,
    table(['Event', 'Time (UTC)', 'Type', 'Subject'], events.map(cellsOf), columns),
  ].join('\n\n')
  return nextPageToken === null ? list : `${list}\n\nMore: --page-token ${cellOf(nextPageToken)}`
}

// The widths of usual ids and types, so that events that arrive later are aligned.
const WIDTHS = [5, 19, 32]

/** Events without titles, as they arrive. */
export function renderEvents(events: HistoryEvent[]): string {
  return rowsOf(events.map(cellsOf), WIDTHS)
}

function cellsOf(event: HistoryEvent): string[] {
  return [cellOf(event.eventId), timeCell(event.eventTime), cellOf(event.eventType), subjectOf(event)]
}

function subjectOf(event: HistoryEvent): string {
  const failure = isObject(event.failure) ? fieldText(event.failure.message) : null
  const subjects = SUBJECTS.map((key) => event[key]).map((value) => fieldText(isObject(value) ? value.name : value))
  return [...subjects.filter((subject) => subject !== null).slice(0, 1), ...(failure === null ? [] : [failure])].join(
    ': ',
  )
}
