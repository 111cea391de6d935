import { type Row, toRows } from '../../../../../shared/trace-view/rows.ts'
import {
  compressedScale,
  extentOf,
  linearScale,
  padded,
  shifted,
  type TimeRange,
  ticksOfScale,
  zoomed,
} from '../../../../../shared/trace-view/scale.ts'
import type { TraceNode } from '../../../../../shared/wire/trace/tree.ts'
import { countText, durationText } from '../format.ts'
import { useLatest, useMedia } from '../hooks.ts'
import { useEffect, useMemo, useRef, useState } from '../ui.ts'
import { Axis, Grid } from './timeline-axis.tsx'
import { TimelineRow } from './timeline-row.tsx'

interface TimelineProps {
  root: TraceNode
  now: number
  selected: string
  onSelect: (id: string) => void
  /** The part to show, which the details can set; null: all of it. */
  view: TimeRange | null
  onView: (view: TimeRange | null) => void
}

const MAX_HEIGHT = 560
const OVERSCAN = 8
const NARROW = '(max-width: 700px)'

/** The trace as a tree whose rows have bars. Only the rows that can be seen are elements. */
export function Timeline({ root, now, selected, onSelect, view, onView }: TimelineProps) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set())
  const rows = useMemo(() => toRows(root, collapsed), [root, collapsed])
  const all = useMemo(() => extentOf(root, now), [root, now])
  const isNarrow = useMedia(NARROW)
  const [isCompressing, setCompressing] = useState(true)
  const compressed = useMemo(
    () => (view === null ? compressedScale(root, now, all, isNarrow ? 18 : 10) : null),
    [root, all, view, isNarrow],
  )
  const scale = (isCompressing ? compressed : null) ?? linearScale(view ?? padded(all))
  const rowHeight = isNarrow ? 46 : 30
  const scroller = useRef<HTMLDivElement>(null)
  const [scrollTop, setScrollTop] = useState(0)
  const height = Math.min(MAX_HEIGHT, rows.length * rowHeight)
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - OVERSCAN)
  const last = Math.min(rows.length, Math.ceil((scrollTop + height) / rowHeight) + OVERSCAN)
  const selectedAt = rows.findIndex(({ node }) => node.id === selected)
  const ticks = ticksOfScale(scale, root.startedAt, isNarrow ? 3 : 7)

  function reveal(at: number): void {
    const element = scroller.current
    if (element == null || at === -1) return
    const top = at * rowHeight
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight
  }

  useEffect(() => reveal(selectedAt), [selectedAt, rowHeight])

  const onKeyDown = useLatest((event: KeyboardEvent) => {
    const row = rows[selectedAt]
    const go = (at: number) => {
      const next = Math.max(0, Math.min(rows.length - 1, at))
      onSelect(rows[next]?.node.id ?? selected)
      reveal(next)
    }
    const page = Math.max(1, Math.floor(height / rowHeight) - 1)
    const acts: Record<string, () => void> = {
      ArrowDown: () => go(selectedAt + 1),
      ArrowUp: () => go(selectedAt - 1),
      PageDown: () => go(selectedAt + page),
      PageUp: () => go(selectedAt - page),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      ArrowRight: () => (row?.hasChildren && !row.isExpanded ? toggle(row) : go(selectedAt + 1)),
      ArrowLeft: () => (row?.isExpanded ? toggle(row) : go(parentOf(rows, selectedAt))),
      '+': () => zoom(0.5),
      '-': () => zoom(2),
      '0': () => onView(null),
    }
    const act = Object.hasOwn(acts, event.key) ? acts[event.key] : undefined
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    act()
  })

  function toggle({ node }: Row): void {
    const next = new Set(collapsed)
    if (!next.delete(node.id)) next.add(node.id)
    setCollapsed(next)
  }

  function zoom(factor: number): void {
    onView(zoomed(scale, factor, padded(all)))
  }

  function pan(share: number): void {
    onView(shifted(scale, share, padded(all)))
  }

  return (
    <section class="card timeline" aria-label="Timeline">
      <div class="timeline-tools">
        <h2>Timeline</h2>
        <span class="quiet small">{legend(rows.length, root, now)}</span>
        <ZoomButtons
          isZoomed={view !== null}
          isCompressing={compressed === null ? null : isCompressing}
          onCompress={setCompressing}
          onZoom={zoom}
          onPan={pan}
          onFit={() => onView(null)}
        />
      </div>
      <Axis scale={scale} ticks={ticks} origin={root.startedAt} onRange={onView} />
      <div
        class="rows"
        ref={scroller}
        role="tree"
        tabindex={0}
        aria-label="Steps of the run"
        aria-activedescendant={selectedAt === -1 ? undefined : rowId(selectedAt)}
        style={{ height: `${height}px` }}
        onScroll={(event: Event) => setScrollTop((event.target as HTMLElement).scrollTop)}
        onKeyDown={onKeyDown}
        onWheel={(event: WheelEvent) => {
          if (!event.ctrlKey) return
          event.preventDefault()
          zoom(event.deltaY > 0 ? 1.25 : 0.8)
        }}
      >
        <div class="spacer" role="presentation" style={{ height: `${rows.length * rowHeight}px` }}>
          <Grid scale={scale} ticks={ticks} now={root.endedAt === null ? now : null} />
          {rows.slice(first, last).map((row, index) => (
            <TimelineRow
              key={row.node.id}
              row={row}
              id={rowId(first + index)}
              top={(first + index) * rowHeight}
              scale={scale}
              now={root.endedAt ?? now}
              isSelected={first + index === selectedAt}
              onSelect={onSelect}
              onToggle={toggle}
            />
          ))}
        </div>
      </div>
    </section>
  )
}

