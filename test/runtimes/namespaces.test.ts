/** Two namespaces behind one service, on each runtime. `test/engines/namespaces.test.ts` has the details, on Node. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { createClient } from '../../src/client/create-client.ts'
import { makeApi } from '../support/api.ts'
import { EVERY_RUNTIME, FROM_SOURCE, GRPC_RUNTIMES, RUNTIMES } from '../support/entries.ts'
import { testWithOwnEngine } from '../support/fixtures.ts'
import { readiness } from '../support/readiness.ts'

const test = testWithOwnEngine({ namespaces: ['acme'] }).extend('workers', { scope: 'file' }, ({ startWorker }) =>
  Promise.all(['default', 'acme'].map((namespace) => startWorker({ namespace }))),
)

const TOKEN = 'own-token'

test.for(RUNTIMES)(
  '%s: the same id, key and task queue in two namespaces are apart (threat 35)',
  async (runtime, { engine, catalog, cleanup, workers: _ }) => {
    const { url, stop } = await EVERY_RUNTIME[runtime]({
      SERVICE_CATALOG_ID: catalog,
      SERVICE_API_AUTH_TOKEN: TOKEN,
      ENGINE_ADDRESS: engine.address,
      ENGINE_HTTP_URL: engine.httpUrl ?? '',
      ENGINE_NAMESPACES: 'acme',
    })
    cleanup.defer(stop)
    const { call } = makeApi({ url, token: TOKEN })
    await readiness({ call })
    const prefixes = ['', '/namespaces/acme']
    const key = { 'Idempotency-Key': `key-${runtime}` }
    const run = (prefix: string) =>
      call(
        'POST',
        `${prefix}/workflow/run`,
        { workflowName: 'echo', workflowId: `twin-${runtime}`, input: prefix },
        key,
      )

    const outputs = await Promise.all(prefixes.map(async (prefix) => (await run(prefix)).body.output))
    const started = await call('POST', '/namespaces/acme/workflow/start', { workflowName: 'waitForSignal', args: [] })
    const { workflowId } = started.body
    const statuses = await Promise.all(
      prefixes.map(async (prefix) => (await call('GET', `${prefix}/workflow/${workflowId}/status`)).status),
    )
    const [unknown, ready, open] = await Promise.all([
      call('GET', '/namespaces/none/ready'),
      readiness({ call }, '/namespaces/acme/ready'),
      fetch(`${url}/namespaces/acme/ready`),
    ])
    const handle = createClient({ url, token: TOKEN, namespace: 'acme' }).workflow('waitForSignal').get(workflowId)
    const waiting = handle.result()
    await handle.signal('finish', { payload: runtime })

    expect(outputs).toEqual(prefixes)
    expect(started.headers.get('Location')).toBe(`/namespaces/acme/workflow/${workflowId}/result`)
    expect(statuses).toEqual([404, 200])
    expect([unknown.status, ready.status, open.status]).toEqual([404, 200, 401])
    expect(await waiting).toEqual([runtime])
  },
)

test.for(GRPC_RUNTIMES)(
  '%s: a shutdown ends the waits in all namespaces',
  async (runtime, { engine, catalog, cleanup, workers: _ }) => {
    const { url, stop, ended } = await FROM_SOURCE[runtime]({
      SERVICE_CATALOG_ID: catalog,
      SERVICE_SHUTDOWN_TIMEOUT: '3s',
      SERVICE_METRICS_ON: 'true',
      ENGINE_ADDRESS: engine.address,
      ENGINE_NAMESPACES: 'acme',
    })
    cleanup.defer(stop)
    const { call } = makeApi({ url })
    const waits = ['', '/namespaces/acme'].map((prefix) =>
      call('POST', `${prefix}/workflow/run`, { workflowName: 'waitForSignal', args: [] }),
    )
    await until('both wait', async () => (await call('GET', '/metrics')).text.includes('portico_open_waits 2'))

    await stop()

    expect((await Promise.all(waits)).map(({ status }) => status)).toEqual([424, 424])
    expect(await ended).toMatchObject({ code: 0 })
  },
)
