/** Where a time is in the timeline. */
import type { TraceNode } from '../wire/trace/tree.ts'

export interface TimeRange {
  from: number
  to: number
}

/** A part of the axis on which time passes evenly. Idle parts are compressed. */
export interface Part extends TimeRange {
  /** Percent from the left edge. */
  x: number
  width: number
  isIdle: boolean
}

export interface Scale extends TimeRange {
  parts: readonly Part[]
  /** Percent from the left edge; outside of 0 to 100 for times that are not shown. */
  x: (at: number) => number
  timeAt: (x: number) => number
}

// Below a millisecond nothing is recorded.
export const MIN_SPAN_MS = 2

export function linearScale({ from, to }: TimeRange): Scale {
  return scaleOf([{ from, to, x: 0, width: 100, isIdle: false }])
}

// Beside the first and the last bar.
const MARGIN = 0.015
const MAX_IDLE_PARTS = 4
const MIN_IDLE_SHARE = 0.08
const MIN_IDLE_MS = 2000

/**
 * A scale on which long times without any activity are narrow. Null if there are none, or if the rest can be seen well
 * all the same.
 */
export function compressedScale(
  root: TraceNode,
  now: number,
  { from, to }: TimeRange,
  idleWidth: number,
): Scale | null {
  const total = to - from
  const idle = idleParts(root, now, { from, to })
    .filter((part) => part.to - part.from > Math.max(MIN_IDLE_MS, total * MIN_IDLE_SHARE))
    .sort((one, other) => other.to - other.from - (one.to - one.from))
    .slice(0, MAX_IDLE_PARTS)
    .sort((one, other) => one.from - other.from)
  const idleMs = idle.reduce((sum, part) => sum + part.to - part.from, 0)
  if (idle.length === 0 || idleMs < total / 2 || idleMs === total) return null
  const margin = MARGIN * (total - idleMs) + 1
  const perMs = (100 - idle.length * idleWidth) / (total - idleMs + 2 * margin)
  const parts: Part[] = []
  let [at, x] = [from - margin, 0]
  const add = (end: number, width: number, isIdle: boolean) => {
    if (end > at) parts.push({ from: at, to: end, x, width, isIdle })
    at = end
    x += width
  }
  for (const part of idle) {
    add(part.from, (part.from - at) * perMs, false)
    add(part.to, idleWidth, true)
  }
  add(to + margin, (to + margin - at) * perMs, false)
  return scaleOf(parts)
}

function scaleOf(parts: readonly [Part, ...Part[]] | readonly Part[]): Scale {
  const [first] = parts
  const last = parts.at(-1)
  if (first === undefined || last === undefined) throw new Error('A scale has parts')
  return {
    parts,
    from: first.from,
    to: last.to,
    x(at) {
      const part = parts.find(({ to }) => at <= to) ?? last
      return part.x + (part.width * (at - part.from)) / (part.to - part.from)
    },
    timeAt(x) {
      const part = parts.find((one) => x <= one.x + one.width) ?? last
      return part.from + ((x - part.x) / part.width) * (part.to - part.from)
    },
  }
}

// While only these are open, no worker does anything.
const WAITING = new Set(['workflow', 'child_workflow', 'timer', 'update', 'nexus_operation'])

/** The times in which nothing runs, begins or ends. */
function idleParts(root: TraceNode, now: number, { from, to }: TimeRange): TimeRange[] {
  const busy: TimeRange[] = [{ from, to: from }]
  const waiting = [root]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const end = node.endedAt ?? now
    if (!WAITING.has(node.kind)) busy.push({ from: node.startedAt, to: end })
    else {
      busy.push({ from: node.startedAt, to: node.startedAt })
      if (node.endedAt !== null) busy.push({ from: end, to: end })
    }
    waiting.push(...node.children)
  }
  busy.sort((one, other) => one.from - other.from)
  const idle: TimeRange[] = []
  let at = from
  for (const part of busy) {
    if (part.from > at) idle.push({ from: at, to: part.from })
    at = Math.max(at, part.to)
  }
  if (to > at) idle.push({ from: at, to })
  return idle
}

/** The first and the last moment of the tree; open nodes end now. */
export function extentOf(root: TraceNode, now: number): { from: number; to: number } {
  let { startedAt: from } = root
  let to = root.endedAt ?? now
  const waiting = [root]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    from = Math.min(from, node.startedAt)
    to = Math.max(to, node.endedAt ?? node.startedAt)
    waiting.push(...node.children)
  }
  // A run that has just begun has no length yet.
  return { from, to: Math.max(to, from + 10) }
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
]

/** Where the axis has lines: at round distances from its origin. */
export function ticksOf(origin: number, from: number, to: number, count: number): number[] {
  const wanted = (to - from) / count
  const step = STEPS.find((size) => size >= wanted) ?? 86_400_000 * Math.ceil(wanted / 86_400_000)
  const ticks: number[] = []
  for (let at = origin + Math.max(0, Math.ceil((from - origin) / step)) * step; at <= to; at += step) ticks.push(at)
  return ticks
}

/** The ticks of each part that is not compressed. */
export function ticksOfScale({ parts }: Scale, origin: number, count: number): number[] {
  const even = parts.filter(({ isIdle, width }) => !isIdle && width > 3)
  return even.flatMap(({ from, to, width }) =>
    ticksOf(origin, from, to, Math.max(1, Math.round((count * width) / 100))),
  )
}

/** A view with a margin at both ends. */
export function padded({ from, to }: TimeRange): TimeRange {
  const margin = (to - from) * 0.01
  return { from: from - margin, to: to + margin }
}

/** The part that is `factor` times as long as the scale, in its middle; null if that is all of `full`. */
export function zoomed(scale: Scale, factor: number, full: TimeRange): TimeRange | null {
  const [from, to] = [scale.timeAt(50 - 50 * factor), scale.timeAt(50 + 50 * factor)]
  if (to - from >= full.to - full.from) return null
  return within({ from, to: Math.max(to, from + MIN_SPAN_MS) }, full)
}

/** The part that begins later by this share of the scale. */
export function shifted(scale: Scale, share: number, full: TimeRange): TimeRange {
  const by = share * (scale.to - scale.from)
  return within({ from: scale.from + by, to: scale.to + by }, full)
}

function within({ from, to }: TimeRange, full: TimeRange): TimeRange {
  const shift = from < full.from ? full.from - from : to > full.to ? full.to - to : 0
  return { from: Math.max(full.from, from + shift), to: Math.min(full.to, to + shift) }
}
