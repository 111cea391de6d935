/** Small parts that all pages use. */
import { ApiError } from './api.ts'
import { agoText, durationText, fullTimeText, jsonText } from './format.ts'
import { useEffect, useRef, useState } from './ui.ts'

/** For fields whose text is not prose. `spellcheck={false}` would remove the attribute. */
export const VERBATIM = { autocomplete: 'off', spellcheck: 'false' } as { autocomplete: string }

export function statusText(status: string): string {
  const text = status.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export function StatusPill({ status }: { status: string }) {
  return <span class={`pill ${status}`}>{statusText(status)}</span>
}

export function Time({ at, now }: { at: string | number | null; now: number }) {
  if (at === null) return null
  const ms = new Date(at).getTime()
  return (
    <time datetime={new Date(ms).toISOString()} title={fullTimeText(ms)}>
      {agoText(ms, now)}
    </time>
  )
}

export function Duration({ from, to, now }: { from: string | null; to: string | null; now: number }) {
  const end = to === null ? now : new Date(to).getTime()
  return <span class="number">{durationText(Math.max(0, end - new Date(from ?? end).getTime()))}</span>
}

/** What went wrong, and what a person can do about it. */
export function Failure({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const problem = error instanceof ApiError ? error.problem : null
  return (
    <div class="failure" role="alert">
      <strong>{titleOf(error)}</strong>
      <p>{problem?.message ?? String(error)}</p>
      {problem?.requestId && (
        <p class="quiet small">
          Request <code>{problem.requestId}</code>
        </p>
      )}
      {retry && (
        <button type="button" class="secondary" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

function titleOf(error: unknown): string {
  if (!(error instanceof ApiError)) return 'Something went wrong on this page'
  const { status, title } = error.problem
  if (status === 403) return 'You may not do this'
  return title
}

export function CopyButton({
  text,
  label = 'Copy',
  class: className = 'ghost',
}: {
  text: () => string
  label?: string
  class?: string
}) {
  const [done, setDone] = useState(false)
  useEffect(() => {
    if (!done) return
    const timer = setTimeout(() => setDone(false), 1500)
    return () => clearTimeout(timer)
  }, [done])
  return (
    <button
      type="button"
      class={className}
      onClick={async () => {
        await copy(text())
        setDone(true)
      }}
    >
      {done ? 'Copied' : label}
    </button>
  )
}

/** Without HTTPS, pages other than those of this machine have no clipboard API. */
async function copy(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

/** A value as JSON that can be read, with its long parts closed. */
export function Json({ value, label }: { value: unknown; label: string }) {
  const text = jsonText(value)
  const lines = text.split('\n')
  const [all, setAll] = useState(false)
  const isLong = lines.length > MAX_LINES || text.length > MAX_CHARACTERS
  const shown = all || !isLong ? text : `${lines.slice(0, MAX_LINES).join('\n').slice(0, MAX_CHARACTERS)}\n…`
  return (
    <div class="json">
      <section class="value" tabindex={0} aria-label={label}>
        <pre>
          <code>{highlighted(shown)}</code>
        </pre>
      </section>
      <div class="json-tools">
        {isLong && (
          <button type="button" class="ghost" onClick={() => setAll(!all)}>
            {all ? 'Less' : `All ${lines.length} lines`}
          </button>
        )}
        <CopyButton text={() => text} />
      </div>
    </div>
  )
}

const MAX_LINES = 40
const MAX_CHARACTERS = 20_000

/** Of a larger text, the elements would take longer than the text is worth. */
const MAX_HIGHLIGHTED = 20_000

const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

function highlighted(text: string) {
  if (text.length > MAX_HIGHLIGHTED) return text
  const parts: unknown[] = []
  let at = 0
  for (const match of text.matchAll(TOKEN)) {
    parts.push(text.slice(at, match.index))
    const [token, string, colon] = match
    const kind = string === undefined ? 'literal' : colon === undefined ? 'string' : 'key'
    parts.push(<span class={kind}>{kind === 'key' ? string : token}</span>)
    if (colon !== undefined) parts.push(colon)
    at = match.index + token.length
  }
  parts.push(text.slice(at))
  return parts
}

/** A dialog that asks before something is done. */
export function Confirm({ title, children, action, danger = false, onClose, onConfirm }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [state, setState] = useState<{ busy: boolean; error: unknown }>({ busy: false, error: null })
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  return (
    <dialog ref={dialog} aria-label={title} onClose={onClose}>
      <form
        method="dialog"
        onSubmit={async (event: Event) => {
          event.preventDefault()
          setState({ busy: true, error: null })
          try {
            await onConfirm(new FormData(event.target as HTMLFormElement))
            dialog.current?.close()
          } catch (error) {
            setState({ busy: false, error })
          }
        }}
      >
        <h2>{title}</h2>
        {children}
        {state.error !== null && <Failure error={state.error} />}
        <div class="buttons end">
          <button type="button" class="secondary" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class={danger ? 'danger' : 'primary'} disabled={state.busy}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  )
}

interface ConfirmProps {
  title: string
  children?: unknown
  action: string
  danger?: boolean
  onClose: () => void
  onConfirm: (form: FormData) => Promise<void>
}
