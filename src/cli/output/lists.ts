/** Lists of runs and of the workflows of a catalog, and how many runs there are. */
import type { ListedRun, Question, TaskQueue } from '../../client/responses.ts'
import { isObject } from '../../shared/lib/json.ts'
import { cellOf, durationCell, durationOf, pairs, shorten, table, timeCell, widthOf } from './table.ts'
import { paint, paintStatus } from './terminal.ts'

const TITLES = ['Status', 'Workflow', 'Id', 'Run', 'Started (UTC)', 'Took']
const LAYOUTS = [
  TITLES,
  TITLES.filter((title) => title !== 'Run'),
  TITLES.filter((title) => title !== 'Run' && title !== 'Took'),
]

/** At most `columns` wide: without the columns that do not fit, and then with shortened names and ids. */
export function renderRuns(runs: ListedRun[], nextPageToken: string | null, columns: number): string {
  if (runs.length === 0) return 'No runs.'
  const rows = runs.map((run) => [
    paintStatus(cellOf(run.status)) + (run.problem ? paint('red', ', stuck') : ''),
    cellOf(run.workflowName),
    cellOf(run.workflowId),
    cellOf(run.runId),
    timeCell(run.startedAt),
    durationOf(run) ?? '',
  ])
  const [full = '', ...narrower] = LAYOUTS.map((titles) => layOut(titles, rows))
  const fitting = [full, ...narrower].find((list) => widthOf(list) <= columns)
  const list =
    fitting ?? layOut(LAYOUTS.at(-1) ?? TITLES, shortenedRows(rows, widthOf(narrower.at(-1) ?? '') - columns))
  return [
    list,
    ...(list === full ? [] : [paint('dim', '--wide shows all columns, with whole ids.')]),
    ...(nextPageToken === null ? [] : [`More: --page-token ${cellOf(nextPageToken)}`]),
  ].join('\n\n')
}

function layOut(titles: string[], rows: string[][]): string {
  const shown = rows.map((row) => row.filter((_, column) => titles.includes(TITLES[column] ?? '')))
  return table(titles, shown)
}

// Enough to recognize a name.
const MIN_WIDTH = 12

/** Shortens the names of the workflows, and if that is not enough the ids, until lines are `excess` shorter. */
function shortenedRows(rows: string[][], excess: number): string[][] {
  let rest = excess
  let shown = rows
  for (const title of ['Workflow', 'Id']) {
    const at = TITLES.indexOf(title)
    const width = Math.max(...shown.map((row) => widthOf(row[at] ?? '')))
    const target = Math.max(MIN_WIDTH, width - rest)
    if (rest <= 0 || target >= width) continue
    shown = shown.map((row) => row.with(at, shorten(row[at] ?? '', target)))
    rest -= width - target
  }
  return shown
}

/** At most `columns` wide, unless ids and keys are longer: an answer needs them. */
export function renderQuestions(questions: Question[], nextPageToken: string | null, columns: number): string {
  const more = nextPageToken === null ? [] : [`More: --page-token ${cellOf(nextPageToken)}`]
  if (questions.length === 0) return ['No questions.', ...more].join('\n\n')
  const titles = ['Id', 'Key', 'For', 'Due (UTC)', 'Question']
  const rows = questions.map(({ workflowId, key, to, due, message }) => [
    ...[workflowId, key, to?.join(', ') ?? ''].map(cellOf),
    timeCell(due),
    cellOf(message),
  ])
  return [table(titles, rows, columns), ...more].join('\n\n')
}

/** The response of the route that counts. */
export interface CountedRuns {
  count: number
  groups: { status: string; count: number }[]
}

export function renderCount({ count, groups }: CountedRuns): string {
  const total = `${cellOf(count)} ${count === 1 ? 'run' : 'runs'}`
  const byStatus = pairs(groups.map(({ status, count }) => [paintStatus(cellOf(status)), cellOf(count)]))
  return groups.length === 0 ? total : `${total}\n\n${byStatus}`
}

/** The workflows of a catalog, with the names of their handlers, and its activities. */
export function renderCatalog(catalog: unknown, columns: number): string {
  const listing = isObject(catalog) ? catalog : {}
  const name = cellOf(listing.catalog)
  const workflows = objectsIn(listing.workflows).map((workflow) => [
    paint('bold', [cellOf(workflow.name), ...stringsOf(workflow.aliases)].join(', ')),
    ...['signals', 'queries', 'updates'].map((kind) => namesOf(workflow[kind])),
    cellOf(workflow.description),
  ])
  const activities = objectsIn(listing.activities).map((activity) => [
    paint('bold', cellOf(activity.name)),
    cellOf(activity.description),
  ])
  const lists = [
    ...(workflows.length > 0
      ? [table(['Workflow', 'Signals', 'Queries', 'Updates', 'Description'], workflows, columns)]
      : []),
    ...(activities.length > 0 ? [table(['Activity', 'Description'], activities, columns)] : []),
  ]
  if (lists.length === 0) return `The catalog ${name} has no workflows.`
  return [pairs([['Catalog', name]]), ...lists].join('\n\n')
}

function objectsIn(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isObject) : []
}

function namesOf(handlers: unknown): string {
  return objectsIn(handlers)
    .map(({ name }) => cellOf(name))
    .join(', ')
}

function stringsOf(values: unknown): string[] {
  return Array.isArray(values) ? values.map(cellOf) : []
}

export function renderQueue({ workflows, activities }: TaskQueue): string {
  const rows = Object.entries({ Workflows: workflows, Activities: activities }).map(([tasks, queued]) => [
    tasks,
    String(queued.pollers),
    timeCell(queued.lastPolledAt),
    String(queued.backlog),
    durationCell(queued.backlogAgeMs),
  ])
  return table(['Tasks', 'Pollers', 'Last poll (UTC)', 'Backlog', 'Oldest'], rows)
}
