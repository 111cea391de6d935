import { call, newKey, runPath } from '../api.ts'
import type { May } from '../capabilities.ts'
import type { CatalogWorkflow, Handler } from '../catalog.ts'
import { FormFailure, SchemaForm } from '../forms/schema-form.tsx'
import { useForm } from '../forms/use-form.ts'
import { useAct } from '../hooks.ts'
import { CopyButton, ErrorMessage, Input, Json, onText, submitting, VERBATIM } from '../parts.tsx'
import { useEffect, useRef, useState } from '../ui.ts'
import { curlOf } from './curl.ts'

export type SentKind = 'signal' | 'update' | 'query'

export interface OpenForm {
  kind: SentKind
  name: string
  /** Changes with each request to open it. */
  at: number
}

interface MessagesProps {
  may: May
  target: Target
  isOpen: boolean
  workflow: CatalogWorkflow | null
  opened: OpenForm | null
  onSent: () => void
}

const OF_OPEN_RUNS = ['signal', 'update', 'query'] as const
const OF_CLOSED_RUNS = ['query'] as const

const MEMBERS = { signal: 'signals', update: 'updates', query: 'queries' } as const

const TITLES = { signal: 'Signal', update: 'Update', query: 'Query' } as const

/** Forms for the handlers that the catalog publishes, and one for any other. */
export function Messages({ may, target, isOpen, workflow, opened, onSent }: MessagesProps) {
  const kinds = (isOpen ? OF_OPEN_RUNS : OF_CLOSED_RUNS).filter((kind) => may(kind))
  const handlers = kinds.flatMap((kind) =>
    (workflow?.[MEMBERS[kind]] ?? [])
      .filter(({ name }) => may(kind, name))
      .map((handler): [SentKind, Handler] => [kind, handler]),
  )
  if (kinds.length === 0) return null
  return (
    <section class="card messages" aria-label="Messages">
      <h2>Messages</h2>
      {handlers.length === 0 && (
        <p class="quiet small">
          {workflow === null
            ? 'The catalog does not publish this workflow, so its handlers are not known.'
            : 'The workflow publishes none that you can send.'}
        </p>
      )}
      {handlers.map(([kind, handler]) => (
        <HandlerForm
          key={`${kind} ${handler.name}`}
          kind={kind}
          handler={handler}
          target={target}
          opened={opened}
          onSent={onSent}
        />
      ))}
      <OtherMessage target={target} kinds={kinds} onSent={onSent} />
    </section>
  )
}

function HandlerForm({ kind, handler, target, opened, onSent }: HandlerFormProps) {
  const details = useRef<HTMLDetailsElement>(null)
  const form = useForm(handler.inputSchema, 'payload')
  const { busy, error, done, send } = useSend(kind, target, onSent)
  const takesInput = handler.inputSchema !== null
  const body = () =>
    takesInput ? form.text((payload) => (payload === undefined ? undefined : `{"payload":${payload}}`)) : undefined
  useEffect(() => {
    const element = details.current
    if (opened?.kind !== kind || opened.name !== handler.name || element === null || element === undefined) return
    element.open = true
    element.scrollIntoView({ block: 'center' })
    element.querySelector<HTMLElement>('input, textarea, select, button')?.focus()
  }, [opened])
  return (
    <details ref={details} class="handler">
      <summary>
        <span class={`badge ${kind}`}>{TITLES[kind]}</span> <strong>{handler.name}</strong>
        {handler.description !== null && <span class="quiet small"> {handler.description}</span>}
      </summary>
      <form
        class="stack"
        noValidate
        aria-label={`${TITLES[kind]} ${handler.name}`}
        onSubmit={submitting(() => send(handler.name, body()))}
      >
        {takesInput && <SchemaForm form={form} error={error} />}
        <FormFailure form={form} error={error} />
        <Outcome kind={kind} done={done} />
        <div class="buttons">
          <button type="submit" class="primary" disabled={busy}>
            {kind === 'query' ? 'Send query' : `Send ${kind}`}
          </button>
          <CopyButton
            label="Copy as curl"
            text={() => curlOf('POST', messagePath(target, kind, handler.name), body())}
          />
        </div>
      </form>
    </details>
  )
}

interface Target {
  workflowId: string
  runId: string
}

interface Sending {
  target: Target
  onSent: () => void
}

interface HandlerFormProps extends Sending {
  kind: SentKind
  handler: Handler
  opened: OpenForm | null
}

function OtherMessage({ target, kinds, onSent }: Sending & { kinds: readonly SentKind[] }) {
  const [chosen, setKind] = useState<SentKind | null>(null)
  const kind = kinds.find((one) => one === chosen) ?? kinds[0] ?? 'query'
  const { busy, error, done, send } = useSend(kind, target, onSent)
  return (
    <details class="handler">
      <summary>
        <strong>Another message</strong> <span class="quiet small">by its name</span>
      </summary>
      <form
        class="stack"
        aria-label="Another message"
        onSubmit={submitting((form) => {
          const payload = String(form.get('payload')).trim()
          return send(String(form.get('name')), payload === '' ? undefined : `{"payload":${payload}}`)
        })}
      >
        <div class="pair">
          <label>
            <span>Kind</span>
            <select onChange={onText((chosen) => setKind(chosen as SentKind))}>
              {kinds.map((one) => (
                <option key={one} value={one} selected={one === kind}>
                  {TITLES[one]}
                </option>
              ))}
            </select>
          </label>
          <Input label="Name" name="name" required />
        </div>
        <label>
          <span>Argument, as JSON (empty for none)</span>
          <textarea name="payload" rows={3} {...VERBATIM} class="code" />
        </label>
        {error !== null && <ErrorMessage error={error} />}
        <Outcome kind={kind} done={done} />
        <div class="buttons">
          <button type="submit" class="primary" disabled={busy}>
            Send {kind}
          </button>
        </div>
      </form>
    </details>
  )
}

interface Done {
  result: unknown
  warnings: string[]
}

function messagePath(target: Target, kind: SentKind, name: string): string {
  return `${runPath(target)}/${kind}/${encodeURIComponent(name)}`
}

function useSend(kind: SentKind, target: Target, onSent: () => void) {
  const [done, setDone] = useState<Done | null>(null)
  const { busy, error, act } = useAct()
  async function send(name: string, body: string | undefined): Promise<void> {
    setDone(null)
    const failed = await act(async () => {
      // A query changes nothing; the others must not be carried out twice if a browser or a proxy sends them again.
      const headers = kind === 'query' ? {} : { 'Idempotency-Key': newKey() }
      const { body: result } = await call<unknown>(messagePath(target, kind, name), {
        method: 'POST',
        headers,
        ...(body !== undefined && { body }),
      })
      const warnings = (result as { warnings?: string[] } | null)?.warnings ?? []
      setDone({ result, warnings })
    })
    if (failed === null && kind !== 'query') onSent()
  }
  return { busy, error, done, send }
}

function Outcome({ kind, done }: { kind: SentKind; done: Done | null }) {
  if (done === null) return null
  return (
    <div role="status" class="sent">
      {kind === 'signal' ? <p>Accepted.</p> : <Json value={done.result} label="Result" />}
      {done.warnings.map((warning) => (
        <p class="warning">{warning}</p>
      ))}
    </div>
  )
}
