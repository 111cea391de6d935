/** The workers of examples/publish-catalog/, which docs/protocol.md describes. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Client } from '@temporalio/client'
import { expect } from 'vitest'
import { startProcess } from '../../dev/servers/process.ts'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { startPythonWorker } from '../support/python-worker.ts'
import { goEnvironment } from './tools.ts'

// Compiling the Go SDK for the first time takes minutes on a busy machine.
const PATIENT = { timeout: 1_200_000 }

interface Program {
  /** Starts the program of the page for this task queue. */
  start: (program: string) => Promise<{ stop(): Promise<unknown> }>
  language: string
}

const test = baseTest.extend(
  'proveThatItPublishes',
  ({ engine, client, serve }) =>
    async ({ language, start }: Program, catalog: string) => {
      const program = (await publishingProgram(language))
        .replaceAll('localhost:7233', engine.address)
        .replaceAll('"shop"', `"${catalog}"`)
      const service = serve({ SERVICE_CATALOG_ID: catalog })
      const get = () => service.fetch(new Request('http://portico/workflow/catalog'))
      const run = async (body: object) => {
        const init = { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
        const response = await service.fetch(new Request('http://portico/workflow/run', init))
        return [response.status, await response.json()] as const
      }

      const first = await start(program)
      const listing = await until('the catalog is published', async () => {
        const response = await get()
        return response.ok ? response.json() : null
      })
      const greeted = await run({ workflowName: 'greet', input: { name: 'Ada' } })
      const rejected = [
        await run({ workflowName: 'greet', args: [] }),
        await run({ workflowName: 'greet', input: { name: 7 } }),
      ]
      const published = await runIdOf(client, catalog)
      await first.stop()
      // Published before its first poll, if it publishes again.
      const second = await start(program)
      await run({ workflowName: 'greet', input: { name: 'Ada' } })
      const afterwards = await runIdOf(client, catalog)
      await second.stop()

      expect(listing).toMatchObject({
        catalog,
        inputsChecked: true,
        workflows: [{ name: 'greet', inputOptional: false, inputSchema: { required: ['name'] } }],
      })
      expect(greeted).toEqual([200, expect.objectContaining({ status: 'completed', output: 'Hello, Ada!' })])
      expect(rejected.map(([status, { issues }]) => [status, issues])).toEqual([
        [400, [{ path: '/input', message: 'is required' }]],
        [400, [{ path: '/input/name', message: 'must be of type string, not number' }]],
      ])
      expect(afterwards).toBe(published)
    },
)

test(
  'publish from Python: the worker of the page publishes its catalog once',
  PATIENT,
  async ({ engine: { address }, folder, proveThatItPublishes }) => {
    const catalog = `python-${crypto.randomUUID()}`
    const script = join(folder, 'worker.py')

    await proveThatItPublishes(
      {
        language: 'python',
        async start(program) {
          await writeFile(script, program)
          return startPythonWorker({ address, taskQueue: catalog, script })
        },
      },
      catalog,
    )
  },
)

test(
  'publish from Go: the worker of the page publishes its catalog once',
  PATIENT,
  async ({ folder, proveThatItPublishes }) => {
    const catalog = `go-${crypto.randomUUID()}`
    const cwd = join(folder, 'go')
    const env = await goEnvironment()
    await mkdir(cwd)
    for (const file of ['go.mod', 'go.sum'])
      await cp(fileURLToPath(new URL(`./go-worker/${file}`, import.meta.url)), join(cwd, file))

    await proveThatItPublishes(
      {
        language: 'go',
        async start(program) {
          await writeFile(join(cwd, 'main.go'), program)
          await runCommand({ command: 'go', args: ['vet', '.'], cwd, env })
          await runCommand({ command: 'go', args: ['build', '-o', 'worker', '.'], cwd, env })
          const worker = await startProcess({ command: join(cwd, 'worker'), cwd, env })
          return { stop: () => worker.stop(10_000) }
        },
      },
      catalog,
    )
  },
)

const PROGRAMS = new Map([
  ['python', 'worker.py'],
  ['go', 'main.go'],
])

function publishingProgram(language: string): Promise<string> {
  return readFile(new URL(`../../examples/publish-catalog/${PROGRAMS.get(language)}`, import.meta.url), 'utf8')
}

async function runIdOf(client: Client, catalog: string): Promise<string> {
  return (await client.workflow.getHandle(`$catalog:${catalog}`).describe()).runId
}
