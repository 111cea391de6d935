/** One run of the workflow `order` as a timeline, as the console draws it. */
import { until } from '../../src/cli/dev/servers/until.ts'
import { coarseText, durationText } from '../../src/service/fronts/console/page/format.ts'
import { sleep } from '../../src/shared/lib/abort.ts'
import { isMark, labelOf, type Row, stateOf, toRows } from '../../src/shared/trace-view/rows.ts'
import { compressedScale, extentOf, linearScale, padded, ticksOfScale } from '../../src/shared/trace-view/scale.ts'
import { segmentsOf } from '../../src/shared/trace-view/segments.ts'
import type { TraceNode } from '../../src/shared/wire/trace/tree.ts'
import { escapeXml } from './terminal.ts'

/** Starts an order, and returns its id when it waits for approval. */
export async function startOrder(url: string): Promise<string> {
  const order = { orderId: '17', amount: 250, card: 'flaky' }
  const { workflowId } = await call(url, 'start', { workflowName: 'order', input: order })
  await until('the order waits for approval', async () => {
    const { stage } = await call(url, `${workflowId}/query/progress`, {})
    return stage === 'waiting_for_approval'
  })
  return workflowId
}

/** The trace of an order that is approved after `waitMs`. Its times begin at 0. */
export async function recordTimeline(url: string, waitMs: number): Promise<TraceNode> {
  const workflowId = await startOrder(url)
  await sleep(waitMs)
  await call(url, `${workflowId}/signal/approve`, { payload: { by: 'Ada' } })
  return until('the trace is archived', async () => {
    const { complete, data } = await call(url, `${workflowId}/trace-log`)
    const isRecorded = complete && JSON.stringify(data).includes('"kind":"llm"')
    return isRecorded && recorded(data, data.startedAt, { count: 0 })
  })
}

