import type { WorkflowResult } from '../../../../../client/responses.ts'
import { ApiError, BASE, call, get, newKey, runPath } from '../api.ts'
import type { CatalogListing, CatalogWorkflow } from '../catalog.ts'
import { durationText, jsonText } from '../format.ts'
import { FormFailure, SchemaForm } from '../forms/schema-form.tsx'
import { useForm } from '../forms/use-form.ts'
import { useAct } from '../hooks.ts'
import { CopyButton, Input, Json, onText, StatusPill, submitting, VERBATIM } from '../parts.tsx'
import { hrefOf, navigate, runHref } from '../route.ts'
import { curlOf } from '../run/curl.ts'
import { type Child, useEffect, useRef, useState } from '../ui.ts'
import { bodyOf, codeOf } from './start-request.ts'

interface StartFormProps {
  workflow: CatalogWorkflow
  listing: CatalogListing
  like: string | null
  likeRun: string | null
  /** Whether the visitor may wait for the result. */
  mayRead: boolean
}

interface Done {
  result: WorkflowResult
  tookMs: number
  warning: string | null
}

/** The last request whose fate is not known: it is repeated with its key. */
interface Sent {
  body: string
  key: string
}

/** How long the page waits for a result before it shows the running run instead. */
const WAIT_S = 10

/** A form for the input of a workflow. Each press of a button starts at most one run. */
export function StartForm({ workflow, listing, like, likeRun, mayRead }: StartFormProps) {
  const [args, setArgs] = useState<readonly unknown[]>([])
  const form = useForm(workflow.inputSchema, 'input', args[0])
  const [more, setMore] = useState('')
  const [workflowId, setWorkflowId] = useState('')
  const [verb, setVerb] = useState<Verb | null>(null)
  const [done, setDone] = useState<Done | null>(null)
  const { busy, error, act } = useAct()
  const sent = useRef<Sent>({ body: '', key: '' })

  useEffect(() => {
    if (like === null) return
    void act(async () => {
      const { args: found } = await get<{ args: unknown[] }>(`${runPath({ workflowId: like, runId: likeRun })}/input`)
      setArgs(found)
      setMore(found.length > 1 ? jsonText(found.slice(1)) : '')
    })
  }, [like, likeRun])

  const entered = (input = form.value()) => ({
    workflow: workflow.name,
    catalog: listing.catalog,
    workflowId,
    input,
    more,
  })

  async function send(chosen: Verb): Promise<void> {
    const next = await start(chosen, bodyOf(entered()), sent.current as Sent)
    if (typeof next === 'string') navigate(next)
    else setDone(next)
  }

  const takesInput = workflow.inputSchema !== null || workflow.inputOptional !== true || args.length > 0
  return (
    <>
      <form
        class="card stack"
        noValidate
        aria-label={`Start ${workflow.name}`}
        onSubmit={submitting((_, button) => {
          const chosen = mayRead && button?.getAttribute('value') !== 'start' ? 'run' : 'start'
          setVerb(chosen)
          setDone(null)
          return act(() => send(chosen))
        })}
      >
        <div>
          <a class="back" href={hrefOf('start', { catalog: listing.catalog })}>
            ‹ All workflows
          </a>
          <h2>{workflow.name}</h2>
          {workflow.description !== null && <p class="quiet">{workflow.description}</p>}
          {like !== null && <p class="quiet small">Filled in with the input of {like}.</p>}
        </div>
        {takesInput ? <SchemaForm form={form} error={error} /> : <p class="quiet small">It takes no input.</p>}
        {args.length > 1 && (
          <label>
            <span>Further arguments, as a JSON array</span>
            <textarea class="code" rows={4} {...VERBATIM} value={more} onInput={onText(setMore)} />
          </label>
        )}
        <Input
          label="Workflow id (optional)"
          name="workflowId"
          placeholder="generated"
          value={workflowId}
          onInput={onText(setWorkflowId)}
        />
        <FormFailure form={form} error={error} />
        <Buttons verb={busy ? verb : null} mayRead={mayRead}>
          <CopyButton
            label="Copy as curl"
            text={() =>
              form.text((input) => curlOf('POST', `workflow/${mayRead ? 'run' : 'start'}`, bodyOf(entered(input)))) ??
              ''
            }
          />
          <CopyButton
            label="Copy client code"
            text={() => form.text((input) => codeOf(BASE.href, entered(input))) ?? ''}
          />
        </Buttons>
      </form>
      {done !== null && <Result {...done} />}
    </>
  )
}

type Verb = 'run' | 'start'

/** The result, or the page of the run. */
async function start(verb: Verb, body: string, sent: Sent): Promise<string | Done> {
  if (sent.body !== body) Object.assign(sent, { body, key: newKey() })
  const begun = performance.now()
  const prefer = verb === 'run' ? { Prefer: `respond-async, wait=${WAIT_S}` } : {}
  const headers = { 'Idempotency-Key': sent.key, ...prefer }
  try {
    const response = await call<WorkflowResult>(`workflow/${verb}`, { method: 'POST', body, headers })
    sent.body = ''
    const { status, body: result } = response
    if (verb === 'start' || status === 202) return runHref(result.workflowId, result.runId)
    const warning = response.headers.get('Portico-Output-Warning')
    return { result, tookMs: performance.now() - begun, warning }
  } catch (error) {
    if (error instanceof ApiError && error.problem.status !== 0) sent.body = ''
    throw error
  }
}

function Buttons({ verb, mayRead, children }: { verb: Verb | null; mayRead: boolean; children: Child }) {
  return (
    <>
      <div class="buttons">
        {mayRead && (
          <button type="submit" class="primary" name="verb" value="run" disabled={verb !== null}>
            {verb === 'run' ? 'Running…' : 'Run'}
          </button>
        )}
        <button type="submit" class="secondary" name="verb" value="start" disabled={verb !== null}>
          {verb === 'start' ? 'Starting…' : 'Start'}
        </button>
        <span class="spacer-x" />
        {children}
      </div>
      {mayRead && (
        <p class="hint">
          Run waits for the result, up to {WAIT_S} s, and then shows the run. Start shows the run at once.
        </p>
      )}
    </>
  )
}

function Result({ result, tookMs, warning }: Done) {
  return (
    <section class="card result" aria-label="Result" aria-live="polite">
      <div class="details-head">
        <h2>
          Result <StatusPill status={result.status} />
        </h2>
        <span class="quiet small">{durationText(tookMs)}</span>
      </div>
      {warning !== null && <p class="warning">{warning}</p>}
      {result.status === 'completed' ? (
        <Json value={result.output} label="Output" />
      ) : (
        <div class="error-box">
          <p>
            <code>{result.errorDetails?.name}</code> {result.error}
          </p>
        </div>
      )}
      <p>
        <a class="button secondary" href={runHref(result.workflowId, result.runId)}>
          Show the run
        </a>
      </p>
    </section>
  )
}
