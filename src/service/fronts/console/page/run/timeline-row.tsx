import { isMark, kindText, labelOf, type Row, stateOf } from '../../../../../shared/trace-view/rows.ts'
import type { Scale } from '../../../../../shared/trace-view/scale.ts'
import { type Segment, segmentsOf } from '../../../../../shared/trace-view/segments.ts'
import type { TraceNode } from '../../../../../shared/wire/trace/tree.ts'
import { durationText } from '../format.ts'

/** A row of the timeline: what it is, and its bar. */
export function TimelineRow({ row, id, top, scale, now, isSelected, onSelect, onToggle }: RowProps) {
  const { node, depth, hasChildren, isExpanded } = row
  const state = stateOf(node)
  const attempts = attemptsText(node)
  const label = labelOf(node, durationText)
  return (
    <div
      id={id}
      class={isSelected ? `row selected ${state}` : `row ${state}`}
      role="treeitem"
      aria-level={depth + 1}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-expanded={hasChildren ? String(isExpanded) : undefined}
      aria-selected={String(isSelected)}
      style={{ top: `${top}px` }}
      onClick={() => onSelect(node.id)}
      onDblClick={() => hasChildren && onToggle(row)}
    >
      <div class="label" style={{ 'padding-left': `${Math.min(depth, 12) * 14}px` }}>
        {hasChildren ? (
          <span
            class={isExpanded ? 'twist open' : 'twist'}
            onClick={(event: Event) => {
              event.stopPropagation()
              onToggle(row)
            }}
          />
        ) : (
          <span class="twist none" />
        )}
        <span class={`kind ${shapeOf(node)}`} />
        <span class="hidden">{kindText(node)} </span>
        <span class="text">
          {label}
          {row.detail !== '' && <span class="quiet"> {row.detail}</span>}
        </span>
        {attempts !== '' && <span class="badge attempts">{attempts}</span>}
        <span class="hidden"> {stateText(state)} </span>
      </div>
      <div class="track">
        {isMark(node) ? (
          <span class={`mark ${node.kind} ${state}`} style={{ left: `${scale.x(node.startedAt)}%` }} />
        ) : (
          <Bar node={node} state={state} segments={segmentsOf(node, now)} scale={scale} now={now} />
        )}
      </div>
    </div>
  )
}

const KNOWN_KINDS = new Set([
  'workflow',
  'step',
  'timer',
  'signal',
  'update',
  'child_workflow',
  'nexus_operation',
  'workflow_task',
])

function shapeOf({ kind }: TraceNode): string {
  return KNOWN_KINDS.has(kind) ? kind : 'span'
}

interface RowProps {
  row: Row
  id: string
  top: number
  scale: Scale
  now: number
  isSelected: boolean
  onSelect: (id: string) => void
  onToggle: (row: Row) => void
}

function stateText(state: string): string {
  return state === 'open' ? 'running' : state
}

function attemptsText({ endedAt, attributes: { attempts } }: TraceNode): string {
  if (typeof attempts !== 'number' || attempts < 2) return ''
  return endedAt === null ? `attempt ${attempts}` : `${attempts} attempts`
}

function Bar({ node, state, segments, scale, now }: BarProps) {
  const end = node.endedAt ?? now
  const right = scale.x(end)
  const left = scale.x(node.startedAt)
  if (right < 0 || left > 100) return null
  const isText = right < 84 ? 'after' : left > 16 ? 'before' : 'inside'
  return (
    <>
      {segments.map((segment) => {
        const from = Math.max(-1, scale.x(segment.from))
        const to = Math.min(101, scale.x(segment.to))
        if (to < 0 || from > 100) return null
        return (
          <span
            key={segment.from}
            class={`bar ${shapeOf(node)} ${state} ${segment.kind}`}
            style={{ left: `${from}%`, width: `${Math.max(0, to - from)}%` }}
          />
        )
      })}
      <span
        class={`length ${isText}`}
        style={
          isText === 'before'
            ? { right: `${100 - left}%` }
            : { left: `${isText === 'after' ? right : Math.max(0, left)}%` }
        }
      >
        {durationText(end - node.startedAt)}
      </span>
    </>
  )
}

interface BarProps {
  node: TraceNode
  state: string
  segments: readonly Segment[]
  scale: Scale
  now: number
}
