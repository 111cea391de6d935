/** The trace of a run as a timeline, as the console draws it, in the characters of a terminal. */
import type { Trace } from '../../client/responses.ts'
import { isMark, labelOf, type NodeState, type Row, stateOf, toRows } from '../../shared/trace-view/rows.ts'
import {
  compressedScale,
  extentOf,
  linearScale,
  padded,
  type Scale,
  ticksOfScale,
} from '../../shared/trace-view/scale.ts'
import { type Segment, segmentsOf } from '../../shared/trace-view/segments.ts'
import type { TraceNode } from '../../shared/wire/trace/tree.ts'
import { failureOf, sourceLines, stepNotes } from './run.ts'
import { cellOf, durationCell, shorten, timeCell, widthOf } from './table.ts'
import { paint, type Style } from './terminal.ts'

/** With fewer, the bars would say nothing. */
export const MIN_TIMELINE_COLUMNS = 80

const MIN_LABEL_WIDTH = 23 // of the start of the run, above the labels
const MAX_LABEL_SHARE = 0.4
const MAX_INDENT = 12
// Room for the length of the time that is left out.
const IDLE_WIDTH = 9
const TICK_WIDTH = 12

/** Without a style of its own, a bar has that of its state; with a meaning, it is explained below the rows. */
const BARS: Readonly<Record<Segment['kind'] | 'idle', [character: string, style?: Style, meaning?: string]>> = {
  queue: ['░', 'dim', 'waits for a worker'],
  attempt: ['█'],
  'failed-attempt': ['×', 'red', 'failed attempt'],
  retries: ['▒', 'yellow', 'attempts'],
  backoff: ['╌', 'yellow', 'backoff'],
  whole: ['█'],
  idle: ['╱', 'dim', 'idle'],
}
const WHOLE = new Map([
  ['workflow', '━'],
  ['child_workflow', '━'],
  ['nexus_operation', '━'],
  ['timer', '─'],
])

const STATE_STYLES: Readonly<Record<NodeState, Style>> = {
  open: 'cyan',
  completed: 'green',
  failed: 'red',
  canceled: 'dim',
  retrying: 'yellow',
}

interface Cell {
  character: string
  style: Style
}

/** At most `columns` wide. `now` is where what is open ends. */
export function renderTimeline(trace: Trace, columns: number, now = Date.now()): string {
  const { data: root, complete } = trace
  const rows = toRows(root, new Set())
  const end = root.endedAt ?? now
  const labels = rows.map(labelText)
  const notes = notesOf(rows, complete)
  const labelWidth = Math.max(
    MIN_LABEL_WIDTH,
    Math.min(Math.max(...labels.map(widthOf)), Math.floor(columns * MAX_LABEL_SHARE)),
  )
  const width = Math.max(1, columns - labelWidth - Math.max(...notes.map(widthOf)) - 4)
  const all = extentOf(root, end)
  const scale = compressedScale(root, end, all, (100 * IDLE_WIDTH) / width) ?? linearScale(padded(all))
  const line = (label: string, bars: string, note: string) =>
    `${label}${' '.repeat(labelWidth - widthOf(label))}  ${bars}  ${note}`.trimEnd()
  const drawn = rows.flatMap((row, at) => {
    const failure = failureOf({ ...row.node })
    const label = shorten(labels[at] ?? '', labelWidth)
    const indent = `${indentOf(row)}  `
    return [
      line(label, drawTrack(row.node, scale, width, end), paint('dim', notes[at] ?? '')),
      ...(failure === null ? [] : [indent + paint(failure.style, shorten(failure.text, columns - indent.length))]),
    ]
  })
  const legend = Object.values(BARS)
    .filter(([shape, , meaning]) => meaning && drawn.some((one) => one.includes(shape)))
    .map(([shape, , meaning]) => `${shape} ${meaning}`)
  return [
    paint('dim', line(startOf(root), drawAxis(scale, width, root.startedAt), '')),
    ...drawn,
    '',
    ...(legend.length === 0 ? [] : [paint('dim', legend.join('  '))]),
    ...sourceLines({ ...trace }),
  ].join('\n')
}

