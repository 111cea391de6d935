import { randomUUID } from 'node:crypto'
import { expect, inject, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../../src/worker/catalog/define-catalog.ts'
import { publishCatalog } from '../../../src/worker/catalog/publish-catalog.ts'
import { READS_OF_RUN } from '../../faults/endpoints.ts'
import { rule } from '../../support/rules.ts'
import { startWorker } from '../../support/worker.ts'
import { type ApiFixture, anId, startDirectly } from './api-fixture.ts'

/** As its workers publish them: with numbers converted, and what has a default required. */
const OF_RESULTS = {
  type: 'object',
  properties: { count: { type: 'number' }, requestId: { type: 'string' }, note: { type: 'string', default: '' } },
  required: ['count', 'requestId', 'note'],
  additionalProperties: false,
}

/** GET catalog, and which names may be started. */
export function catalogs(api: () => ApiFixture): void {
  function publish(catalog: string, names: string[]) {
    const { connection } = api().client
    const definition = defineCatalog(Object.fromEntries(names.map((name) => [name, {}])))
    return publishCatalog({ connection, namespace: 'default', catalog, definition, traces: false, identity: 'test' })
  }

  /** An open workflow of type `$catalog` whose id is the catalog. */
  async function publishOlderForm(catalog: string) {
    const workflows = [{ name: 'echo', description: 'Of the older form', inputSchema: OF_RESULTS }]
    const workflowNames = { echo: 'echo', parrot: 'echo' }
    await startDirectly(api(), '$catalog', {
      workflowId: catalog,
      taskQueue: `${catalog}-itself`,
      args: [{ workflows, workflowNames }],
      memo: { workflowNames },
    })
  }

  test('task queue: shows its workers and its backlog, and zeros for one that does not exist', async () => {
    const { service, catalog } = api()
    const queueOf = async (name: string) => (await service.call('GET', `/task-queues/${name}`)).body
    const waiting = `queue-${randomUUID()}`
    const run = await startDirectly(api(), 'stepElsewhere', { args: [waiting] })

    const { workflows, activities } = await until('its activity is in the backlog', async () => {
      const queue = await queueOf(waiting)
      return queue.activities.backlog > 0 && queue.activities.backlogAgeMs > 0 && queue
    })
    const polled = await queueOf(catalog)
    const unknown = await queueOf(`queue-${randomUUID()}`)
    await service.post(`${run.workflowId}/terminate`)

    expect([workflows.backlog, activities.backlog, activities.pollers]).toEqual([0, 1, 0])
    expect([polled.taskQueue, polled.workflows.pollers > 0, polled.activities.pollers > 0]).toEqual([
      catalog,
      true,
      true,
    ])
    expect(Date.now() - Date.parse(polled.workflows.lastPolledAt)).toBeLessThan(300_000)
    const none = {
      pollers: 0,
      lastPolledAt: null,
      backlog: 0,
      backlogAgeMs: 0,
      addedPerSecond: 0,
      dispatchedPerSecond: 0,
    }
    expect([unknown.workflows, unknown.activities]).toEqual([none, none])
  })

  rule('catalog.lists-the-workflows-with-their-schemas', async () => {
    const { service, catalog } = api()

    const { status, body } = await service.get('catalog')

    expect([status, body.catalog, body.inputsChecked]).toEqual([200, catalog, true])
    const entries = new Map<string, unknown>(body.workflows.map((entry: { name: string }) => [entry.name, entry]))
    expect(entries.get('sleepFor')).toEqual({
      name: 'sleepFor',
      description: null,
      inputSchema: expect.objectContaining({ type: 'object', required: ['ms'] }),
      inputOptional: false,
      outputSchema: expect.objectContaining({ type: 'string' }),
      aliases: ['nap'],
      signals: [],
      queries: [],
      updates: [],
    })
    expect(entries.get('messages')).toMatchObject({
      signals: [
        { name: 'add', description: 'Gathers its arguments.', inputSchema: null, outputSchema: null },
        { name: 'finish' },
      ],
      queries: [{ name: 'state', outputSchema: { type: 'object' } }, { name: 'echo' }],
      updates: [{ name: 'set' }, { name: 'validated', inputSchema: { type: 'number' } }],
    })
  })

  test('catalog: a catalog is available by its name', async () => {
    const { service, hasGap } = api()
    const catalog = `with${hasGap('slashes') ? '' : '/slash'} space ${randomUUID()}`
    await publish(catalog, ['one'])

    const { status, body } = await service.get(`catalog/${encodeURIComponent(catalog)}`)

    const facts = [status, body.catalog, body.workflows.map(({ name }: { name: string }) => name)]
    expect(facts).toEqual([200, catalog, ['one']])
  })

  test('catalog: an unpublished catalog is an error', async () => {
    const { status, body } = await api().service.get(`catalog/${randomUUID()}`)

    expect([status, body.error]).toEqual([404, 'CatalogNotFoundError'])
  })

  test('catalog: a worker that publishes no catalog has no catalog to list', async () => {
    const { service, plainTaskQueue } = api()

    const { status, body } = await service.get(`catalog/${plainTaskQueue}`)

    expect([status, body.error]).toEqual([404, 'CatalogNotFoundError'])
  })

  test('catalog: is not sent again to a client that already has it', async () => {
    const { service } = api()
    const first = await service.get('catalog')
    const etag = first.headers.get('ETag') ?? ''

    const same = await service.get('catalog', { 'If-None-Match': etag })
    const other = await service.get('catalog', { 'If-None-Match': '"of another"' })

    const facts = [etag, same.status, same.text, same.headers.get('ETag'), other.status]
    expect(facts).toEqual([expect.stringMatching(/^(?:W\/)?".+"$/), 304, '', etag, 200])
  })

  test('catalog: a replaced catalog has another ETag', async () => {
    const { service } = api()
    const catalog = `replaced-${randomUUID()}`
    await publish(catalog, ['echo'])
    const path = `/workflow/catalog/${catalog}`
    const etag = (await service.call('GET', path)).headers.get('ETag') ?? ''
    await publish(catalog, ['echo', 'neverEnds'])
    // Before a name is rejected the catalog is read again, so the next listing is a new one.
    const { body: started } = await service.start('neverEnds', null, { catalog })

    const { status, headers, body } = await service.call('GET', path, undefined, { 'If-None-Match': etag })

    expect([status, body.workflows.map(({ name }: { name: string }) => name)]).toEqual([200, ['echo', 'neverEnds']])
    expect(headers.get('ETag')).not.toBe(etag)
    await service.post(`${started.workflowId}/terminate`)
  })

  test('catalog: of the older form is listed and served as any other, but its schemas are not enforced', async () => {
    const { service } = api()
    const catalog = `older-${randomUUID()}`
    await publishOlderForm(catalog)
    const worker = await startWorker({ address: inject('engine').address, taskQueue: catalog })

    const listing = await service.get(`catalog/${catalog}`)
    const ran = await service.run('parrot', 7, { catalog })
    const unknown = await service.run('nothing', null, { catalog })
    const coerced = { count: '2', requestId: 'req-123' }
    const unfit = await service.run('echo', coerced, { catalog })
    await worker.stop()

    expect(listing.body.inputsChecked).toBe(false)
    expect(listing.body.workflows).toEqual([
      {
        ...{ name: 'echo', description: 'Of the older form', inputSchema: OF_RESULTS, outputSchema: null },
        ...{ inputOptional: null, aliases: [], signals: [], queries: [], updates: [] },
      },
    ])
    expect([ran.status, ran.body.output, unknown.status]).toEqual([200, 7, 424])
    expect([unfit.status, unfit.body.output]).toEqual([200, coerced])
  })

  test('catalog: the run of one of the older form is out of reach (threat 40)', async () => {
    const { service } = api()
    const catalog = `older-${randomUUID()}`
    await publishOlderForm(catalog)

    const stop = await service.call('PATCH', `/workflow/${catalog}/stop`)
    const terminate = await service.post(`${catalog}/terminate`)
    await service.get(`catalog/${catalog}`)
    const signal = await service.post(`${catalog}/signal/any`)
    const update = await service.post(`${catalog}/update/any`)

    const expected = [403, 'ForbiddenError']
    const found = [stop, terminate, signal, update].map(({ status, body }) => [status, body.error])
    expect(found).toEqual([expected, expected, expected, expected])
    expect((await service.get(`${catalog}/status`)).body.status).toBe('running')
  })

  test('catalog: the parked run of one is reserved (threat 40)', async () => {
    const { service, catalog } = api()

    const { status, body } = await service.post(`${encodeURIComponent(`$catalog:${catalog}`)}/terminate`)

    expect([status, body.error]).toEqual([400, 'ValidationError'])
  })

  test('names: to each read but its status, a run with a reserved name is one that does not exist (threat 40)', async () => {
    const { service } = api()
    const values = { args: ['secret'], memo: { note: 'secret' } }
    const hidden = await startDirectly(api(), '$hidden', { taskQueue: anId(), ...values })
    const closed = await startDirectly(api(), '$hidden', { taskQueue: anId(), ...values })
    await closed.terminate()
    const reads = [...READS_OF_RUN, 'result', 'result?wait=1s', 'stream', 'history/stream', 'trace-log/stream']
    const readAll = (id: string) =>
      Promise.all(reads.map(async (what) => ({ what, ...(await service.get(`${id}/${what}`)) })))

    const [missing = [], ...ofHidden] = await Promise.all(
      [anId(), hidden.workflowId, closed.workflowId, `${closed.workflowId}/runs/${closed.firstExecutionRunId}`].map(
        readAll,
      ),
    )

    expect(missing.map(({ status, body }) => [status, body.error])).toEqual(
      reads.map(() => [404, 'WorkflowNotFoundError']),
    )
    const expected = missing.map(({ what, body }) => [what, what === 'status' ? undefined : body.error])
    for (const answers of ofHidden) {
      expect(answers.map(({ what, body }) => [what, body.error])).toEqual(expected)
      expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain('secret')
    }
  })

  test('names: a workflow that is not in the catalog is rejected, and the error lists the ones that are', async () => {
    const { service } = api()
    const catalog = `names-${randomUUID()}`
    await publish(catalog, ['echo', 'nothing'])

    const { status, body } = await service.run('toString', null, { catalog })

    const facts = [status, body.error, body.available, body.source]
    expect(facts).toEqual([424, 'UnsupportedWorkflowError', ['echo', 'nothing'], 'gateway'])
  })

  test('names: a workflow of a published catalog is started even if no worker is running', async () => {
    const { service } = api()
    const catalog = `parked-${randomUUID()}`
    await publish(catalog, ['echo'])

    const { status, body } = await service.start('echo', 1, { catalog })

    expect(status).toBe(200)
    await service.post(`${body.workflowId}/terminate`)
  })

  test('names: the error for an input that does not match its schema names the path', async () => {
    const { service } = api()

    const wrong = await service.run('sleepFor', { ms: 'long' })
    const missing = await service.start('nap', {})

    expect([wrong.status, wrong.body.error, wrong.body.issues[0].path]).toEqual([400, 'ValidationError', '/input/ms'])
    const facts = [missing.status, missing.body.error, missing.body.issues[0].path]
    expect(facts).toEqual([400, 'ValidationError', '/input/ms'])
  })

  test('names: without a catalog any workflow name is accepted, except names of object properties', async () => {
    const { service, plainTaskQueue } = api()

    const known = await service.run('echo', 1, { catalog: plainTaskQueue })
    const ofObjects = await Promise.all(
      ['toString', 'constructor', '__proto__', 'hasOwnProperty'].map((workflowName) =>
        service.run(workflowName, null, { catalog: plainTaskQueue }),
      ),
    )

    expect([known.status, known.body.output]).toEqual([200, 1])
    expect(ofObjects.map(({ status, body }) => [status, body.error])).toEqual(
      ofObjects.map(() => [424, 'UnsupportedWorkflowError']),
    )
  })

  test('names: without a worker and a catalog nothing is started', async () => {
    const { service } = api()

    const { status, body, headers } = await service.run('echo', 1, { catalog: randomUUID() })

    expect([status, body.error, headers.get('Retry-After')]).toEqual([503, 'CatalogNotAvailableError', '3'])
  })

  test('names: a workflow of a new deployment is never rejected', async () => {
    const { service } = api()
    const catalog = `fresh-${randomUUID()}`
    const request = { workflowName: 'nothing', input: null, catalog }

    const nothingThere = await service.post('start', request)
    await publish(catalog, ['echo'])
    const notInIt = await service.post('start', request)
    await publish(catalog, ['echo', 'nothing'])
    const there = await service.post('start', request)

    expect([nothingThere.status, notInIt.status, there.status]).toEqual([503, 424, 200])
    await service.post(`${there.body.workflowId}/terminate`)
  })

  test('names: a worker that has just started is found at once', async () => {
    const { service } = api()
    const catalog = `fresh-${randomUUID()}`
    const request = { workflowName: 'echo', input: 'here', catalog }

    const before = await service.post('run', request)
    const worker = await startWorker({ address: inject('engine').address, taskQueue: catalog })
    const after = await service.post('run', request)
    await worker.stop()

    expect([before.status, after.status, after.body.output]).toEqual([503, 200, 'here'])
  })

  test('names: a removed workflow is rejected once its catalog is read again', async () => {
    const { restrictedService } = api()
    const catalog = `less-${randomUUID()}`
    await publish(catalog, ['echo', 'nothing'])
    const { body } = await restrictedService.start('nothing', null, { catalog })
    await publish(catalog, ['echo'])

    const rejected = await until('the new catalog counts', async () => {
      const { workflowId } = body
      const answer = await restrictedService.start('nothing', null, { catalog, workflowId })
      return answer.status === 424 && answer.body.error
    })

    expect(rejected).toBe('UnsupportedWorkflowError')
    await restrictedService.post(`${body.workflowId}/terminate`)
  })
}
