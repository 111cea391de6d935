/** What a worker says about its catalog when it starts. */
import { fileURLToPath } from 'node:url'
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker'
import { expect } from 'vitest'
import * as z from 'zod'
import { ensureWorkflowBundle } from '../../dev/servers/workflow-bundle.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { porticoPlugin } from '../../src/worker/plugin.ts'
import { test as kitTest } from '../support/kit-worker.ts'

const WORKFLOWS = new URL('fixtures/refund-workflows.ts', import.meta.url)

const test = kitTest
  /** Runs a worker until its catalog is published. Returns what it has logged about it. */
  .extend('logOf', ({ engine, log, cleanup }) => {
    return async (catalog: ReturnType<typeof defineCatalog>, options: Partial<WorkerOptions>) => {
      const connection = await NativeConnection.connect({ address: engine.address })
      cleanup.defer(() => connection.close())
      const ready = Promise.withResolvers<void>()
      const taskQueue = `warnings-${crypto.randomUUID()}`
      const plugins = [porticoPlugin({ catalog, onReady: () => ready.resolve() })]
      const worker = await Worker.create({
        connection,
        taskQueue,
        plugins,
        activities: { nothing: async () => {} },
        ...options,
      })
      await worker.runUntil(ready.promise)
      return log
        .filter(({ meta }) => meta?.taskQueue === taskQueue && meta.catalog === undefined)
        .filter(({ level, message }) => level === 'WARN' || message.includes('not checked'))
        .map(({ level, message }) => `${level} ${message.replace(taskQueue, 'queue')}`)
    }
  })

const DIFFERENCES = [
  'WARN The catalog lists "refnd", which the workflow bundle does not export: its runs cannot proceed; did you mean "refund"?',
  'WARN The workflow bundle exports "invoice", which the catalog lacks: the API does not start what it lacks',
]

test('a worker warns if its catalog and its workflow bundle differ', async ({ logOf }) => {
  const catalog = defineCatalog({ refund: {}, refnd: {} })

  expect(await logOf(catalog, { workflowBundle: await ensureWorkflowBundle(WORKFLOWS) })).toEqual(DIFFERENCES)
})

test('a worker whose workflows the SDK bundles warns too, and keeps the hook that it was given', async ({ logOf }) => {
  let isCalled = false
  const webpackConfigHook: NonNullable<WorkerOptions['bundlerOptions']>['webpackConfigHook'] = (config) => {
    isCalled = true
    return config
  }
  const options = { workflowsPath: fileURLToPath(WORKFLOWS), bundlerOptions: { webpackConfigHook } }

  expect(await logOf(defineCatalog({ refund: {}, refnd: {} }), options)).toEqual(DIFFERENCES)
  expect(isCalled).toBe(true)
})

test('a worker says once what its catalog does not check', async ({ logOf }) => {
  const input = z.object({ card: z.string().refine((card) => card !== ''), n: z.coerce.number().default(1) })
  const catalog = defineCatalog({ refund: { input }, invoice: { input: z.object({ n: z.number() }) } })

  expect(await logOf(catalog, { workflowBundle: await ensureWorkflowBundle(WORKFLOWS) })).toEqual([
    'INFO queue.refund: refine at /card, coerce and default at /n are not checked by Portico',
  ])
})
