import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { bin, DENO_PERMISSIONS } from '../../dev/servers/runtimes.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { describeProcessLifecycle } from '../conformance/process-lifecycle.ts'
import { makeApi } from '../support/api.ts'
import { processOf, type ServeEntry, workerdOf } from '../support/entries.ts'
import { test } from '../support/fixtures.ts'
import { announceErrors } from '../support/invariants.ts'
import { readiness } from '../support/readiness.ts'

const COMMANDS = { Node: [process.execPath], Bun: [bin('bun')], Deno: [bin('deno'), 'run', ...DENO_PERMISSIONS] }

type Runtime = keyof typeof COMMANDS

/** The bundle, as it is deployed. `before` is a command that gets the runtime's command as its arguments. */
function bundleOn(runtime: Runtime, ...before: string[]): ServeEntry {
  return async (env) => {
    const [command = '', ...args] = [...before, ...COMMANDS[runtime]]
    return processOf(command, ...args, join(await ensureBundles(), `${runtime.toLowerCase()}.js`))(env)
  }
}

const own = { drains: true, noticesFin: true, pipelines: true }

describeProcessLifecycle('Node', bundleOn('Node'), own)
describeProcessLifecycle('Bun', bundleOn('Bun'), { ...own, pipelines: false })
describeProcessLifecycle('Deno', bundleOn('Deno'), own)
describeProcessLifecycle(
  'workerd',
  async (env) => workerdOf(join(await ensureBundles(), 'workerd.js'))({ SERVICE_ALLOW_ANONYMOUS: 'true', ...env }),
  // Cloudflare lets requests end before it takes an isolate away.
  { drains: false, noticesFin: false, pipelines: true },
)

test('Deno: the service listens again after it has run out of file descriptors (failure 40)', async ({ engine }) => {
  announceErrors(/Deno stopped listening; retrying.*Too many open files/)
  const serve = bundleOn('Deno', 'sh', '-c', 'ulimit -n 80 && exec "$0" "$@"')
  const { url, ...service } = await serve({
    SERVICE_CATALOG_ID: 'any',
    ENGINE_ADDRESS: engine.address,
  })

  const sockets = Array.from({ length: 150 }, () =>
    connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {}),
  )
  await until('it listens again', () => service.output().includes('listening again'))
  for (const socket of sockets) socket.destroy()

  await until('it answers again', async () => (await fetch(`${url}/health`)).ok)
  await service.stop()
  expect(await service.ended).toEqual({ code: 0, signal: null })
})

test.for<[runtime: Runtime, fate: 'are rejected' | 'wait']>([
  ['Node', 'are rejected'],
  ['Bun', 'wait'],
])(
  '%s: without file descriptors new connections %s, and the service answers when others are closed (failure 40)',
  async ([runtime, expected], { engine }) => {
    const serve = bundleOn(runtime, 'sh', '-c', 'ulimit -n 80 && exec "$0" "$@"')
    const { url, ...service } = await serve({ SERVICE_CATALOG_ID: 'any', ENGINE_ADDRESS: engine.address })
    await readiness(makeApi({ url }))
    let closed = 0

    const sockets = Array.from({ length: 150 }, () =>
      connect(Number(new URL(url).port), '127.0.0.1')
        .on('error', () => {})
        .on('close', () => closed++)
        .resume(),
    )
    await until('no descriptor is left', () => readdirSync(`/proc/${service.pid}/fd`).length >= 80)
    await until(`connections ${expected}`, () => closed > 0 === (expected === 'are rejected'))
    const fate = closed > 0 ? 'are rejected' : 'wait'
    for (const socket of sockets) socket.destroy()

    await until('it answers again', async () => (await fetch(`${url}/health`)).ok)
    await service.stop()
    expect(fate).toBe(expected)
    expect(await service.ended).toEqual({ code: 0, signal: null })
  },
)

describe('ENGINE_TRANSPORT=http on runtimes that also support gRPC', () => {
  let env: Record<string, string>

  test.beforeAll(({ engine, catalog, worker: _ }) => {
    env = {
      SERVICE_CATALOG_ID: catalog,
      ENGINE_ADDRESS: engine.address,
      ENGINE_TRANSPORT: 'http',
    }
  })

  const post = (url: string, body: object) =>
    fetch(`${url}/workflow/run`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })

  test.for(['Node', 'Bun', 'Deno'] as const)(
    'HTTP on %s: a workflow runs, and a workflow id with a slash is a 501',
    async (runtime) => {
      const { url, stop } = await bundleOn(runtime)(env)
      await readiness(makeApi({ url }))

      const ran = await post(url, { workflowName: 'echo', input: { text: 'x'.repeat(100), price: 0.5 } })
      const slash = await post(url, { workflowName: 'echo', input: null, workflowId: 'a/b' })
      const capabilities = await fetch(`${url}/capabilities`)

      expect([ran.status, await ran.json()]).toMatchObject([200, { output: { text: 'x'.repeat(100), price: 0.5 } }])
      expect([slash.status, await slash.json()]).toMatchObject([501, { error: 'NotSupportedError' }])
      expect(await capabilities.json()).toMatchObject({ transport: 'http', runtime: runtime.toLowerCase() })
      await stop()
    },
  )
})
