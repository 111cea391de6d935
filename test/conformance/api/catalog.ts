import { randomUUID } from 'node:crypto'
import { expect, inject, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../../src/worker/catalog/define-catalog.ts'
import { publishCatalog } from '../../../src/worker/catalog/publish-catalog.ts'
import { rule } from '../../support/rules.ts'
import { startWorker } from '../../support/worker.ts'
import { type ApiFixture, startDirectly } from './api-fixture.ts'

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

  rule('catalog.lists-the-workflows-with-their-schemas', async () => {
    const { service, catalog } = api()

    const { status, body } = await service.get('catalog')

    expect([status, body.catalog]).toEqual([200, catalog])
    const entries = new Map<string, unknown>(body.workflows.map((entry: { name: string }) => [entry.name, entry]))
    expect(entries.get('sleepFor')).toEqual({
      name: 'sleepFor',
      description: null,
      inputSchema: expect.objectContaining({ type: 'object', required: ['ms'] }),
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

    expect([status, body.catalog, body.workflows.map(({ name }: { name: string }) => name)]).toEqual([
      200,
      catalog,
      ['one'],
    ])
  })

  test('catalog: a worker that publishes no catalog has no catalog to list', async () => {
    const { service, plainTaskQueue } = api()

    const { status, body } = await service.get(`catalog/${plainTaskQueue}`)

    expect([status, body.error]).toEqual([404, 'CatalogNotFoundError'])
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

    expect(listing.body.workflows).toEqual([
      {
        ...{ name: 'echo', description: 'Of the older form', inputSchema: OF_RESULTS, outputSchema: null },
        ...{ aliases: [], signals: [], queries: [], updates: [] },
      },
    ])
    expect([ran.status, ran.body.output, unknown.status]).toEqual([200, 7, 424])
    expect([unfit.status, unfit.body.output]).toEqual([200, coerced])
  })

  test('catalog: the run of one of the older form is out of reach', async () => {
    const { service } = api()
    const catalog = `older-${randomUUID()}`
    await publishOlderForm(catalog)

    const stop = await service.call('PATCH', `/workflow/${catalog}/stop`)
    const terminate = await service.post(`${catalog}/terminate`)
    await service.get(`catalog/${catalog}`)
    const signal = await service.post(`${catalog}/signal/any`)
    const update = await service.post(`${catalog}/update/any`)

    const expected = [403, 'ForbiddenError']
    expect([stop, terminate, signal, update].map(({ status, body }) => [status, body.error])).toEqual([
      expected,
      expected,
      expected,
      expected,
    ])
    expect((await service.get(`${catalog}/status`)).body.status).toBe('running')
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

    const refused = await until('the new catalog counts', async () => {
      const { workflowId } = body
      const answer = await restrictedService.start('nothing', null, { catalog, workflowId })
      return answer.status === 424 && answer.body.error
    })

    expect(refused).toBe('UnsupportedWorkflowError')
    await restrictedService.post(`${body.workflowId}/terminate`)
  })
}
