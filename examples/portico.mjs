/** A client for Portico without dependencies, as SKILL.md describes it. */
const url = process.env.PORTICO_URL ?? 'http://localhost:3001'
const token = process.env.PORTICO_TOKEN
const MAX_ATTEMPTS = 6

/** An error response. `name` is the `error` of the body, which `problem` has. */
export class PorticoError extends Error {
  constructor(problem) {
    super(problem.message)
    this.name = problem.error
    this.problem = problem
  }
}

/** Sends a request, and repeats it while that is safe. */
async function send(method, path, body, key) {
  const isRetryable = method === 'GET' || key !== undefined
  const headers = headersOf(body, key)
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === MAX_ATTEMPTS
    const request = { method, headers, body: JSON.stringify(body), signal: AbortSignal.timeout(90_000) }
    const response = await fetch(url + path, request).catch((error) => {
      // The response was lost: nobody knows whether the request was carried out.
      if (!isRetryable || isLast) throw error
      return null
    })
    if (response?.ok) return response.json()
    if (response !== null) {
      const { status } = response
      // A proxy may respond with something else than JSON.
      const problem = await response
        .json()
        .catch(() => ({ status, error: 'HttpError', message: `HTTP status ${status}` }))
      const isTransient = response.headers.has('Retry-After') || (isRetryable && [429, 502, 503, 504].includes(status))
      if (!isTransient || isLast || status === 424) throw new PorticoError(problem)
    }
    const seconds = Number(response?.headers.get('Retry-After') ?? 1)
    await new Promise((resolve) => setTimeout(resolve, Math.max(seconds, 2 ** attempt / 4) * 1000))
  }
}

function headersOf(body, key) {
  return {
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(key !== undefined && { 'Idempotency-Key': key }),
  }
}

const pathOf = (workflowId, rest) => `/workflow/${encodeURIComponent(workflowId)}/${rest}`

/** Waits for the result of a run, however long that takes. Throws if the workflow did not complete. */
export async function result(workflowId) {
  for (;;) {
    try {
      return outputOf(await send('GET', pathOf(workflowId, 'result?wait=25s')))
    } catch (error) {
      if (error.name !== 'WorkflowExecutionTimedOutError') throw error
    }
  }
}

/** Starts a workflow once for each key, and returns its ids. */
export function start(workflowName, input, { key = crypto.randomUUID(), ...options } = {}) {
  return send('POST', '/workflow/start', { workflowName, input, ...options }, key)
}

/** Starts a workflow and waits for its output. Throws if the workflow did not complete. */
export async function run(workflowName, input, options) {
  const { workflowId } = await start(workflowName, input, options)
  return result(workflowId)
}

function outputOf({ status, output, error, errorDetails }) {
  if (status === 'completed') return output
  throw Object.assign(new Error(`The workflow has ${status}: ${error}`), { status, details: errorDetails })
}

/** `kind` is `query`, `update` or `signal`. Without `payload` the handler gets no argument. */
export async function message(workflowId, kind, name, payload, key = crypto.randomUUID()) {
  // The engine knows the key only within a run. Without the run id a repeat could reach the next run of the workflow.
  const { runId } = await send('GET', pathOf(workflowId, 'status'))
  const body = payload === undefined ? undefined : { payload }
  // A query ignores the key.
  return send('POST', pathOf(workflowId, `runs/${runId}/${kind}/${encodeURIComponent(name)}`), body, key)
}

/** All runs that match the filter, page by page. */
export async function* list(filter) {
  const parameters = new URLSearchParams(filter)
  for (let token = ''; token !== null; ) {
    if (token !== '') parameters.set('pageToken', token)
    const page = await send('GET', `/workflow/runs?${parameters}`)
    yield* page.runs
    token = page.nextPageToken
  }
}
