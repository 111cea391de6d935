import type { AnyWorkflows, Client as ClientOf, RunRef } from '../../../src/client/index.ts'
import { anId, type ClientCase, equal, failure, losing, until, untilListed } from './client-fixture.ts'

type Client = ClientOf<AnyWorkflows>

function refOf({ workflowId, runId = '' }: { workflowId: string; runId?: string }): RunRef {
  return { workflowId, runId }
}

const untilLatest = (client: Client, { workflowId }: { workflowId: string }, isIt: (runId: string) => boolean) =>
  until('another run is the latest one', async () => isIt((await client.status(workflowId)).runId))

const untilClosed = (client: Client, workflowId: string) =>
  until('the run has ended', async () => (await client.status(workflowId)).status !== 'running')

/** Connections that are cut, responses that are lost, and a service that is killed: nothing is done twice. */
export const cuts: Record<string, ClientCase> = {
  async 'run: attaches to its run again when the connection is cut'({ connect, proxied, act }) {
    const workflowId = anId()
    const client = proxied()
    // Where nothing has responded yet, a rejected connection is not repeated.
    await client.catalog()
    const running = client.run('waitForSignal', { workflowId })
    const runs = await untilListed(connect(), `WorkflowId = '${workflowId}'`, 1)

    await act('interrupt')
    await act('restore')
    await connect().signal(workflowId, 'finish', { payload: 'done' })

    equal(await running, ['done'])
    equal(await untilListed(connect(), `WorkflowId = '${workflowId}'`, 1), runs)
  },

  async 'run: starts one workflow although the response to the start is lost'({ connect, proxied, act, catalog }) {
    const client = connect()
    const query = `TaskQueue = '${catalog}' AND WorkflowType = 'whoAmI'`
    const { count } = (await client.request('GET', '/workflow/runs/count', { query: { query } })) as { count: number }

    await act('lose-response')
    const output = (await proxied().run('whoAmI')) as { workflowId: string; runId: string }

    const runs = await untilListed(client, query, count + 1)
    equal(runs.includes(output.workflowId), true)
    equal((await client.status(output.workflowId)).runId, output.runId)
  },

  async 'start: starts one workflow although the response is lost'({ connect, proxied, act }) {
    const workflowId = anId()

    await act('lose-response')
    const run = await proxied().start('waitForSignal', { workflowId })

    equal((await connect().status(workflowId)).runId, run.runId)
    await run.terminate()
  },

  async 'signal, update: are carried out once although the response is lost'({ connect, proxied, act }) {
    const run = await connect().start('messages')
    const cut = proxied().workflow('messages').get(run)

    await act('lose-response')
    await cut.signal('add', { payload: 'once' })
    await act('lose-response')
    equal(await cut.update('set', { payload: 'new' }), { before: null, after: 'new' })

    equal(await run.query('state'), { gathered: ['once'], value: 'new' })
    await run.signal('finish')
  },

  async 'signal: reaches one run of a chain that continues as new while the response is lost'({ connect }) {
    const client = connect()
    const run = await client.start('chainOnSignal', { input: 1 })
    const hasContinued = () => untilLatest(client, run, (runId) => runId !== run.runId)

    const signaled = connect({ fetch: losing('/signal/', hasContinued) }).signal(run.workflowId, 'next')

    equal((await signaled).runId, run.runId)
    equal(await run.update('round'), 2)
    await run.signal('finish')
    equal(await run.result(), 2)
  },

  async 'signal, update: do not reach the run of another client while the response is lost'({ connect }) {
    const client = connect()
    const [signaled, updated] = await Promise.all([client.start('messages'), client.start('messages')])
    const other = (workflowId: string) => client.start('messages', { workflowId })
    const endAndReuse = async ({ workflowId, runId }: RunRef) => {
      await client.signal({ workflowId, runId }, 'finish').catch(() => null)
      await untilClosed(client, workflowId)
      await other(workflowId)
    }

    const bySignal = connect({ fetch: losing('/signal/', () => endAndReuse(refOf(signaled))) })
    const byUpdate = connect({ fetch: losing('/update/', () => endAndReuse(refOf(updated))) })

    equal((await bySignal.signal(signaled.workflowId, 'finish')).runId, signaled.runId)
    equal(await byUpdate.update(updated.workflowId, 'set', { payload: 'mine' }), { before: null, after: 'mine' })
    for (const { workflowId, runId } of [signaled, updated]) {
      const latest = await client.status(workflowId)
      equal([latest.status, latest.runId === runId], ['running', false])
      equal(await client.query(workflowId, 'state'), { gathered: [], value: null })
      await client.terminate(workflowId)
    }
  },

  async 'signalWithStart: reaches one run of a chain that continues as new while the response is lost'({ connect }) {
    const client = connect()
    const run = await client.start('chainOnSignal', { input: 1 })
    const { workflowId } = run
    const hasContinued = () => untilLatest(client, run, (runId) => runId !== run.runId)
    const cut = connect({ fetch: losing('/signal-with-start/', hasContinued) }).workflow('chainOnSignal')

    const error = await failure(
      cut.signalWithStart('next', { workflowId, input: 1, idempotencyKey: 'k' }),
      'ConnectionError',
    )

    equal([error.mayHaveTakenEffect, error.idempotencyKey, error.workflowId], [true, 'k', workflowId])
    equal(await run.update('round'), 2)
    await run.signal('finish')
    equal(await run.result(), 2)
  },

  async 'updateWithStart: does not reach the run of another client while the response is lost'({ connect }) {
    const client = connect()
    const { workflowId, runId } = await client.start('messages')
    const endAndReuse = async () => {
      await client.signal({ workflowId, ...(runId && { runId }) }, 'finish')
      await untilClosed(client, workflowId)
      await client.start('messages', { workflowId })
    }
    const cut = connect({ fetch: losing('/update-with-start/', endAndReuse) }).workflow('messages')

    const error = await failure(cut.updateWithStart('set', { workflowId, payload: 'mine' }), 'ConnectionError')

    equal([error.mayHaveTakenEffect, error.workflowId], [true, workflowId])
    equal(await client.query(workflowId, 'state'), { gathered: [], value: null })
    await client.terminate(workflowId)
  },

  async 'signal: says that it may have been carried out if that is unknown'({ connect }) {
    const run = await connect().start('messages')
    const cut = connect({ retryMs: 0, fetch: losing('/signal/', async () => {}) })

    const error = await failure(cut.signal(refOf(run), 'add', { payload: 1, idempotencyKey: 'k' }), 'ConnectionError')

    equal([error.mayHaveTakenEffect, error.idempotencyKey, error.attempts], [true, 'k', 1])
    equal(error.message.endsWith('; it may have been carried out'), true)
    await run.terminate()
  },

  async 'signal: reaches the latest run of a handle whose run has continued as new'({ connect }) {
    const client = connect()
    const run = await client.start('chainOnSignal', { input: 1 })

    await run.signal('next')
    await untilLatest(client, run, (runId) => runId !== run.runId)
    const second = await run.signal('next')
    await untilLatest(client, run, (runId) => runId !== second.runId)
    await run.signal('finish')

    equal(await run.result(), 3)
  },

  async 'status, query: are sent again when the response is lost'({ connect, proxied, act }) {
    const run = await connect().start('messages')
    const cut = proxied().workflow('messages').get(run.workflowId)

    await act('lose-response')
    equal((await cut.status()).status, 'running')
    await act('lose-response')
    equal(await cut.query('echo', { payload: 1 }), [1])
    await run.terminate()
  },

  async 'terminate: is not sent again when the response is lost'({ connect, proxied, act }) {
    const run = await connect().start('neverEnds')
    let requests = 0
    const fetch = (url: string, init: RequestInit) => {
      requests++
      return globalThis.fetch(url, init)
    }

    await act('lose-response')
    const error = await proxied({ fetch })
      .terminate(refOf(run))
      .then(
        () => null,
        (reason) => reason,
      )

    // A browser sends a POST again if it has used the connection before. The second one finds the run closed.
    const isBrowser = 'document' in globalThis
    equal(error?.error === 'ConnectionError' || (isBrowser && error?.error === 'WorkflowNotRunningError'), true)
    equal([requests, (await run.status()).status], [1, 'terminated'])
  },

  async 'stop: is not sent again without a run id when the response is lost'({ connect, proxied, act }) {
    const run = await connect().start('neverEnds')
    const client = proxied()
    // Some runtimes send a request again if its connection was used before.
    await client.status(run.workflowId)

    await act('lose-response')
    const error = await client.stop(run.workflowId).then(
      () => null,
      (reason) => reason,
    )

    const isBrowser = 'document' in globalThis
    equal(error?.error === 'ConnectionError' || (isBrowser && error === null), true)
    await run.terminate().catch(() => null)
  },

  async 'run: waits on a way that closes each connection after two seconds'({ connect, impatientUrl, act }) {
    const workflowId = anId()
    const running = connect({ url: impatientUrl, retryMs: 150_000 }).run('waitForSignal', { workflowId })
    await until('the workflow runs', () =>
      connect()
        .status(workflowId)
        .catch(() => null),
    )

    await act('impatient')
    await connect().signal(workflowId, 'finish')

    equal(await running, [])
    equal((await untilListed(connect(), `WorkflowId = '${workflowId}'`, 1)).length, 1)
  },

  async 'update: gets its result on a way that closes each connection after two seconds'({ connect, impatientUrl }) {
    const client = connect()
    const run = await client.start('messages')
    let requests = 0
    const fetch = (url: string, init: RequestInit) => {
      requests++
      return globalThis.fetch(url, init)
    }

    const cut = connect({ url: impatientUrl, retryMs: 1000, fetch })
    const updating = cut.update(run.workflowId, 'waitFor', { payload: 'x', timeoutMs: 150_000 })
    // A connection lasts longer than retryMs.
    const added = until('the update is sent again', async () => requests >= 3)
      .then(() => run.signal('add', { payload: 'x' }))
      .catch(() => null)

    equal(await updating, ['x'])
    await added
    const updates: string[] = []
    for await (const { eventType } of run.history()) if (eventType.includes('Update')) updates.push(eventType)
    equal(updates, ['WorkflowExecutionUpdateAccepted', 'WorkflowExecutionUpdateCompleted'])
    await run.signal('finish')
  },

  async 'run, result: continue when the service is killed and started again'({ connect, act }) {
    const client = connect()
    const ids = [anId(), anId()] as const
    const running = client.run('waitForSignal', { workflowId: ids[0] })
    const started = await client.start('waitForSignal', { workflowId: ids[1] })
    const waiting = started.result()
    await until('the workflow runs', () => client.status(ids[0]).catch(() => null))

    await act('restart')
    for (const id of ids) await client.signal(id, 'finish', { payload: id })

    equal(await Promise.all([running, waiting]), [[ids[0]], [ids[1]]])
    await untilListed(client, `WorkflowId = '${ids[0]}'`, 1)
  },
}
