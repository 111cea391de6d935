/**
 * Calls every endpoint of the API with fetch, using the workflows in this folder, and checks the responses.
 *
 * Reads PORTICO_URL (default http://127.0.0.1:3001) and PORTICO_TOKEN, if the server requires a token.
 * Exits with code 1 at the first unexpected response.
 */
import assert from 'node:assert/strict'

const url = process.env.PORTICO_URL || 'http://127.0.0.1:3001'
const token = process.env.PORTICO_TOKEN

interface JsonResponse {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: the checks below assert its shape
  body: any
  headers: Headers
}

async function send(
  method: string,
  path: string,
  body?: unknown,
  moreHeaders: Record<string, string> = {},
): Promise<JsonResponse> {
  const headers = {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(token && { authorization: `Basic ${token}` }),
    ...moreHeaders,
  }
  const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
  const text = await response.text()
  return { status: response.status, body: text === '' ? null : JSON.parse(text), headers: response.headers }
}

const get = (path: string, headers?: Record<string, string>) => send('GET', path, undefined, headers)
const post = (path: string, body?: unknown, headers?: Record<string, string>) => send('POST', path, body, headers)
const patch = (path: string, body?: unknown) => send('PATCH', path, body)

/** Unique, so that this script can run more than once. */
const newOrderId = () => `order-${crypto.randomUUID()}`