function startOf({ startedAt }: TraceNode): string {
  return `${timeCell(new Date(startedAt).toISOString())} UTC`
}

function indentOf({ depth }: Row): string {
  return '  '.repeat(Math.min(depth, MAX_INDENT))
}

function labelText(row: Row): string {
  const { node, detail } = row
  const kind = ['workflow', 'step', 'timer'].includes(node.kind) ? '' : `${cellOf(node.kind)} `
  return `${indentOf(row)}${kind}${cellOf(labelOf(node, durationCell))}${detail === '' ? '' : ` ${cellOf(detail)}`}`
}

/** What is open in a workflow that has ended never ends. */
function notesOf(rows: readonly Row[], complete: boolean): string[] {
  const unfinished: string[] = [complete ? 'not finished' : 'open']
  return rows.map(({ node, depth }) => {
    const own = unfinished[depth] ?? ''
    const isOver = WHOLE.get(node.kind) === WHOLE.get('workflow') && node.endedAt !== null
    unfinished[depth + 1] = isOver ? 'not finished' : own
    return isMark(node) ? '' : stepNotes({ ...node }, own).join(', ')
  })
}

function drawTrack(node: TraceNode, scale: Scale, width: number, now: number): string {
  const cells = Array.from({ length: width }, (_, at): Cell => {
    const x = ((at + 0.5) * 100) / width
    const isIdle = scale.parts.some((part) => part.isIdle && x >= part.x && x < part.x + part.width)
    return { character: isIdle ? BARS.idle[0] : ' ', style: 'dim' }
  })
  for (const { from, to, cell } of barsOf(node, now)) {
    const first = Math.max(0, Math.min(width - 1, Math.floor((scale.x(from) * width) / 100)))
    cells.fill(cell, first, Math.max(first + 1, Math.round((scale.x(to) * width) / 100)))
  }
  const runs: { text: string; style: Style }[] = []
  for (const { character, style } of cells) {
    const last = runs.at(-1)
    if (last?.style === style) last.text += character
    else runs.push({ text: character, style })
  }
  return runs.map(({ text, style }) => paint(style, text)).join('')
}

/** What is drawn of a node; each covers those before it. */
function barsOf(node: TraceNode, now: number): { from: number; to: number; cell: Cell }[] {
  const { kind, startedAt, endedAt } = node
  if (isMark(node)) return [{ from: startedAt, to: startedAt, cell: { character: '◆', style: 'magenta' } }]
  const style = STATE_STYLES[stateOf(node)]
  const bars = segmentsOf(node, now).map((part) => {
    const [character, own] = BARS[part.kind]
    const whole = part.kind === 'whole' ? WHOLE.get(kind) : undefined
    return { ...part, cell: { character: whole ?? character, style: own ?? style } }
  })
  return endedAt === null ? [...bars, { from: now, to: now, cell: { character: '▸', style } }] : bars
}

/** The times above the bars, and how long the parts are that are shortened. */
function drawAxis(scale: Scale, width: number, origin: number): string {
  const cells: string[] = Array(width).fill(' ')
  const put = (x: number, text: string) => {
    const from = Math.max(0, Math.min(width - text.length, Math.floor((x * width) / 100)))
    const isFree = cells.slice(Math.max(0, from - 1), from + text.length + 1).every((cell) => cell === ' ')
    if (isFree) cells.splice(from, text.length, ...text)
  }
  for (const { from, to, x, isIdle } of scale.parts) if (isIdle) put(x, durationCell(to - from))
  for (const at of ticksOfScale(scale, origin, Math.max(1, Math.floor(width / TICK_WIDTH))))
    put(scale.x(at), at === origin ? '0' : durationCell(at - origin))
  return cells.join('')
}
