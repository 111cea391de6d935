/** Numbers that JSON does not have, as Python writes them. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Api } from '../../support/api.ts'
import { test as baseTest } from '../../support/fixtures.ts'
import { startPythonWorker } from '../../support/python-worker.ts'
import { readiness } from '../../support/readiness.ts'

const READ = '"low":"-Infinity","name":"NaN"'
const SHOWN = `{"id":9007199254740993,${READ},"password":"hunter2","score":"NaN"}`
const REDACTED = `{"id":9007199254740993,${READ},"password":"[redacted]","score":"NaN"}`

const test = baseTest
  .extend('worker', { scope: 'file' }, async ({ engine, catalog, cleanup }) => {
    const worker = await startPythonWorker({ address: engine.address, taskQueue: catalog })
    cleanup.defer(() => worker.stop())
    return worker
  })
  .extend('startScores', { scope: 'file' }, ({ client, catalog, service }) => {
    return async (isFailing: boolean) => {
      await readiness(service)
      const workflowId = `scores-${crypto.randomUUID()}`
      const handle = await client.workflow.start('py_scores', { workflowId, taskQueue: catalog, args: [isFailing] })
      await until('it reports its progress', async () => (await service.get(`${workflowId}/status`)).body.progress)
      return handle
    }
  })

async function texts(service: Api, paths: readonly string[]): Promise<Record<string, string>> {
  const read = paths.map(async (path) => [path, (await service.get(path, { Accept: 'application/json' })).text])
  return Object.fromEntries(await Promise.all(read))
}

test('Python writes NaN: status, history and trace have it as a string, and no secret (threat 86)', async ({
  service,
  startScores,
}) => {
  for (const isFailing of [false, true]) {
    const run = await startScores(isFailing)
    const paths = ['status', 'history?pageSize=1000', 'trace-log'].map((path) => `${run.workflowId}/${path}`)
    const open = await texts(service, paths)
    await run.signal('finish', {})
    await run.result().catch(() => {})

    for (const read of [open, await texts(service, paths)])
      for (const [path, text] of Object.entries(read)) {
        expect(text, path).toContain(REDACTED)
        expect(text, path).not.toMatch(/hunter2|aHVudGVyM|h1bnRlcj|odW50ZXIy/)
      }
  }
})

test('Python writes NaN: results, queries, updates, items and details have it as a string, beside exact numbers', async ({
  service,
  startScores,
}) => {
  const run = await startScores(false)
  const failing = await startScores(true)

  const { [`${run.workflowId}/stream`]: items } = await texts(service, [`${run.workflowId}/stream`])
  const query = await service.post(`${run.workflowId}/query/peek`)
  const update = await service.post(`${run.workflowId}/update/swap`)
  await run.signal('finish', {})
  await failing.signal('finish', {})
  const result = await service.get(`${run.workflowId}/result?wait=30s`)
  const failed = await service.get(`${failing.workflowId}/result?wait=30s`)

  for (const text of [items, query.text, update.text, result.text, failed.text]) expect(text).toContain(SHOWN)
})
