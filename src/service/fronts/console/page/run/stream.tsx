import { followEvents, type ReadPosition, runPath } from '../api.ts'
import { useVisible } from '../hooks.ts'
import { ErrorMessage } from '../parts.tsx'
import { useEffect, useRef, useState } from '../ui.ts'

interface Item {
  offset: number
  topic: string
  data: unknown
}

const MAX_ITEMS = 500

const FROM_START: ReadPosition = { id: undefined, isOver: false }

/** What the workflow publishes. Reading it adds events to the history, so the visitor decides. */
export function Stream({ workflowId, runId }: { workflowId: string; runId: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <section class="card stream" aria-label="Stream">
      <div class="details-head">
        <h2>Stream</h2>
        <button type="button" class="ghost" aria-expanded={String(isOpen)} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Stop reading' : 'Read it'}
        </button>
      </div>
      {isOpen ? (
        <Items workflowId={workflowId} runId={runId} />
      ) : (
        <p class="quiet small">
          Tokens, progress and results that the workflow publishes while it runs. Reading adds events to its history.
        </p>
      )}
    </section>
  )
}

function Items({ workflowId, runId }: { workflowId: string; runId: string }) {
  const [items, setItems] = useState<Item[]>([])
  const [state, setState] = useState<{ isOver: boolean; error: unknown }>({ isOver: false, error: null })
  const list = useRef<HTMLDivElement>(null)
  const position = useRef<ReadPosition>({ ...FROM_START })
  const isVisible = useVisible()
  useEffect(() => {
    if (!isVisible) return
    const controller = new AbortController()
    void read(controller.signal)
    return () => controller.abort()
  }, [isVisible])
  useEffect(() => {
    const element = list.current
    if (element) element.scrollTop = element.scrollHeight
  }, [items])

  async function read(signal: AbortSignal): Promise<void> {
    // Tokens come faster than a page can be drawn.
    let buffered: Item[] = []
    const flush = () => {
      if (buffered.length === 0) return
      const added = buffered
      buffered = []
      setItems((before) => [...before, ...added].slice(-MAX_ITEMS))
    }
    const timer = setInterval(flush, 100)
    try {
      const path = `${runPath({ workflowId, runId })}/stream`
      for await (const { event, data } of followEvents(path, {}, signal, position.current ?? FROM_START)) {
        if (event === 'item') buffered.push(data as Item)
        if (event === 'done') setState({ isOver: true, error: null })
      }
    } catch (error) {
      if (!signal.aborted) setState({ isOver: true, error })
    }
    clearInterval(timer)
    flush()
  }

  if (state.error !== null) return <ErrorMessage error={state.error} />
  return (
    <>
      <div class="items" ref={list} tabindex={0} role="log" aria-label="Items of the stream">
        {items.length === 0 && !state.isOver && <p class="quiet small">Waiting for items…</p>}
        {items.map(({ offset, topic, data }) => (
          <div key={offset} class="item">
            <span class="quiet number">{offset}</span> <span class="badge">{topic}</span>
            <code>{typeof data === 'string' ? data : JSON.stringify(data)}</code>
          </div>
        ))}
      </div>
      {state.isOver && <p class="quiet small">The stream has ended after {items.length} items.</p>}
    </>
  )
}
