import type { WorkflowResult } from '../../../../../client/responses.ts'
import { ApiError, BASE, call, get, newKey, runPath } from '../api.ts'
import type { CatalogListing, CatalogWorkflow } from '../catalog.ts'
import { durationText, jsonText } from '../format.ts'
import { SchemaForm } from '../forms/schema-form.tsx'
import { useForm } from '../forms/use-form.ts'
import { CopyButton, Failure, Json, StatusPill, VERBATIM } from '../parts.tsx'
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

type State =
  | { kind: 'ready' }
  | { kind: 'busy'; verb: 'run' | 'start' }
  | { kind: 'failed'; error: unknown }
  | { kind: 'done'; result: WorkflowResult; tookMs: number; warning: string | null }

/** How long the page waits for a result before it shows the running run instead. */
const WAIT_S = 10

/** A form for the input of a workflow. Each press of a button starts at most one run. */
export function StartForm({ workflow, listing, like, likeRun, mayRead }: StartFormProps) {
  const [args, setArgs] = useState<readonly unknown[]>([])
  const form = useForm(workflow.inputSchema, 'input', args[0])
  const [more, setMore] = useState('')
  const [workflowId, setWorkflowId] = useState('')
  const [state, setState] = useState<State>({ kind: 'ready' })
  const keys = useKeys()

  useEffect(() => {
    if (like === null) return
    get<{ args: unknown[] }>(`${runPath({ workflowId: like, runId: likeRun })}/input`).then(
      ({ args: found }) => {
        setArgs(found)
        setMore(found.length > 1 ? jsonText(found.slice(1)) : '')
      },
      (error: unknown) => setState({ kind: 'failed', error }),
    )
  }, [like, likeRun])

  const entered = (input = form.value()) => ({
    workflow: workflow.name,
    catalog: listing.catalog,
    workflowId,
    input,
    more,
  })

  async function send(verb: Verb): Promise<void> {
    setState({ kind: 'busy', verb })
    try {
      const next = await start(verb, bodyOf(entered()), keys)
      if (typeof next === 'string') navigate(next)
      else setState(next)
    } catch (error) {
      setState({ kind: 'failed', error })
    }
  }

  const error = state.kind === 'failed' ? state.error : null
  const issues = error instanceof ApiError ? (error.problem.issues ?? []) : []
  const placed = form.places(issues)
  const takesInput = workflow.inputSchema !== null || workflow.inputOptional !== true || args.length > 0
  return (
    <>
      <form
        class="card stack"
        noValidate
        aria-label={`Start ${workflow.name}`}
        onSubmit={(event: Event) => {
          event.preventDefault()
          const { submitter } = event as SubmitEvent
          void send(
            !mayRead || (submitter instanceof HTMLButtonElement && submitter.value === 'start') ? 'start' : 'run',
          )
        }}
      >
        <div>
          <a class="back" href={hrefOf('start', { catalog: listing.catalog })}>
            ‹ All workflows
          </a>
          <h2>{workflow.name}</h2>
          {workflow.description !== null && <p class="quiet">{workflow.description}</p>}
          {like !== null && <p class="quiet small">Filled in with the input of {like}.</p>}
        </div>
        {takesInput ? <SchemaForm form={form} issues={issues} /> : <p class="quiet small">It takes no input.</p>}
        {args.length > 1 && (
          <label>
            <span>Further arguments, as a JSON array</span>
            <textarea
              class="code"
              rows={4}
              {...VERBATIM}
              value={more}
              onInput={(event: Event) => setMore(textOf(event))}
            />
          </label>
        )}
        <label class="id-label">
          <span>
            Workflow id <span class="optional">optional</span>
          </span>
          <input
            name="workflowId"
            {...VERBATIM}
            placeholder="generated"
            value={workflowId}
            onInput={(event: Event) => setWorkflowId(textOf(event))}
          />
        </label>
        {error !== null && (
          <Problem
            error={error}
            isAtFields={issues.length > 0 && issues.every(({ path }) => placed.has(path))}
            count={issues.length}
          />
        )}
        <Buttons state={state} mayRead={mayRead}>
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
      {state.kind === 'done' && <Result state={state} />}
    </>
  )
}

type Verb = 'run' | 'start'

function textOf({ target }: Event): string {
  return (target as HTMLInputElement | HTMLTextAreaElement).value
}

/** A request that may have arrived is repeated with its key; another one has a key of its own. */
function useKeys(): Keys {
  const last = useRef<{ body: string; key: string } | null>(null)
  return {
    of(body) {
      if (last.current?.body !== body) last.current = { body, key: newKey() }
      return last.current.key
    },
    forget() {
      last.current = null
    },
  }
}

interface Keys {
  of(body: string): string
  forget(): void
}

/** The result, or the page of the run. */
async function start(verb: Verb, body: string, keys: Keys): Promise<string | State> {
  const begun = performance.now()
  const prefer = verb === 'run' ? { Prefer: `respond-async, wait=${WAIT_S}` } : {}
  const headers = { 'Idempotency-Key': keys.of(body), ...prefer }
  try {
    const response = await call<WorkflowResult>(`workflow/${verb}`, { method: 'POST', body, headers })
    keys.forget()
    const { status, body: result } = response
    if (verb === 'start' || status === 202) return runHref(result.workflowId, result.runId)
    const warning = response.headers.get('Portico-Output-Warning')
    return { kind: 'done', result, tookMs: performance.now() - begun, warning }
  } catch (error) {
    if (error instanceof ApiError && error.problem.status !== 0) keys.forget()
    throw error
  }
}

function Problem({ error, isAtFields, count }: { error: unknown; isAtFields: boolean; count: number }) {
  if (!isAtFields) return <Failure error={readable(error)} />
  return (
    <p class="issue summary" role="alert">
      {count === 1 ? 'One field is not valid.' : `${count} fields are not valid.`} Nothing was started.
    </p>
  )
}

function Buttons({ state, mayRead, children }: { state: State; mayRead: boolean; children: Child }) {
  const verb = state.kind === 'busy' ? state.verb : null
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

function Result({ state }: { state: State & { kind: 'done' } }) {
  const { result, tookMs, warning } = state
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

function readable(error: unknown): unknown {
  if (!(error instanceof SyntaxError)) return error
  return new ApiError({ status: 0, error: 'SyntaxError', title: 'The JSON is not valid', message: error.message })
}
