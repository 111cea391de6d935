import { expect, test } from 'vitest'
import * as z from 'zod'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { GrpcCode } from '../../../src/shared/temporal/grpc-code.ts'
import { defineCatalog } from '../../../src/worker/catalog/define-catalog.ts'
import { publishCatalog } from '../../../src/worker/catalog/publish-catalog.ts'
import type { Answer } from '../../support/api.ts'
import { proveChecked } from '../../support/checked.ts'
import { type ApiFixture, anId, startDirectly, startMessages, untilStatus } from './api-fixture.ts'

/** Schemas that a catalog publishes for signals, queries and updates. */
export function handlerSchemas(api: () => ApiFixture): void {
  function post(path: string, body?: unknown, service: 'service' | 'serviceBehindFaultProxy' = 'service') {
    return api()[service].post(path, body)
  }

  /**
   * Whether the service says that it could not read the schema within half a second, which a busy machine can cause.
   */
  async function isUnchecked({ headers }: Answer): Promise<boolean> {
    return (await api().logged(headers.get('X-Request-Id') ?? '')).inputUnchecked !== undefined
  }

  /** A test that is repeated if one of its messages was not checked in time. */
  function schemaTest(name: string, prove: (send: typeof post) => Promise<void>): void {
    test(name, async () => {
      let answers: Answer[] = []
      const send: typeof post = async (...message) => {
        const answer = await post(...message)
        answers.push(answer)
        return answer
      }
      await proveChecked(
        () => {
          answers = []
          return prove(send)
        },
        async () => (await Promise.all(answers.map(isUnchecked))).includes(true),
      )
    })
  }

  /**
   * Of a workflow `cart` whose signal `checkout` takes what `by` says. No worker serves it: the engine keeps signals.
   */
  async function publishCart(catalog: string, by: z.ZodType) {
    const { connection } = api().client
    const definition = defineCatalog({ cart: { signals: { checkout: { input: z.object({ by }) } } }, basket: {} })
    await publishCatalog({ connection, namespace: 'default', catalog, definition, traces: false, identity: 'test' })
  }

  async function startCart(catalog: string, type = 'cart', workflowId = anId()) {
    const run = await startDirectly(api(), type, { workflowId, taskQueue: catalog })
    return { workflowId, runId: run.firstExecutionRunId }
  }

  schemaTest(
    'signal, query and update: an argument that does not match the published schema is a 400 and does not reach the workflow',
    async (post) => {
      const catalog = `cart-${anId()}`
      await publishCart(catalog, z.string())
      const cart = await startCart(catalog)
      const messages = await startMessages(api())

      const signal = await post(`${cart.workflowId}/signal/checkout`, { payload: { by: 17 } })
      const query = await post(`${messages.workflowId}/query/echo`, { payload: { a: 'x' } })
      const update = await post(`${messages.workflowId}/update/validated`, { args: ['1', 2] })
      const pinned = await post(`${messages.workflowId}/runs/${messages.runId}/update/validated`, { payload: null })

      expect([signal.status, signal.body]).toEqual([
        400,
        expect.objectContaining({
          error: 'ValidationError',
          source: 'gateway',
          message:
            'Invalid argument for signal "checkout" of workflow "cart": /payload/by must be of type string, not number',
          issues: [{ path: '/payload/by', message: 'must be of type string, not number' }],
          ...cart,
        }),
      ])
      const ofQuery = [query.status, query.body.error, query.body.issues[0].path]
      expect(ofQuery).toEqual([400, 'ValidationError', '/payload/a'])
      const ofUpdate = [update.status, update.body.error, update.body.issues]
      expect(ofUpdate).toEqual([400, 'ValidationError', [expect.objectContaining({ path: '/args/0' })]])
      expect([pinned.status, pinned.body.issues[0].path, pinned.body.runId]).toEqual([400, '/payload', messages.runId])
      const { body: status } = await api().service.get(`${cart.workflowId}/status`)
      expect(status.historyLength).toBe(2)
      expect((await post(`${messages.workflowId}/query/state`)).body.value).toBeNull()
      await post(`${cart.workflowId}/terminate`)
      await post(`${messages.workflowId}/signal/finish`)
    },
  )

  schemaTest(
    'signal, query and update: a matching argument, additional arguments and no arguments reach the workflow',
    async (post) => {
      const { workflowId } = await startMessages(api())

      const several = await post(`${workflowId}/query/echo`, { args: [{ a: 1 }, null, { a: 'x' }] })
      const none = await post(`${workflowId}/query/echo`)
      const set = await post(`${workflowId}/update/validated`, { payload: 5 })
      const unlisted = await post(`${workflowId}/update/echo`, { payload: { any: 'thing' } })

      const found = [several.body, none.body, set.body, unlisted.body]
      expect(found).toEqual([[{ a: 1 }, null, { a: 'x' }], [], 5, [{ any: 'thing' }]])
      await post(`${workflowId}/signal/finish`)
    },
  )

  schemaTest(
    'start, signal, query and update: a missing argument is a 400 if the catalog says that it is required',
    async (post) => {
      const name = z.object({ name: z.string() })
      const catalog = `required-${anId()}`
      const handlers = { approve: { input: name }, hurry: { input: name, inputOptional: true } }
      const definition = defineCatalog({ cart: { input: name, signals: handlers }, basket: { input: name.optional() } })
      const { connection } = api().client
      await publishCatalog({ connection, namespace: 'default', catalog, definition, traces: false, identity: 'test' })
      const { workflowId } = await startCart(catalog)
      const messages = await startMessages(api())
      const start = (workflowName: string, more: object) => ({ workflowName, catalog, workflowId: anId(), ...more })

      const answers = [
        await post('start', start('cart', { args: [] })),
        await post('run', start('cart', { args: [] })),
        await post('validate', start('cart', { args: [] })),
        await post('signal-with-start/hurry', start('cart', { startArgs: [] })),
        await post('signal-with-start/approve', start('cart', { input: { name: 'Ada' } })),
        await post(`${workflowId}/signal/approve`),
        await post(`${workflowId}/signal/approve`, {}),
        await post(`${workflowId}/signal/approve`, { args: [] }),
        await post(`${messages.workflowId}/update/validated`),
        await post(`${messages.workflowId}/runs/${messages.runId}/update/validated`, {}),
      ]
      const accepted = [
        await post('validate', start('basket', { args: [] })),
        await post(`${workflowId}/signal/hurry`),
        await post(`${messages.workflowId}/query/echo`),
      ]

      const of = (path: string, count: number) =>
        Array.from({ length: count }, () => [400, 'ValidationError', [{ path, message: 'is required' }]])
      expect(answers.map(({ status, body }) => [status, body.error, body.issues])).toEqual([
        ...of('/input', 4),
        ...of('/payload', 6),
      ])
      expect(accepted.map(({ status }) => status)).toEqual([200, 200, 200])
      const { body: status } = await api().service.get(`${workflowId}/status`)
      expect(status.historyLength).toBe(3)
      await post(`${workflowId}/terminate`)
      await post(`${messages.workflowId}/signal/finish`)
    },
  )

  schemaTest('signal: a name that the catalog does not list is accepted with a warning', async (post) => {
    const catalog = `cart-${anId()}`
    await publishCart(catalog, z.string())
    const cart = await startCart(catalog)
    const workflowId = anId()
    const start = { workflowName: 'cart', catalog, workflowId, startArgs: [] }

    const signal = await post(`${cart.workflowId}/signal/chekout`, { payload: 1 })
    const withStart = await post('signal-with-start/chekout', start)
    const listed = await post(`${workflowId}/signal/checkout`, { payload: { by: 'Ada' } })

    const warning = 'Catalog "CATALOG" lists no signal "chekout" of workflow "cart". It lists: checkout'
    const warnings = [warning.replace('CATALOG', catalog)]
    expect([signal.status, signal.body]).toEqual([200, { ...cart, signal: 'chekout', accepted: true, warnings }])
    expect([withStart.status, withStart.body.warnings]).toEqual([200, warnings])
    expect([listed.status, listed.body]).not.toHaveProperty('warnings')
    expect([signal, withStart, listed].map(({ headers }) => headers.get('Portico-Warning'))).toEqual([
      ...warnings,
      ...warnings,
      null,
    ])
    await post(`${cart.workflowId}/terminate`)
    await post(`${workflowId}/terminate`)
  })

  schemaTest(
    'signal: an argument is accepted if the catalog has changed to allow it, or if another workflow has the id now',
    async (post) => {
      const catalog = `cart-${anId()}`
      await publishCart(catalog, z.string())
      const changed = await startCart(catalog)
      const reused = await startCart(catalog)
      const send = (workflowId: string, by: unknown) => post(`${workflowId}/signal/checkout`, { payload: { by } })
      const before = await Promise.all([changed, reused].map(({ workflowId }) => send(workflowId, 17)))
      const kept = await send(reused.workflowId, 'Ada')

      await post(`${reused.workflowId}/terminate`)
      await startCart(catalog, 'basket', reused.workflowId)
      const other = await send(reused.workflowId, 17)
      await publishCart(catalog, z.number())
      const allowed = await send(changed.workflowId, 17)

      expect([...before, kept, other, allowed].map(({ status }) => status)).toEqual([400, 400, 200, 200, 200])
      await post(`${changed.workflowId}/terminate`)
      await post(`${reused.workflowId}/terminate`)
    },
  )

  schemaTest(
    'signal and update: a missing run is 404 and a closed run 409 for any argument; a query is validated',
    async (post) => {
      const { workflowId } = await startMessages(api())
      const rejected = await post(`${workflowId}/update/validated`, { payload: 'x' })
      await post(`${workflowId}/signal/finish`)
      await untilStatus(api(), workflowId, 'completed')

      const closed = await post(`${workflowId}/update/validated`, { payload: 'x' })
      const query = await post(`${workflowId}/query/echo`, { payload: { a: 'x' } })
      const missing = await post(`${anId()}/update/validated`, { payload: 'x' })

      expect([rejected, closed, query, missing].map(({ status, body }) => [status, body.error])).toEqual([
        [400, 'ValidationError'],
        [409, 'WorkflowNotRunningError'],
        [400, 'ValidationError'],
        [404, 'WorkflowNotFoundError'],
      ])
    },
  )

  test('signal: schemas of the older form are not enforced', async () => {
    const catalog = `older-${anId()}`
    const workflows = [{ name: 'cart', signals: [{ name: 'checkout', inputSchema: { type: 'string' } }] }]
    const workflowNames = { cart: 'cart' }
    const options = {
      workflowId: catalog,
      taskQueue: `${catalog}-itself`,
      args: [{ workflows, workflowNames }],
      memo: { workflowNames },
    }
    await startDirectly(api(), '$catalog', options)
    const { workflowId } = await startCart(catalog)

    const { status } = await post(`${workflowId}/signal/checkout`, { payload: 17 })

    expect(status).toBe(200)
    await post(`${workflowId}/terminate`)
    await api().client.workflow.getHandle(catalog).terminate()
  })

  test('signal: is sent without validation if the run or its catalog cannot be read within half a second', async () => {
    const { faultProxy } = api()
    const catalogs = [`cart-${anId()}`, `cart-${anId()}`] as const
    await Promise.all(catalogs.map((catalog) => publishCart(catalog, z.string())))
    const [denied, hanging, unread] = await Promise.all([
      startCart(catalogs[0]),
      startCart(catalogs[0]),
      startCart(catalogs[1]),
    ])
    const method = 'DescribeWorkflowExecution'
    const heal = [
      faultProxy.on({
        method,
        containing: denied.workflowId,
        fault: { code: GrpcCode.PERMISSION_DENIED, message: 'no' },
      }),
      faultProxy.on({ method, containing: hanging.workflowId, fault: 'hang' }),
      faultProxy.on({ method, containing: `$catalog:${catalogs[1]}`, fault: 'hang' }),
    ]
    const send = ({ workflowId }: { workflowId: string }) =>
      post(`${workflowId}/signal/checkout`, { payload: { by: 17 } }, 'serviceBehindFaultProxy')

    const unchecked = await Promise.all([denied, hanging, unread].map(send))
    for (const end of heal) end()
    const checked = await until('the schema is read in time', async () => {
      const answer = await send(hanging)
      return (await isUnchecked(answer)) ? null : answer
    })

    expect([...unchecked, checked].map(({ status }) => status)).toEqual([200, 200, 200, 400])
    for (const { workflowId } of [denied, hanging, unread]) await post(`${workflowId}/terminate`)
  })

  schemaTest(
    'update-with-start: is validated against the workflow to start, or against the open run of that id',
    async (post) => {
      if (api().hasGap('update-with-start')) return
      const workflowId = anId()
      const send = (workflowName: string, payload: unknown, id?: string) =>
        post('update-with-start/validated', {
          workflowName,
          input: null,
          payload,
          ...(id !== undefined && { workflowId: id }),
        })

      const nameless = await send('messages', 'x')
      const rejected = await send('messages', 'x', workflowId)
      const nothing = await api().service.get(`${workflowId}/status`)
      const started = await send('messages', 1, workflowId)
      const again = await send('messages', 'x', workflowId)

      expect(
        [nameless, rejected, again].map(({ status, body }) => [status, body.error, body.issues?.[0].path]),
      ).toEqual(Array.from({ length: 3 }, () => [400, 'ValidationError', '/payload']))
      const facts = [nothing.status, started.status, started.body.result, again.body.runId]
      expect(facts).toEqual([404, 200, 1, started.body.runId])
      await post(`${workflowId}/terminate`)
    },
  )

  schemaTest(
    'update-with-start: for an open run of another workflow, the schema of that workflow applies',
    async (post) => {
      if (api().hasGap('update-with-start')) return
      const catalog = `other-${anId()}`
      const { connection } = api().client
      const definition = defineCatalog({ other: { updates: { set: { input: z.number() } } } })
      await publishCatalog({ connection, namespace: 'default', catalog, definition, traces: false, identity: 'test' })
      const { workflowId, runId } = await startMessages(api())
      const body = { workflowName: 'other', catalog, input: null, workflowId, payload: 'new' }

      const accepted = await post('update-with-start/set', body)

      expect([accepted.status, accepted.body]).toEqual([
        200,
        { workflowId, runId, started: false, result: { before: null, after: 'new' } },
      ])
      await post(`${workflowId}/signal/finish`)
    },
  )
}
