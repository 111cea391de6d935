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

const own = { drains: true, noticesFin: true, pipelines: true }

describeLife('Node', bundleOn('Node'), own)
describeLife('Bun', bundleOn('Bun'), { ...own, pipelines: false })
describeLife('Deno', bundleOn('Deno'), own)
describeLife(
  'workerd',
  async (env) => workerdOf(join(await haveBundles(), 'workerd.js'))({ SERVICE_ALLOW_ANONYMOUS: 'true', ...env }),
  // Cloudflare lets requests end before it takes an isolate away.
  { drains: false, noticesFin: false, pipelines: true },
)

test('Deno: listens again when its file descriptors have run out', async () => {
  const serve = bundleOn('Deno', 'sh', '-c', 'ulimit -n 80 && exec "$0" "$@"')
  const { url, ...service } = await serve({
    PATH: process.env.PATH ?? '',
    SERVICE_CATALOG_ID: 'any',
    SERVICE_PORT: '0',
    ENGINE_ADDRESS: inject('engine').address,
  })

  const crowd = Array.from({ length: 150 }, () => connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {}))
  await until('Deno has stopped listening', () => service.output().includes('the service listens again'))
  for (const socket of crowd) socket.destroy()

  await until('it answers again', async () => (await fetch(`${url}/health`)).ok)
  await service.stop()
  expect(await service.ended).toEqual({ code: 0, signal: null })
})