async function call(url: string, path: string, body?: object) {
  const response = await fetch(`${url}/workflow/${path}`, {
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    headers: { 'Content-Type': 'application/json' },
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

/** What is drawn of it, the same for each run but for the times. */
function recorded(node: TraceNode, origin: number, ids: { count: number }): TraceNode {
  const { kind, name, startedAt, endedAt, attributes, error, children } = node
  const { attempts, queueMs, lastStartedAt } = attributes
  return {
    ...{ id: String(ids.count++), kind, name },
    startedAt: startedAt - origin,
    endedAt: endedAt === null ? null : endedAt - origin,
    ...{ input: null, output: null, error },
    attributes: {
      ...(attempts !== undefined && { attempts }),
      ...(queueMs !== undefined && { queueMs }),
      ...(typeof lastStartedAt === 'number' && { lastStartedAt: lastStartedAt - origin }),
    },
    children: children.map((child) => recorded(child, origin, ids)),
  }
}

const WIDTH = 820
const LEFT = 200
const RIGHT = 36
const HEADER = 52
const AXIS = 28
const ROW = 30
const IDLE_WIDTH = 12
const TICKS = 6

const STYLE = `
.frame,.card{fill:#fff;stroke:#dfe3e8}.head{fill:#f8f9fb}.line{stroke:#dfe3e8}.hatch{stroke:#dfe3e8;stroke-width:3}
text{font:14px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#16202b}
.title{font-size:17px;font-weight:600}.quiet{font-size:12.5px;fill:#56616d}.end{text-anchor:end}.middle{text-anchor:middle}.failed{fill:#b3261e}
.pill{fill:#e0f3e7}.done{font-size:12.5px;font-weight:600;fill:#146c3a}.badge{font-size:12px;font-weight:600;fill:#8a5300}
.step{fill:#3aa66b}.workflow{fill:#3b82d0}.signal,.update{fill:#9271d4}.span{fill:#9aa5b1}
.queue{fill:#eceff2;stroke:#9aa5b1}.failed-attempt{fill:#d9534a}.backoff{fill:#e0a030}
.retries{fill:url(#stripes);stroke:#3aa66b}.stripe{stroke:#3aa66b;stroke-width:3;opacity:.55}
@media(prefers-color-scheme:dark){
.frame,.card{fill:#161b21;stroke:#2a323b}.head{fill:#11161b}.line,.hatch{stroke:#2a323b}
text{fill:#e5e9ee}.quiet{fill:#9ba7b4}.failed{fill:#ff9d94}
.pill{fill:#122c1e}.done{fill:#7fd6a1}.badge{fill:#f0bd68}
.step{fill:#38945f}.workflow{fill:#4a8fdc}.signal,.update{fill:#7d5fc4}.span{fill:#66717d}
.queue{fill:#222931;stroke:#66717d}.failed-attempt{fill:#cf5148}.backoff{fill:#b9822a}
.retries,.stripe{stroke:#38945f}}`

const PATTERNS = `<defs>
<pattern id="idle" width="9" height="9" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hatch" d="M0 0V9"/></pattern>
<pattern id="stripes" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="stripe" d="M2 0V7"/></pattern>
</defs>`

/** An SVG in the colors that the reader prefers. */
export function drawTimeline(root: TraceNode): string {
  const rows = toRows(root, new Set())
  const end = root.endedAt ?? 0
  const all = extentOf(root, end)
  const scale = compressedScale(root, end, all, IDLE_WIDTH) ?? linearScale(padded(all))
  const place = (at: number) => LEFT + (scale.x(at) / 100) * (WIDTH - LEFT - RIGHT)
  const top = HEADER + AXIS
  const height = top + rows.length * ROW + 10
  const ticks = ticksOfScale(scale, 0, TICKS).map((at) => {
    const x = round(place(at))
    const text = at === 0 ? '0' : durationText(at)
    return `<path class="line" d="M${x} ${HEADER}V${height - 1}"/>${textAt(x + 5, HEADER + 19, 'quiet', text)}`
  })
  const idle = scale.parts.filter(({ isIdle }) => isIdle)
  const hatched = idle.map(({ from, to }) => {
    const [x, width] = [round(place(from)), round(place(to) - place(from))]
    const hatch = `<rect fill="url(#idle)" x="${x}" y="${top}" width="${width}" height="${height - top - 1}"/>`
    return hatch + textAt(round(x + width / 2), HEADER + 19, 'quiet middle', coarseText(to - from))
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" role="img">`,
    `<title>The timeline of a run of the workflow ${escapeXml(root.name)}</title>`,
    `<style>${STYLE}</style>`,
    PATTERNS,
    `<rect class="frame" x=".5" y=".5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>`,
    `<rect class="head" x="1" y="${HEADER}" width="${WIDTH - 2}" height="${AXIS}"/>`,
    textAt(20, 33, 'title', root.name),
    `<rect class="pill" x="${LEFT}" y="16" width="96" height="24" rx="12"/>`,
    textAt(LEFT + 48, 33, 'done middle', 'Completed'),
    textAt(LEFT + 110, 33, 'quiet', `${rows.length - 1} steps · ${durationText(end)}`),
    ...ticks,
    ...hatched,
    ...rows.flatMap((row, at) => drawRow(row, top + at * ROW, place, end)),
    '</svg>\n',
  ].join('\n')
}

function drawRow({ node, depth }: Row, y: number, place: (at: number) => number, now: number): string[] {
  const { kind, startedAt, attributes } = node
  const color = ['step', 'workflow', 'signal', 'update'].includes(kind) ? kind : 'span'
  const x = 20 + depth * 16
  const state = stateOf(node) === 'failed' ? 'name failed' : 'name'
  const attempts =
    Number(attributes.attempts) > 1 ? `<tspan class="badge" dx="8">${attributes.attempts} attempts</tspan>` : ''
  const name = [
    `<rect class="${color}" x="${x}" y="${y + 10}" width="9" height="9" rx="2"/>`,
    `<text class="${state}" x="${x + 16}" y="${y + 20}">${escapeXml(labelOf(node, durationText))}${attempts}</text>`,
  ]
  if (isMark(node)) {
    const middle = round(place(startedAt))
    return [...name, `<path class="${color}" d="M${middle} ${y + 8}l7 7-7 7-7-7z"/>`]
  }
  const bars = segmentsOf(node, now).map((segment) => {
    const left = round(place(segment.from))
    const width = Math.max(2, round(place(segment.to) - left))
    const shape = ['whole', 'attempt'].includes(segment.kind) ? color : segment.kind
    const [from, thickness] = shape === 'backoff' ? [14, 2] : color === 'step' ? [8, 14] : [10, 10]
    return `<rect class="${shape}" x="${left}" y="${y + from}" width="${width}" height="${thickness}" rx="3"/>`
  })
  return [...name, ...bars, drawLength(node, y, place, now)]
}

/** After the bar, or before it where there is no room. */
function drawLength({ startedAt, endedAt }: TraceNode, y: number, place: (at: number) => number, now: number): string {
  const [from, to] = [place(startedAt), place(endedAt ?? now)]
  const length = durationText((endedAt ?? now) - startedAt)
  if (to < WIDTH - RIGHT - 80) return textAt(round(to) + 6, y + 20, 'quiet', length)
  return from > LEFT + 80 ? textAt(round(from) - 6, y + 20, 'quiet end', length) : ''
}

function textAt(x: number, y: number, style: string, text: string): string {
  return `<text class="${style}" x="${x}" y="${y}">${escapeXml(text)}</text>`
}

function round(x: number): number {
  return Math.round(x * 10) / 10
}
