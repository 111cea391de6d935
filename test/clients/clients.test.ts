/** Generates a client with each generator of docs/clients.md, compiles it, and runs a program that uses it. */
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { catalog as exampleCatalog } from '../../examples/catalog.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { EXAMPLE_WORKER } from '../support/example-worker.ts'
import { test as sharedTest } from '../support/fixtures.ts'
import { nodeFirst } from '../support/package.ts'
import { createProject, type Finished, type Toolchain } from './project.ts'
import { ensureTypeScriptTools, goEnvironment, pythonEnvironment } from './tools.ts'
import { unusualWorkflow } from './unusual-workflow.ts'

const TOKEN = 'clients-token'

const TOOLCHAINS: Toolchain[] = [
  typescript('openapi-typescript and openapi-fetch', {
    'program.ts': 'typescript/openapi-fetch.ts',
    'tsconfig.json': 'typescript/tsconfig.json',
  }),
  typescript('@hey-api/openapi-ts', {
    'program.ts': 'typescript/hey-api.ts',
    'tsconfig.json': 'typescript/hey-api.tsconfig.json',
    'tsconfig.portico.json': 'typescript/hey-api.tsconfig.portico.json',
    'tsconfig.base.json': 'typescript/tsconfig.json',
  }),
  {
    name: 'openapi-python-client',
    files: { 'program.py': 'python/program.py', 'openapi-python-client.yaml': 'python/openapi-python-client.yaml' },
    prepare: pythonEnvironment,
  },
  {
    name: 'oapi-codegen',
    files: {
      'go.mod': 'go/go.mod',
      'go.sum': 'go/go.sum',
      'main.go': 'go/main.go',
      'oapi-codegen.yaml': 'go/oapi-codegen.yaml',
    },
    prepare: goEnvironment,
  },
]

const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => {
    const workflows = [...exampleCatalog.workflows, unusualWorkflow]
    return {
      ...EXAMPLE_WORKER,
      catalog: { workflows, workflowNames: { ...exampleCatalog.workflowNames, unusual: 'unusual' } },
    }
  })
  .extend('serviceEnv', { scope: 'file' }, () => ({ SERVICE_API_AUTH_TOKEN: TOKEN }))
  .extend('api', { scope: 'file' }, ({ serviceProcess }) => ({
    url: serviceProcess.url,
    /** The document of the service, with the operations of one catalog. */
    async document(catalog: string): Promise<string> {
      const path = `/openapi.json?catalog=${catalog}`
      return until(`${path} has the operations of the catalog`, async () => {
        const { text } = await serviceProcess.call('GET', path, undefined, { Authorization: `Bearer ${TOKEN}` })
        return text.includes('/workflow/run#greet') && text
      })
    },
  }))
  /** The catalog of a worker that takes the amount of an order as a string. */
  .extend('changedCatalog', { scope: 'file' }, async ({ startWorker }) => {
    const changed = JSON.stringify(exampleCatalog).replace('"amount":{"type":"number"}', '"amount":{"type":"string"}')
    const catalog: typeof exampleCatalog = JSON.parse(changed)
    const { taskQueue } = await startWorker({ ...EXAMPLE_WORKER, catalog, taskQueue: `changed-${crypto.randomUUID()}` })
    return taskQueue
  })

for (const toolchain of TOOLCHAINS) {
  describe(toolchain.name, () => {
    test('its client compiles in its strictest setting, and runs, updates and fails', async ({
      api,
      catalog,
      folder,
    }) => {
      const project = await createProject(toolchain, folderOf(folder, toolchain, 'client'), await api.document(catalog))
      await succeed(project.run('Generate'))
      await succeed(project.run('Compile'))

      const output = await succeed(project.run('Run', { PORTICO_URL: api.url, PORTICO_TOKEN: TOKEN }))

      // Python may print warnings first.
      expect(JSON.parse(output.split('\n').at(-1) ?? '')).toEqual({
        hello: 'Hello, Ada!',
        level: 'high',
        priority: 'high',
        accepted: true,
        failed: ['failed', 'CardDeclined'],
        problem: [400, 'ValidationError', '/input/name'],
      })
    })

    test('its client does not compile when the catalog has another type', async ({ api, changedCatalog, folder }) => {
      const document = await api.document(changedCatalog)
      const project = await createProject(toolchain, folderOf(folder, toolchain, 'changed'), document)
      await succeed(project.run('Generate'))

      const { code, output } = await project.run('Compile')

      expect(code).not.toBe(0)
      expect(output).toMatch(/\bamount\b/i)
    })
  })
}

function typescript(name: string, files: Record<string, string>): Toolchain {
  return {
    name,
    files: { 'package.json': 'typescript/package.json', ...files },
    async prepare(folder) {
      await symlink(join(await ensureTypeScriptTools(), 'node_modules'), join(folder, 'node_modules'))
      return nodeFirst
    },
  }
}

function folderOf(parent: string, { name }: Toolchain, kind: string): string {
  return join(parent, `${kind}-${TOOLCHAINS.findIndex((toolchain) => toolchain.name === name)}`)
}

/** Returns the output. */
async function succeed(running: Promise<Finished>): Promise<string> {
  const { code, output } = await running
  expect(code, output).toBe(0)
  return output
}
