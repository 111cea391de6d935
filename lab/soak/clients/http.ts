/** Bare HTTP: each operation is one request. */
import { acknowledged, failed, type Intent, type Performed, type Send } from './intent.ts'

const TIMEOUT_MS = 90_000

export function httpClient(url: string): Send {
  return async (intent) => {
    const { leaveAfterMs = TIMEOUT_MS } = intent
    try {
      const response = await fetch(url + pathOf(intent), {
        ...toInit(intent),
        signal: AbortSignal.timeout(leaveAfterMs),
      })
      return read(intent, response, await response.json())
    } catch (error) {
      return failed(intent, 'ConnectionError', String(error))
    }
  }
}

interface Body {
  error?: string
  message?: string
  runId?: string
  updateId?: string
  mayHaveTakenEffect?: boolean
}

function read(intent: Intent, { ok, status, headers }: Response, body: Body | null): Performed {
  if (!ok) {
    const isRepeatable = headers.has('Retry-After')
    return failed(intent, body?.error ?? String(status), body?.message ?? '', { ...body, isRepeatable })
  }
  const done = acknowledged(intent, body, headers.get('Idempotency-Replayed'))
  // A start that found the run of another request.
  const isFound = headers.get('Portico-Started') === 'false'
  const answer = { ...done.answer, ...(isFound && { started: false }), ...(status === 202 && { isAccepted: true }) }
  return { ...done, answer }
}

function pathOf({ op, workflowId, runId, handler = '' }: Intent): string {
  const workflow = `/workflow/${workflowId}${runId === undefined ? '' : `/runs/${runId}`}`
  switch (op) {
    case 'start':
    case 'run':
      return `/workflow/${op}`
    case 'signal-with-start':
    case 'update-with-start':
      return `/workflow/${op}/${handler}`
    case 'signal':
    case 'update':
    case 'query':
      return `${workflow}/${op}/${handler}`
    case 'result':
      return `${workflow}/result?wait=20s`
    default:
      return `${workflow}/${op}`
  }
}

function toInit(intent: Intent): RequestInit {
  const { op, key, marker, isAsync } = intent
  if (op === 'status' || op === 'result') return { method: 'GET' }
  const isEnd = op === 'stop' || op === 'terminate' || op === 'reset'
  return {
    method: op === 'stop' ? 'PATCH' : 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(key !== undefined && { 'Idempotency-Key': key }),
      ...(isAsync && { Prefer: 'respond-async' }),
    },
    body: JSON.stringify(isEnd ? { reason: marker, ...(op === 'reset' && { stepName: 'step' }) } : bodyOf(intent)),
  }
}

function bodyOf({ op, workflowId, workflowName, input, conflictPolicy, payload, timeoutMs = 30_000 }: Intent): object {
  const start = {
    workflowId,
    workflowName,
    input,
    ...(conflictPolicy && { workflowIdConflictPolicy: conflictPolicy }),
    ...(op === 'run' && { timeout: timeoutMs }),
  }
  if (op === 'start' || op === 'run') return start
  const message = payload === undefined ? {} : { payload }
  return op === 'signal-with-start' || op === 'update-with-start' ? { ...start, ...message } : message
}