/** Starts an order that waits for approval, and returns the path of its workflow. */
async function startWaitingOrder(orderId: string): Promise<string> {
  const input = { orderId, amount: 250, card: '4242' }
  const started = await post('/workflow/start', { workflowName: 'order', workflowId: orderId, input })
  assert.deepEqual({ ...started.body, runId: 'any' }, { workflowId: orderId, runId: 'any', status: 'running' })
  assert.equal(started.headers.get('location'), `/workflow/${orderId}/result`)

  const path = `/workflow/${orderId}`
  await until(async () => (await post(`${path}/query/progress`)).body.stage === 'waiting_for_approval')
  return path
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!(await condition())) {
    assert.ok(Date.now() < deadline, 'the condition was not met within 10 s')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const examples: Record<string, () => Promise<void>> = {
  async 'check that the server is healthy and reaches the engine'() {
    const health = await get('/health')
    assert.deepEqual([health.status, health.body], [200, { status: 'ok' }])
    const ready = await get('/ready')
    assert.deepEqual([ready.status, ready.body.engine], [200, 'reachable'])
    const capabilities = await get('/capabilities')
    assert.equal(capabilities.status, 200)
    assert.equal(typeof capabilities.body.features.slashInIds, 'boolean')
  },

  async 'list the workflows in the catalog'() {
    const { status, body, headers } = await get('/workflow/catalog')
    assert.equal(status, 200)
    const [greet, order] = ['greet', 'order'].map((name) =>
      body.workflows.find((workflow: { name: string }) => workflow.name === name),
    )
    assert.deepEqual(greet.aliases, ['hello'])
    assert.deepEqual(greet.inputSchema.required, ['name'])
    assert.deepEqual(
      [order.signals, order.queries, order.updates].map(([handler]) => handler.name),
      ['approve', 'progress', 'priority'],
    )

    const named = await get(`/workflow/catalog/${encodeURIComponent(body.catalog)}`)
    assert.deepEqual(named.body, body)
    const unchanged = await get('/workflow/catalog', { 'if-none-match': headers.get('etag') ?? '' })
    assert.equal(unchanged.status, 304)
  },

  async 'get the OpenAPI document, with the types of the workflows'() {
    const { status, body } = await get('/openapi.json')
    assert.equal(status, 200)
    assert.equal(body.paths['/workflow/run#greet'].post.operationId, 'run_greet')
    assert.deepEqual(body.components.schemas.greet_input.required, ['name'])
  },

  async 'run a workflow and wait for its result'() {
    const { status, body } = await post('/workflow/run', { workflowName: 'greet', input: { name: 'Ada' } })
    assert.equal(status, 200)
    const { workflowId, runId, trace, ...result } = body
    assert.ok(workflowId && runId)
    // The trace's destinations, or null if the worker writes no traces.
    assert.ok(trace === null || trace.destinations)
    assert.deepEqual(result, {
      status: 'completed',
      input: { name: 'Ada' },
      output: 'Hello, Ada!',
      error: null,
      errorDetails: null,
    })

    const alias = await post('/workflow/run', { workflowName: 'hello', input: { name: 'Grace' }, timeout: '10s' })
    assert.equal(alias.body.output, 'Hello, Grace!')

    const several = await post('/workflow/run', { workflowName: 'greet', args: [{ name: 'Linus' }, 'Good morning'] })
    assert.equal(several.body.output, 'Good morning, Linus!')
  },

  async 'run a workflow and get its output alone'() {
    const path = '/workflow/run?body=output'
    const greeted = await post(path, { workflowName: 'greet', input: { name: 'Ada' } })
    assert.deepEqual([greeted.status, greeted.body], [200, 'Hello, Ada!'])
    assert.match(greeted.headers.get('portico-run-id') ?? '', /./)

    const declined = { orderId: newOrderId(), amount: 20, card: '0000' }
    const failed = await post(path, { workflowName: 'order', input: declined })
    assert.deepEqual([failed.status, failed.body.error], [422, 'WorkflowFailedError'])
    assert.equal(failed.headers.get('portico-error-source'), failed.body.source)
  },

  async 'run a workflow that fails: the response is a 200 with the failure'() {
    const orderId = newOrderId()
    const { status, body } = await post('/workflow/run', {
      workflowName: 'order',
      input: { orderId, amount: 20, card: '0000' },
    })
    assert.equal(status, 200)
    assert.deepEqual([body.status, body.output, body.error], ['failed', null, 'Card 0000 was declined'])
    assert.deepEqual(
      { ...body.errorDetails, activityId: 'any' },
      {
        message: 'Card 0000 was declined',
        name: 'CardDeclined',
        retryable: false,
        activityId: 'any',
        details: [],
        cause: null,
      },
    )
  },

  async 'run a workflow whose activity is retried'() {
    const { body } = await post('/workflow/run', {
      workflowName: 'order',
      input: { orderId: newOrderId(), amount: 20, card: 'flaky' },
    })
    assert.equal(body.status, 'completed')
  },

  async 'run with a timeout: the request ends, the workflow keeps running'() {
    const orderId = newOrderId()
    const input = { orderId, amount: 250, card: '4242' }
    const { status, body, headers } = await post('/workflow/run', {
      workflowName: 'order',
      workflowId: orderId,
      input,
      timeout: 500,
    })
    assert.deepEqual(
      [status, body.error, body.workflowId, body.workflowStatus],
      [424, 'WorkflowExecutionTimedOutError', orderId, 'running'],
    )
    assert.equal(headers.get('location'), `/workflow/${orderId}/result`)
    await post(`/workflow/${orderId}/terminate`)
  },

  async 'wait for a run that exists, in requests of any length'() {
    const path = await startWaitingOrder(newOrderId())
    const tooEarly = await get(`${path}/result?wait=100ms`)
    assert.deepEqual([tooEarly.status, tooEarly.headers.get('retry-after')], [424, '1'])

    // Shorter than the timeout of any proxy in between, and as often as needed.
    async function result(): Promise<JsonResponse> {
      const response = await get(`${path}/result?wait=25s`)
      return response.status === 424 ? result() : response
    }
    const waiting = result()
    await post(`${path}/signal/approve`, { payload: { by: 'Grace' } })
    assert.equal((await waiting).body.status, 'completed')
  },

  async 'wait with an event stream, and reconnect without starting a second run'() {
    const orderId = newOrderId()
    const input = { orderId, amount: 250, card: '4242' }
    async function open(headers: Record<string, string> = {}) {
      const connection = new AbortController()
      const { body } = await fetch(`${url}/workflow/run`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream',
          ...(token && { authorization: `Basic ${token}` }),
          ...headers,
        },
        body: JSON.stringify({ workflowName: 'order', workflowId: orderId, input, timeout: '1m' }),
        signal: connection.signal,
      })
      assert.ok(body)
      const chunks = body.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      /** Reads until the event has arrived, and returns its id and its data. */
      async function read(event: string) {
        const pattern = new RegExp(`^id: (.*)\nevent: ${event}\ndata: (.*)\n\n`, 'm')
        while (!pattern.test(text)) {
          const { value, done } = await chunks.read()
          assert.ok(!done, `the stream ended without ${event}`)
          text += value
        }
        const [, id = '', data = ''] = pattern.exec(text) ?? []
        return { id, data: JSON.parse(data) }
      }
      return { read, disconnect: () => connection.abort() }
    }

    const first = await open()
    const { id, data: started } = await first.read('started')
    first.disconnect()
    const second = await open({ 'last-event-id': id })
    await post(`/workflow/${orderId}/signal/approve`, { payload: { by: 'Grace' } })
    const { data: ended } = await second.read('result')
    assert.deepEqual([ended.runId, ended.status], [started.runId, 'completed'])
  },

  async 'start in the background if the result takes too long'() {
    const orderId = newOrderId()
    const input = { orderId, amount: 250, card: '4242' }
    const { status, body, headers } = await send(
      'POST',
      '/workflow/run',
      { workflowName: 'order', workflowId: orderId, input },
      { prefer: 'respond-async, wait=1' },
    )
    assert.deepEqual(
      [status, body.status, headers.get('location')],
      [202, 'running', `/workflow/${orderId}/result?pending=202`],
    )
    assert.equal(headers.get('preference-applied'), 'respond-async, wait=1')
  },

  async 'start a workflow, query it, update it, signal it and get its result'() {
    const orderId = newOrderId()
    const path = await startWaitingOrder(orderId)

    const { body: status } = await get(`${path}/status`)
    assert.deepEqual(
      [status.workflowId, status.workflowName, status.status, status.completedAt],
      [orderId, 'order', 'running', null],
    )
    const early = await get(`${path}/result`)
    assert.deepEqual([early.status, early.body.error], [424, 'WorkflowNotCompletedError'])

    const query = await post(`${path}/query/progress`)
    assert.deepEqual(
      [query.status, query.body],
      [200, { stage: 'waiting_for_approval', priority: 'normal', approvedBy: null }],
    )
    const update = await post(`${path}/update/priority`, { payload: { level: 'high' } })
    assert.deepEqual([update.status, update.body], [200, { before: 'normal', after: 'high' }])
    const rejected = await post(`${path}/update/priority`, { payload: { level: 'high' } })
    assert.deepEqual(
      [rejected.status, rejected.body.error, rejected.body.source],
      [422, 'UpdateFailedError', 'workflow'],
    )
    const invalid = await post(`${path}/update/priority`, { payload: { level: 'at once' } })
    assert.deepEqual(
      [invalid.status, invalid.body.error, invalid.body.issues[0].path],
      [400, 'ValidationError', '/payload/level'],
    )

    const signal = await post(`${path}/signal/approve`, { payload: { by: 'Grace' } })
    assert.deepEqual([signal.status, signal.body.signal, signal.body.accepted], [200, 'approve', true])
    await until(async () => (await get(`${path}/status`)).body.status === 'completed')
    const { body: result } = await get(`${path}/result`)
    assert.deepEqual(result.output, { orderId, chargeId: `charge-${orderId}`, shipmentId: `shipment-${orderId}-high` })

    const late = await post(`${path}/signal/approve`, { payload: { by: 'Linus' } })
    assert.deepEqual(
      [late.status, late.body.error, late.body.workflowStatus],
      [409, 'WorkflowNotRunningError', 'completed'],
    )
  },

  async 'repeat requests with a key: nothing is done twice'() {
    const key = { 'idempotency-key': crypto.randomUUID() }
    const greet = { workflowName: 'greet', input: { name: 'Ada' } }
    const first = await post('/workflow/run', greet, key)
    const again = await post('/workflow/run', greet, key)
    assert.deepEqual(again.body, first.body)
    assert.deepEqual(
      [first, again].map(({ headers }) => headers.get('idempotency-replayed')),
      ['false', 'true'],
    )
    const other = await post('/workflow/run', { ...greet, input: { name: 'Grace' } }, key)
    assert.deepEqual([other.status, other.body.error], [422, 'IdempotencyKeyReusedError'])

    const path = await startWaitingOrder(newOrderId())
    const high = { payload: { level: 'high' } }
    const update = await post(`${path}/update/priority`, high, key)
    // Without the key the workflow would reject a second update to the same priority.
    assert.deepEqual((await post(`${path}/update/priority`, high, key)).body, update.body)
    await post(`${path}/terminate`)
  },

  async 'signal a workflow, or start it first if it does not exist'() {
    const orderId = newOrderId()
    const order = { workflowName: 'order', workflowId: orderId, input: { orderId, amount: 250, card: '4242' } }
    const { status, body } = await post('/workflow/signal-with-start/approve', { ...order, payload: { by: 'Grace' } })
    assert.deepEqual([status, body.workflowId, body.started], [200, orderId, true])
    await until(async () => (await get(`/workflow/${orderId}/status`)).body.status === 'completed')
  },

  async 'update a workflow, or start it first if it does not exist'() {
    const { updateWithStart } = (await get('/capabilities')).body.features
    const orderId = newOrderId()
    const order = { workflowName: 'order', workflowId: orderId, input: { orderId, amount: 250, card: '4242' } }
    const first = await post('/workflow/update-with-start/priority', { ...order, payload: { level: 'high' } })
    if (!updateWithStart) return assert.deepEqual([first.status, first.body.error], [501, 'NotSupportedError'])
    assert.deepEqual(
      [first.status, first.body.started, first.body.result],
      [200, true, { before: 'normal', after: 'high' }],
    )
    assert.equal(first.headers.get('location'), `/workflow/${orderId}/result`)

    const second = await post('/workflow/update-with-start/priority', { ...order, payload: { level: 'low' } })
    assert.deepEqual(second.body, { ...first.body, started: false, result: { before: 'high', after: 'low' } })
    await post(`/workflow/${orderId}/terminate`)
  },

  async 'update a workflow without waiting for the result'() {
    const { asyncUpdates } = (await get('/capabilities')).body.features
    const path = await startWaitingOrder(newOrderId())
    const body = { payload: { level: 'high' } }
    const accepted = await send('POST', `${path}/update/priority`, body, { prefer: 'respond-async' })
    if (!asyncUpdates) return assert.deepEqual([accepted.status, accepted.body.error], [501, 'NotSupportedError'])
    assert.deepEqual([accepted.status, accepted.body.stage], [202, 'accepted'])

    const update = await get(`${accepted.headers.get('location')}?wait=10s`)
    assert.deepEqual([update.status, update.body], [200, { before: 'normal', after: 'high' }])
    await post(`${path}/terminate`)
  },

  async 'start a workflow with options, and use the open run of an id'() {
    const orderId = newOrderId()
    const order = { workflowName: 'order', workflowId: orderId, input: { orderId, amount: 250, card: '4242' } }
    const options = {
      memo: { channel: 'web' },
      executionTimeout: '1h',
      retry: { maximumAttempts: 2 },
      summary: 'An order',
    }
    const first = await post('/workflow/start', { ...order, ...options })
    assert.equal(first.status, 200)

    const second = await post('/workflow/start', { ...order, workflowIdConflictPolicy: 'use-existing' })
    assert.deepEqual([second.body, second.headers.get('portico-started')], [first.body, 'false'])

    const wrong = await post('/workflow/start', { ...order, retry: { attempts: 2 } })
    assert.deepEqual([wrong.status, wrong.body.issues[0].path], [400, '/retry/attempts'])
    await post(`/workflow/${orderId}/terminate`)
  },

  async 'check a request without starting anything'() {
    const order = { workflowName: 'order', input: { orderId: newOrderId(), amount: 250, card: '4242' } }
    const right = await post('/workflow/validate', order)
    assert.deepEqual([right.status, right.body], [200, { valid: true }])

    const wrong = await post('/workflow/validate', { ...order, input: { amount: 'much' } })
    assert.deepEqual([wrong.status, wrong.body.error], [400, 'ValidationError'])
  },

  async 'pause a workflow, and let it continue'() {
    const { pause } = (await get('/capabilities')).body.features
    const path = await startWaitingOrder(newOrderId())
    const paused = await post(`${path}/pause`, { reason: 'the warehouse is closed' })
    if (!pause) return assert.deepEqual([paused.status, paused.body.error], [501, 'NotSupportedError'])
    assert.deepEqual([paused.status, paused.body.paused], [200, true])
    assert.equal((await get(`${path}/status`)).body.status, 'paused')

    const unpaused = await post(`${path}/unpause`)
    assert.deepEqual([unpaused.status, unpaused.body.paused], [200, false])
    await post(`${path}/terminate`)
  },

  async 'reset a workflow to one of its steps'() {
    const { body: run } = await post('/workflow/run', {
      workflowName: 'order',
      input: { orderId: newOrderId(), amount: 20, card: '4242' },
    })
    const path = `/workflow/${run.workflowId}`
    const reset = await post(`${path}/reset`, { stepName: 'charge', reason: 'the parcel was lost' })
    assert.deepEqual([reset.status, reset.body.runsAgain], [200, ['ship']])

    await until(async () => (await get(`${path}/status`)).body.status === 'completed')
    const { body: result } = await get(`${path}/result`)
    assert.deepEqual([result.runId, result.output], [reset.body.runId, run.output])
    const missing = await post(`${path}/reset`, { stepName: 'refund' })
    assert.deepEqual([missing.status, missing.body.available], [404, ['validate', 'charge', 'ship']])
  },

  async 'complete an activity that completes outside its worker'() {
    const { body: run } = await post('/workflow/start', {
      workflowName: 'order',
      input: { orderId: newOrderId(), amount: 20, card: 'phone' },
    })
    const activity = `/workflow/${run.workflowId}/runs/${run.runId}/activities/2`
    await until(async () => (await post(`${activity}/heartbeat`, { details: 'the phone rings' })).status === 200)
    const completed = await post(`${activity}/complete`, { output: 'charge-by-phone' })
    assert.deepEqual([completed.status, completed.body.completed], [200, true])

    await until(async () => (await get(`/workflow/${run.workflowId}/status`)).body.status === 'completed')
    const { body: result } = await get(`/workflow/${run.workflowId}/result`)
    assert.equal(result.output.chargeId, 'charge-by-phone')
  },

  async 'repair an activity: pause it, change its timeout, and retry it'() {
    const { body: run } = await post('/workflow/start', {
      workflowName: 'order',
      input: { orderId: newOrderId(), amount: 20, card: 'phone' },
    })
    const path = `/workflow/${run.workflowId}/runs/${run.runId}`
    const activity = `${path}/activities/2`
    const isExecuted = async () => (await post(`${activity}/heartbeat`)).status === 200
    await until(isExecuted)
    const tooEarly = await post(`${activity}/retry`)
    assert.deepEqual([tooEarly.status, tooEarly.body.error], [409, 'WorkflowNotReadyError'])

    const paused = await post(`${activity}/pause`, { reason: 'nobody answers the phone' })
    assert.deepEqual([paused.status, paused.body.paused], [200, true])
    await post(`${activity}/fail`, { message: 'nobody answers' })
    const { body: explained } = await get(`${path}/explain`)
    assert.match(explained.reasons[0].action.path, /unpause$/)

    const changed = await patch(activity, { startToCloseTimeout: '1m' })
    assert.equal(changed.body.options.startToCloseTimeoutMs, 60_000)
    const retried = await post(`${activity}/retry`)
    assert.deepEqual([retried.status, retried.body.retried], [200, true])
    await until(isExecuted)
    const unpaused = await post(`${activity}/unpause`)
    assert.deepEqual([unpaused.status, unpaused.body.paused], [200, false])

    const { body: options } = await patch(`${path}/options`, { priority: { priorityKey: 2 } })
    assert.equal(options.priority.priorityKey, 2)
    assert.equal((await post(`${activity}/complete`, { output: 'charge-by-phone' })).status, 200)
  },

  async 'list what workflows ask people, and answer'() {
    const path = await startWaitingOrder(newOrderId())
    const { status, body } = await get('/questions?workflowName=order')
    assert.deepEqual([status, body.questions], [200, []])
    const { body: ofRun } = await get(`${path}/questions`)
    assert.deepEqual(ofRun.questions, [])

    const answered = await post(`${path}/questions/no-such-question/answer`, { content: { approved: true } })
    assert.deepEqual([answered.status, answered.body.error], [404, 'QuestionNotFoundError'])
    await post(`${path}/terminate`)
  },

  async 'get the trace of a run'() {
    const { body: run } = await post('/workflow/run', {
      workflowName: 'order',
      input: { orderId: newOrderId(), amount: 20, card: '4242' },
    })
    const { status, body } = await get(`/workflow/${run.workflowId}/trace-log`)
    assert.equal(status, 200)
    assert.deepEqual(
      [body.runId, body.complete, body.data.kind, body.data.name],
      [run.runId, true, 'workflow', 'order'],
    )
    assert.deepEqual(
      body.data.children.map((step: { name: string }) => step.name),
      ['validate', 'charge', 'ship'],
    )
  },

  async 'stop a workflow, which can clean up'() {
    const path = await startWaitingOrder(newOrderId())
    const { status, body } = await patch(`${path}/stop`, { reason: 'the customer changed their mind' })
    assert.deepEqual([status, body.cancelRequested], [200, true])

    await until(async () => (await get(`${path}/status`)).body.status === 'canceled')
    assert.equal((await post(`${path}/query/progress`)).body.stage, 'refunded')
    const again = await patch(`${path}/stop`)
    assert.deepEqual([again.status, again.body.cancelRequested, again.body.status], [200, false, 'canceled'])
  },

  async 'terminate a workflow at once'() {
    const path = await startWaitingOrder(newOrderId())
    const { status, body } = await post(`${path}/terminate`, { reason: 'a mistake' })
    assert.deepEqual([status, body.terminated], [200, true])
    const { body: result } = await get(`${path}/result`)
    assert.deepEqual(
      [result.status, result.output, result.errorDetails.name],
      ['terminated', null, 'TerminatedFailure'],
    )
  },

  async 'find a run whose id is lost'() {
    const orderId = newOrderId()
    const path = await startWaitingOrder(orderId)
    const filter = `workflowName=order&status=running&query=${encodeURIComponent(`WorkflowId = '${orderId}'`)}`
    await until(async () => (await get(`/workflow/runs?${filter}`)).body.runs.length === 1)
    const { runs, nextPageToken } = (await get(`/workflow/runs?${filter}`)).body
    assert.deepEqual([runs[0].workflowId, runs[0].status, nextPageToken], [orderId, 'running', null])
    assert.deepEqual((await get(`${path}/input`)).body.input.orderId, orderId)
    const { body: counted } = await get(`/workflow/runs/count?${filter}&groupBy=status`)
    assert.deepEqual(counted, { count: 1, groups: [{ status: 'running', count: 1 }] })
    await post(`${path}/terminate`)
  },

  async 'find out what a run waits for'() {
    const path = await startWaitingOrder(newOrderId())
    const explain = async () => (await get(`${path}/explain`)).body
    await until(async () => (await explain()).verdict === 'waiting_handler')
    const { reasons } = await explain()
    assert.deepEqual([reasons[0].signals, reasons[0].updates], [['approve'], ['priority']])
    assert.equal(reasons[0].advice, 'send signal approve or update priority')

    await post(`${path}/signal/approve`, { payload: { by: 'Grace' } })
    await until(async () => (await explain()).verdict === 'closed')
  },

  async 'follow the history of a run'() {
    const path = await startWaitingOrder(newOrderId())
    const { body: first } = await get(`${path}/history?pageSize=5`)
    assert.deepEqual([first.events.length, first.events[0].eventType], [5, 'WorkflowExecutionStarted'])

    await post(`${path}/signal/approve`, { payload: { by: 'Grace' } })
    const types: string[] = []
    for (let token = first.nextPageToken; token !== null; ) {
      const { body } = await get(`${path}/history?pageToken=${token}&wait=10s&includePayloads=false`)
      types.push(...body.events.map(({ eventType }: { eventType: string }) => eventType))
      token = body.nextPageToken
    }
    assert.equal(types.at(-1), 'WorkflowExecutionCompleted')
  },

  async 'watch a run, and resume after the connection was lost'() {
    const path = await startWaitingOrder(newOrderId())
    const { runId } = (await get(`${path}/status`)).body
    await post(`${path}/signal/approve`, { payload: { by: 'Grace' } })
    const watch = async (headers: Record<string, string>) => {
      const authorization: Record<string, string> = token ? { authorization: `Basic ${token}` } : {}
      const stream = await fetch(`${url}${path}/runs/${runId}/history/stream`, {
        headers: { ...authorization, ...headers },
      })
      return {
        status: stream.status,
        ids: [...(await stream.text()).matchAll(/^id: (.*)$/gm)].map(([, id]) => id),
      }
    }

    const { ids } = await watch({})
    assert.deepEqual(
      ids,
      ids.map((_, index) => `${runId}@${index + 1}`),
    )
    assert.deepEqual(await watch({ 'last-event-id': `${runId}@5` }), { status: 200, ids: ids.slice(5) })
    assert.deepEqual(await watch({ 'last-event-id': `${runId}@${ids.length}` }), { status: 204, ids: [] })
  },

  async 'address one run of a workflow by its run id'() {
    const path = await startWaitingOrder(newOrderId())
    const { body: status } = await get(`${path}/status`)
    const run = `${path}/runs/${status.runId}`
    assert.deepEqual((await get(`${run}/status`)).body.runId, status.runId)
    assert.equal((await post(`${run}/query/progress`)).status, 200)
    assert.equal((await post(`${run}/update/priority`, { payload: { level: 'low' } })).status, 200)
    assert.equal((await get(`${run}/trace-log`)).body.complete, false)
    assert.equal((await post(`${run}/signal/approve`, { args: [{ by: 'Grace' }] })).body.runId, status.runId)
    await until(async () => (await get(`${run}/result`)).status === 200)
    assert.equal((await patch(`${run}/stop`)).body.cancelRequested, false)
    assert.equal((await post(`${run}/terminate`)).status, 409)
  },

  async 'handle errors by their stable names'() {
    const wrong = await post('/workflow/run', { workflowName: 'greet', input: { name: 7 } })
    assert.deepEqual(
      [wrong.status, wrong.body.error, wrong.body.issues[0].path],
      [400, 'ValidationError', '/input/name'],
    )
    const unknown = await post('/workflow/start', { workflowName: 'gret', input: null })
    assert.deepEqual([unknown.status, unknown.body.error], [424, 'UnsupportedWorkflowError'])
    assert.deepEqual(unknown.body.available.includes('greet'), true)
    const nowhere = await post('/workflow/start', {
      workflowName: 'greet',
      input: null,
      catalog: `nobody-${crypto.randomUUID()}`,
    })
    assert.deepEqual([nowhere.status, nowhere.body.error], [503, 'CatalogNotAvailableError'])
    const missing = await get(`/workflow/${newOrderId()}/status`)
    assert.deepEqual([missing.status, missing.body.error], [404, 'WorkflowNotFoundError'])
    assert.equal(missing.headers.get('content-type'), 'application/problem+json')
  },
}

for (const [title, run] of Object.entries(examples)) {
  try {
    await run()
    console.log(`ok      ${title}`)
  } catch (error) {
    console.error(`FAILED  ${title} (${url})`)
    throw error
  }
}
