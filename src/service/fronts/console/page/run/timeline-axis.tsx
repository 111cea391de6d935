import { MIN_SPAN_MS, type Scale, type TimeRange } from '../../../../../shared/trace-view/scale.ts'
import { clockText, coarseText, durationText } from '../format.ts'
import { useState } from '../ui.ts'

/** The times above the bars. Dragging over them chooses the part to show. */
export function Axis({ scale, ticks, origin, onRange }: AxisProps) {
  const [drag, setDrag] = useState<TimeRange | null>(null)
  const timeAt = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect()
    const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width))
    return scale.timeAt(100 * share)
  }
  const low = drag && Math.min(drag.from, drag.to)
  const high = drag && Math.max(drag.from, drag.to)
  return (
    <div class="axis" aria-hidden="true">
      <div class="axis-label quiet small">{clockText(Math.max(scale.from, origin))}</div>
      <div
        class="axis-times"
        title="Drag to zoom"
        onPointerDown={(event: PointerEvent) => {
          ;(event.currentTarget as HTMLElement).setPointerCapture(event.pointerId)
          setDrag({ from: timeAt(event), to: timeAt(event) })
        }}
        onPointerMove={(event: PointerEvent) => drag && setDrag({ ...drag, to: timeAt(event) })}
        onPointerUp={() => {
          if (low !== null && high !== null && scale.x(high) - scale.x(low) > 1)
            onRange({ from: low, to: Math.max(high, low + MIN_SPAN_MS) })
          setDrag(null)
        }}
      >
        {scale.parts.map(({ from, to, x, width, isIdle }) =>
          isIdle ? (
            <span key={from} class="idle" style={{ left: `${x}%`, width: `${width}%` }}>
              {coarseText(to - from)}
            </span>
          ) : null,
        )}
        {ticks.filter(hasRoom(scale)).map((at) => (
          <span key={at} class={scale.x(at) > 90 ? 'tick last' : 'tick'} style={{ left: `${scale.x(at)}%` }}>
            {at === origin ? '0' : durationText(at - origin)}
          </span>
        ))}
        {low !== null && high !== null && (
          <span class="range" style={{ left: `${scale.x(low)}%`, width: `${scale.x(high) - scale.x(low)}%` }} />
        )}
      </div>
    </div>
  )
}

// Percent of the axis.
const LABEL_WIDTH = 10

/** Whether a label ends before a part with a label of its own begins. */
function hasRoom({ parts, x }: Scale): (at: number) => boolean {
  const idle = parts.filter(({ isIdle }) => isIdle)
  return (at) => !idle.some((part) => part.x >= x(at) && part.x < x(at) + LABEL_WIDTH)
}

interface AxisProps {
  scale: Scale
  ticks: readonly number[]
  origin: number
  onRange: (view: TimeRange) => void
}

export function Grid({ scale, ticks, now }: { scale: Scale; ticks: readonly number[]; now: number | null }) {
  return (
    <div class="grid" aria-hidden="true">
      {scale.parts.map(({ from, x, width, isIdle }) =>
        isIdle ? <s key={from} style={{ left: `${x}%`, width: `${width}%` }} /> : null,
      )}
      {ticks.map((at) => (
        <i key={at} style={{ left: `${scale.x(at)}%` }} />
      ))}
      {now !== null && scale.x(now) <= 100 && <b style={{ left: `${scale.x(now)}%` }} />}
    </div>
  )
}
