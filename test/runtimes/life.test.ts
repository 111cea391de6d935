import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { describeLife } from '../conformance/life.ts'
import { haveBundles } from '../support/bundles.ts'
import { bin, DENO_PERMISSIONS, processOf, type ServeEntry, workerdOf } from '../support/entries.ts'
import { until } from '../support/until.ts'

const COMMANDS = { Node: [process.execPath], Bun: [bin('bun')], Deno: [bin('deno'), 'run', ...DENO_PERMISSIONS] }

type Runtime = keyof typeof COMMANDS

/** The bundle, which is what is deployed; `before`: a command that is given the command. */
function bundleOn(runtime: Runtime, ...before: string[]): ServeEntry {
  return async (env) => {
    const [command = '', ...args] = [...before, ...COMMANDS[runtime]]
    return processOf(command, ...args, join(await haveBundles(), `${runtime.toLowerCase()}.js`))(env)
  }
}

const own = { drains: true, noticesFin: true }

describeLife('Node', bundleOn('Node'), own)
describeLife('Bun', bundleOn('Bun'), own)
describeLife('Deno', bundleOn('Deno'), own)
describeLife(
  'workerd',
  async (env) => workerdOf(join(await haveBundles(), 'workerd.js'))({ SERVICE_ALLOW_ANONYMOUS: 'true', ...env }),
  // Cloudflare lets requests end before it takes an isolate away.
  { drains: false, noticesFin: false },
)

test.concurrent.for(['Node', 'Bun', 'Deno'] as const)('%s: lives on when its file descriptors have run out', async (runtime) => {
  const serve = bundleOn(runtime, 'sh', '-c', 'ulimit -n 80 && exec "$0" "$@"')
  const { url, ...service } = await serve({
    PATH: process.env.PATH ?? '',
    SERVICE_CATALOG_ID: 'any',
    SERVICE_PORT: '0',
    ENGINE_ADDRESS: inject('engine').address,
  })
  const port = Number(new URL(url).port)
  const health = () => fetch(`${url}/health`, { signal: AbortSignal.timeout(500) }).catch(() => null)

  const crowd = Array.from({ length: 150 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  // They stand in the system's queue before whoever comes now.
  await Promise.all(crowd.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])))
  await until('there is no place for one more', async () => (await health()) === null)
  for (const socket of crowd) socket.destroy()

  await until('it answers again', async () => (await health())?.ok)
  await service.stop()
  expect(await service.ended).toEqual({ code: 0, signal: null })
})
