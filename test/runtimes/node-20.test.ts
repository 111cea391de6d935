/** The error on a Node.js that is too old, from the programs and from the modules that others import. */
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { ensureNode20 } from '../../dev/servers/components.ts'
import { startProcess } from '../../dev/servers/process.ts'

const MESSAGE = 'Portico needs Node.js 22.18 or newer, and this is Node.js 20.19.5'

let node20: string
let bundles: string

beforeAll(async () => {
  ;[node20, bundles] = await Promise.all([ensureNode20(), ensureBundles()])
})

/** Runs Node 20 and returns its exit code and output. */
async function runNode20(...args: string[]) {
  const env = { SERVICE_CATALOG_ID: 'orders', SERVICE_PORT: '0', PATH: process.env.PATH }
  const running = await startProcess({ command: node20, args, cwd: bundles, env })
  const { code } = await running.ended
  return { code, output: running.output().trim() }
}

test('Node 20: the service prints one sentence and exits with 1', async () => {
  expect(await runNode20('node.js')).toEqual({ code: 1, output: MESSAGE })
})

test('Node 20: npx portico prints one sentence and exits with 1, with any arguments', async () => {
  expect(await runNode20('cli.js')).toEqual({ code: 1, output: MESSAGE })
  expect(await runNode20('cli.js', '--help')).toEqual({ code: 1, output: MESSAGE })
})

test('Node 20: importing portico or portico/worker throws one error without stack frames', async () => {
  for (const entry of ['index.js', 'worker.js']) {
    const url = join(bundles, entry)
    const script = `await import('${url}').catch((error) => { console.log(error instanceof Error, error.message === error.stack.slice(7)); throw error })`
    const { code, output } = await runNode20('--input-type=module', '--eval', script)

    expect({ entry, code }).toEqual({ entry, code: 1 })
    expect(output.split('\n').filter((line) => line.includes(MESSAGE) || /^ +at /.test(line))).toHaveLength(1)
    expect(output).toMatch(/^true true$/m)
  }
})
