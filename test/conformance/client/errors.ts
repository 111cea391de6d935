import { anId, type ClientCase, equal, failure, until } from './client-fixture.ts'

/** What the client throws. */
export const errors: Record<string, ClientCase> = {
  async 'errors: have the stable name, the status and the facts of the response'({ connect }) {
    const client = connect()

    const invalid = await failure(client.run('sleepFor', { input: { ms: 'x' } }), 'ValidationError')
    equal([invalid.status, invalid.issues?.[0]?.path, invalid.source], [400, '/input/ms', 'gateway'])
    const unknown = await failure(client.start('ekko'), 'UnsupportedWorkflowError')
    equal([unknown.status, unknown.available?.includes('echo')], [424, true])
    const workflowId = anId()
    const missing = await failure(client.status(workflowId), 'WorkflowNotFoundError')
    equal([missing.status, typeof missing.requestId], [404, 'string'])
    const handler = await failure(
      client.query((await client.start('messages')).workflowId, 'stat'),
      'HandlerNotFoundError',
    )
    equal([handler.status, typeof handler.workflowId], [404, 'string'])
  },

  async 'errors: errorDetails has the type, the details and the causes of a failed update'({ connect }) {
    const run = await connect().start('messages')

    const { errorDetails } = await failure(run.update('fails'), 'UpdateFailedError')

    equal(
      [errorDetails?.name, errorDetails?.details, errorDetails?.retryable],
      ['UpdateRejected', [{ sku: '42' }, 'sold out'], false],
    )
    equal([errorDetails?.cause?.name, errorDetails?.cause?.details], ['Stock', [0]])
    await run.signal('finish')
  },

  async 'errors: a wrong token is an UnauthorizedError'({ connect }) {
    equal((await failure(connect({ token: 'wrong' }).status(anId()), 'UnauthorizedError')).status, 401)
  },

  async 'errors: a service that cannot be reached is a ConnectionError'({ connect, nobodyUrl }) {
    const client = connect({ url: nobodyUrl })

    const error = await failure(client.run('echo', { input: 1, idempotencyKey: 'k' }), 'ConnectionError')

    equal([error.status, error.idempotencyKey, error.cause instanceof Error], [null, 'k', true])
    // The first request of a client does not wait for the service to start.
    equal(error.attempts, 2)
  },

  async 'redirects: nothing is sent to another origin'({ connect, redirectingUrl }) {
    const workflowId = anId()

    await failure(connect({ url: redirectingUrl }).start('neverEnds', { workflowId }), 'UnexpectedResponseError')

    await failure(connect().status(workflowId), 'WorkflowNotFoundError')
  },

  async 'errors: what is not a response of the API is an UnexpectedResponseError'({ connect }) {
    const respond = (status: number, body: string) => async () => new Response(body, { status })

    const page = connect({ fetch: respond(404, '<h1>Not Found</h1>') })
    const login = connect({ fetch: respond(200, '<h1>Log in</h1>') })
    const gateway = connect({ fetch: respond(502, '{"error": 17}'), retryMs: 0 })

    equal((await failure(page.status('x'), 'UnexpectedResponseError')).status, 404)
    equal((await failure(login.status('x'), 'UnexpectedResponseError')).status, 200)
    equal((await failure(gateway.status('x'), 'UnexpectedResponseError')).status, 502)
  },

  async 'timeoutMs: ends the wait with the ids; the workflow keeps running'({ connect }) {
    const client = connect()
    const workflowId = anId()

    const idempotencyKey = anId()
    // A slow machine may not respond in time with the ids.
    const timedOut = (call: () => Promise<unknown>) =>
      until('the error has the run id', async () => {
        const error = await failure(call(), 'WorkflowExecutionTimedOutError')
        return error.runId === undefined ? null : error
      })

    const ran = await timedOut(() => client.run('neverEnds', { workflowId, idempotencyKey, timeoutMs: 1100 }))
    const waited = await timedOut(() => client.result(workflowId, { timeoutMs: 100 }))

    const { status, runId } = await client.status(workflowId)
    equal(
      [ran, waited].map((error) => [error.workflowId, error.runId]),
      [
        [workflowId, runId],
        [workflowId, runId],
      ],
    )
    equal([ran.workflowStatus, status], ['running', 'running'])
    await client.terminate(workflowId)
  },

  async 'timeoutMs: ends a call that gets no response'({ connect }) {
    const hangs = (_url: string, { signal }: RequestInit) =>
      new Promise<Response>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))

    const error = await failure(connect({ fetch: hangs }).status('x', { timeoutMs: 100 }), 'DeadlineExceededError')

    equal(error.status, null)
  },

  async 'signal: ends the call with its reason; the workflow keeps running'({ connect }) {
    const client = connect()
    const workflowId = anId()
    const controller = new AbortController()
    const reason = new Error('enough')

    const running = client.run('neverEnds', { workflowId, signal: controller.signal }).catch((error) => error)
    await until('the workflow runs', () => client.status(workflowId).catch(() => null))
    controller.abort(reason)

    equal((await running) === reason, true)
    equal((await client.status(workflowId)).status, 'running')
    equal((await client.status(workflowId, { signal: controller.signal }).catch((error) => error)) === reason, true)
    await client.terminate(workflowId)
  },
}
