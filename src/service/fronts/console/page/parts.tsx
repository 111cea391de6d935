/** Small parts that all pages use. */
import { ApiError } from './api.ts'
import { agoText, durationText, fullTimeText, jsonText } from './format.ts'
import { useAct } from './hooks.ts'
import { useEffect, useRef, useState } from './ui.ts'

/** For fields whose text is not prose. `spellcheck={false}` would remove the attribute. */
export const VERBATIM = { autocomplete: 'off', spellcheck: 'false' } as { autocomplete: string }

/** A field with its label. */
export function Input({ label, ...rest }: { label: string } & Record<string, unknown>) {
  return (
    <label>
      <span>{label}</span>
      <input {...VERBATIM} {...rest} />
    </label>
  )
}

/** For a field whose text is kept. */
export function onText(set: (text: string) => void) {
  return ({ target }: Event) => set((target as HTMLInputElement).value)
}

/** What a form does instead of being submitted, which the policy of the page forbids. */
export function submitting(act: (form: FormData, submitter: HTMLElement | null) => unknown) {
  return (event: Event) => {
    event.preventDefault()
    void act(new FormData(event.target as HTMLFormElement), (event as SubmitEvent).submitter)
  }
}

export function statusText(status: string): string {
  const text = status.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** A link of a list that shows a part of it. */
export function Tab({ label, kind = 'all', count = null, href, isCurrent }: TabProps) {
  return (
    <a href={href} class={`tab ${kind}`} aria-current={isCurrent ? 'page' : undefined}>
      {kind !== 'all' && <span class="dot" aria-hidden="true" />}
      {label} {count !== null && <span class="count">{count.toLocaleString()}</span>}
    </a>
  )
}

interface TabProps {
  label: string
  kind?: string
  count?: number | null
  href: string
  isCurrent: boolean
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

export function Elapsed({ from, to, now }: { from: string | null; to: string | null; now: number }) {
  const end = to === null ? now : new Date(to).getTime()
  return <span class="number">{durationText(Math.max(0, end - new Date(from ?? end).getTime()))}</span>
}

/** What went wrong, and what a person can do about it. */
export function ErrorMessage({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const problem = error instanceof ApiError ? error.problem : null
  return (
    <div class="failure" role="alert">
      <strong>{titleOf(error)}</strong>
      <p>{error instanceof Error ? error.message : String(error)}</p>
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
  if (error instanceof SyntaxError) return 'The JSON is not valid'
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

export function Facts({ facts }: { facts: readonly (readonly [name: string, value: unknown])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</dd>
        </div>
      ))}
    </dl>
  )
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
  const { busy, error, act } = useAct()
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  return (
    <dialog ref={dialog} aria-label={title} onClose={onClose}>
      <form
        method="dialog"
        onSubmit={submitting(async (form) => {
          if ((await act(() => onConfirm(form))) === null) dialog.current?.close()
        })}
      >
        <h2>{title}</h2>
        {children}
        {error !== null && <ErrorMessage error={error} />}
        <div class="buttons end">
          <button type="button" class="secondary" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class={danger ? 'danger' : 'primary'} disabled={busy}>
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
