/** A run with a history of several pages, read by the API and archived by a worker. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { grpcTransport } from '../../src/service/engine/transport/grpc/transport.ts'
import type { Transport } from '../../src/service/engine/transport/transport.ts'
import { createPortico } from '../../src/service/portico.ts'
import { parseConfig } from '../../src/shared/config.ts'
import type { TraceNode } from '../../src/shared/wire/trace/tree.ts'
import { defineCatalog } from '../../src/worker/index.ts'
import { archivedTrace } from '../support/archived-trace.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { withoutSpans } from '../support/trace-nodes.ts'
import * as activities from './fixtures/traced-activities.ts'

// The engine returns 256 events per page.
const SIGNALS = 2000

const test = baseTest
  /** A completed run with a long history. */
  .extend('run', { scope: 'file' }, async ({ client, catalog, startTracedWorker }) => {
    const handle = await client.workflow.start('story', {
      workflowId: catalog,
      taskQueue: catalog,
      args: [{ end: 'complete' }],
    })
    for (let sent = 0; sent < SIGNALS; sent += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => handle.signal('count', sent + index)))
    }
    const workflowsPath = new URL('./fixtures/traced-workflows.ts', import.meta.url)
    await startTracedWorker({ plugin: { catalog: defineCatalog({ story: {} }) }, activities, workflowsPath })
    await handle.result()
    return handle
  })
  /** Reads the trace from the history alone, and counts the pages requested from the engine. */
  .extend('traceLog', { scope: 'file' }, ({ engine, catalog, run }) => async (env: Record<string, string> = {}) => {
    const { address } = engine
    const grpc = grpcTransport({ address, apiKey: null, tls: null })
    let pages = 0
    const transport: Transport = {
      ...grpc,
      call(method, request, options) {
        if (method === 'getWorkflowExecutionHistory') pages++
        return grpc.call(method, request, options)
      },
    }
    const config = parseConfig({ ENGINE_ADDRESS: address, SERVICE_CATALOG_ID: catalog, ...env }, { binds: true })
    const portico = createPortico({ config, transport, log() {} })
    // A busy machine may take longer to read thousands of events than a request may take.
    const text = await until('the trace is read', async () => {
      pages = 0
      const response = await portico.fetch(new Request(`http://localhost/workflow/${run.workflowId}/trace-log`))
      return response.status !== 503 && (await response.text())
    })
    const { warnings, data } = JSON.parse(text)
    await portico.close()
    return { pages, warnings, data: data as TraceNode }
  })

test('a long history is read page by page, and archived completely', async ({ run, traceLog, folder }) => {
  const { pages, data } = await traceLog()
  const { tree } = await archivedTrace(folder, run.firstExecutionRunId)

  const counted = data.children.filter(({ kind }) => kind === 'signal').map(({ input }) => Number(input))
  expect(pages).toBeGreaterThan(7)
  expect(counted.toSorted((a, b) => a - b)).toEqual(Array.from({ length: SIGNALS }, (_, index) => index))
  expect(withoutSpans(tree)).toEqual(data)
})

test('a long history is read only up to the size limit', async ({ traceLog }) => {
  const { pages, warnings, data } = await traceLog({ SERVICE_TRACE_MAX_BYTES: '65536' })

  expect(pages).toBe(1)
  expect(data.attributes.truncated).toBe(true)
  expect(warnings).toEqual([expect.stringContaining('the history is larger than 65536 bytes')])
})