function ZoomButtons({ isZoomed, isCompressing, onCompress, onZoom, onPan, onFit }: ZoomProps) {
  const buttons: [label: string, text: string, isDisabled: boolean, act: () => void][] = [
    ...(isZoomed
      ? ([
          ['Earlier', '‹', false, () => onPan(-0.5)],
          ['Later', '›', false, () => onPan(0.5)],
        ] as [string, string, boolean, () => void][])
      : []),
    ['Zoom in', '+', false, () => onZoom(0.5)],
    ['Zoom out', '−', !isZoomed, () => onZoom(2)],
  ]
  return (
    <fieldset class="buttons" aria-label="Zoom">
      {isCompressing !== null && (
        <button
          type="button"
          class="ghost"
          aria-pressed={String(isCompressing)}
          onClick={() => onCompress(!isCompressing)}
        >
          {isCompressing ? 'True to scale' : 'Shorten waits'}
        </button>
      )}
      {buttons.map(([label, text, isDisabled, act]) => (
        <button key={label} type="button" class="ghost icon" aria-label={label} disabled={isDisabled} onClick={act}>
          {text}
        </button>
      ))}
      <button type="button" class="ghost" disabled={!isZoomed} onClick={onFit}>
        Fit
      </button>
    </fieldset>
  )
}

interface ZoomProps {
  isZoomed: boolean
  /** Null if there is nothing to compress. */
  isCompressing: boolean | null
  onCompress: (isCompressing: boolean) => void
  onZoom: (factor: number) => void
  onPan: (share: number) => void
  onFit: () => void
}

function legend(rows: number, root: TraceNode, now: number): string {
  const length = durationText((root.endedAt ?? now) - root.startedAt)
  return `${countText(rows - 1, 'step')} · ${length}`
}

function rowId(at: number): string {
  return `row-${at}`
}

function parentOf(rows: readonly Row[], at: number): number {
  const depth = rows[at]?.depth ?? 0
  let parent = at
  while (parent > 0 && (rows[parent]?.depth ?? 0) >= depth) parent -= 1
  return parent
}
