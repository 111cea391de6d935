/** What is archived for a catalog whose workers redact values, by processes with and without their `redact`. */
import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { spansFile } from '../../src/shared/wire/trace/keys.ts'
import { defineCatalog, type Redact } from '../../src/worker/index.ts'
import { archivedTrace } from '../support/archived-trace.ts'
import { test as baseTest } from '../support/fixtures.ts'
import { readiness } from '../support/readiness.ts'
import { startStory } from './fixtures/start-story.ts'
import * as activities from './fixtures/traced-activities.ts'
import { startArchiver } from './start-archiver.ts'

const workflowsPath = new URL('./fixtures/traced-workflows.ts', import.meta.url)
const catalog = defineCatalog({ story: {} })
const HIDDEN = 'hidden by redact'
/** Values of the run and of its spans. */
const VALUES = /the end|thought|from-python/
const redact: Redact = (_path, value) => (typeof value === 'string' && VALUES.test(value) ? HIDDEN : value)

const test = baseTest
  /** Runs `story` and returns the text of its archived trace, with a span of a worker without `redact` in it. */
  .extend('archiveStory', { scope: 'file' }, ({ client, folder }) => {
    return async (taskQueue: string) => {
      const handle = await startStory(client, taskQueue, `story-${crypto.randomUUID()}`)
      const runId = handle.firstExecutionRunId
      const span = { id: `${runId}:span:py`, parentId: `${runId}:step:1`, kind: 'llm', name: 'from-python', at: 1 }
      const began = { ...span, phase: 'began', input: 'from-python', attributes: { prompt: 'from-python' } }
      const list = join(folder, spansFile(runId))
      await mkdir(dirname(list), { recursive: true })
      await appendFile(list, `${JSON.stringify(began)}\n`)
      await handle.result()
      const { document } = await archivedTrace(folder, runId, { hasSpans: true })
      const isComplete = () =>
        readFile(list, 'utf8').then(
          () => false,
          () => true,
        )
      await until('its spans are archived', isComplete)
      return { workflowId: handle.workflowId, document, text: await readFile(pathOf(folder, runId), 'utf8') }
    }
  })
  .extend('traceLog', { scope: 'file' }, ({ startService, folder }) => {
    return async (taskQueue: string, workflowId: string) => {
      const service = await startService({ catalog: taskQueue, env: { SERVICE_TRACE_LOCAL_DIR: folder } })
      await readiness(service)
      const { status, body } = await service.get(`${workflowId}/trace-log`)
      expect(status, JSON.stringify(body)).toBe(200)
      return { source: String(body.source), text: JSON.stringify(body) }
    }
  })

test('archives of redacted catalogs: `portico archive` stores masks, and no value of a run or of a span (threat 86)', async ({
  engine: { address },
  folder,
  startTracedWorker,
  archiveStory,
  traceLog,
  cleanup,
}) => {
  const taskQueue = `redacted-${crypto.randomUUID()}`
  await startTracedWorker({ plugin: { ...NO_TRACES, redact }, taskQueue, activities, workflowsPath })
  const archiver = await startArchiver(cleanup, taskQueue, {
    ENGINE_ADDRESS: address,
    SERVICE_TRACE_LOCAL_ON: 'true',
    SERVICE_TRACE_LOCAL_DIR: folder,
  })

  const { workflowId, text } = await archiveStory(taskQueue)

  expect(text).not.toMatch(VALUES)
  expect(text).toContain('[redacted]')
  expect(await traceLog(taskQueue, workflowId)).toMatchObject({
    source: 'local',
    text: expect.not.stringMatching(VALUES),
  })
  await until('the log has the reason', () => archiver.output().includes('does not have their redact'))
})

test('archives of redacted catalogs: the redact of another task queue is not enough (threat 86)', async ({
  startTracedWorker,
  archiveStory,
}) => {
  const taskQueue = `redacted-${crypto.randomUUID()}`
  await startTracedWorker({ plugin: { ...NO_TRACES, redact }, taskQueue, activities, workflowsPath })
  const other: Redact = (_path, value) => value
  const plugin = { catalog, traceQueues: [taskQueue], redact: other }
  await startTracedWorker({ plugin, taskQueue: `other-${crypto.randomUUID()}`, activities, workflowsPath })

  expect((await archiveStory(taskQueue)).text).not.toMatch(VALUES)
})

test('archives of redacted catalogs: an archiver from before the first redact masks from then on (threat 86)', async ({
  startTracedWorker,
  archiveStory,
  traceLog,
}) => {
  const taskQueue = `deploy-${crypto.randomUUID()}`
  await startTracedWorker({ plugin: { catalog }, taskQueue, activities, workflowsPath })
  const before = await archiveStory(taskQueue)
  const shownBefore = await traceLog(taskQueue, before.workflowId)

  await startTracedWorker({ plugin: { ...NO_TRACES, redact }, taskQueue, activities, workflowsPath })
  const after = await archiveStory(taskQueue)

  expect(before.text).toMatch(VALUES)
  expect(shownBefore).toMatchObject({ source: 'local', text: expect.stringMatching(VALUES) })
  expect(after.text).not.toMatch(VALUES)
  // What was stored before says that no `redact` was applied.
  for (const { workflowId } of [before, after]) {
    const shown = await traceLog(taskQueue, workflowId)
    expect(shown).toMatchObject({ source: 'local', text: expect.not.stringMatching(VALUES) })
  }
})

test('archives of redacted catalogs: a catalog that was terminated still counts', async ({
  client,
  startTracedWorker,
  archiveStory,
}) => {
  const taskQueue = `terminated-${crypto.randomUUID()}`
  await startTracedWorker({ plugin: { ...NO_TRACES, redact }, taskQueue, activities, workflowsPath })
  const plugin = { catalog, traceQueues: [taskQueue] }
  await startTracedWorker({ plugin, taskQueue: `other-${crypto.randomUUID()}`, activities, workflowsPath })
  await client.workflow.getHandle(`$catalog:${taskQueue}`).terminate()

  expect((await archiveStory(taskQueue)).text).not.toMatch(VALUES)
})

test('archives of redacted catalogs: its own redact is applied to everything, and the trace says so', async ({
  startTracedWorker,
  archiveStory,
  traceLog,
}) => {
  const taskQueue = `own-${crypto.randomUUID()}`
  await startTracedWorker({ plugin: { catalog, redact }, taskQueue, activities, workflowsPath })

  const { workflowId, document, text } = await archiveStory(taskQueue)

  expect(text).not.toMatch(VALUES)
  expect(document.entries.map((entry) => entry.redacted)).toEqual(document.entries.map(() => taskQueue))
  expect(document.entries.find(({ id }) => id.endsWith(':span:py'))).toMatchObject({ name: HIDDEN, input: HIDDEN })
  expect((await traceLog(taskQueue, workflowId)).text).toContain(HIDDEN)
})

/** Publishes the catalog and writes no traces. */
const NO_TRACES = { catalog, traces: { remote: null, local: null, maxBytes: 1 } }

function pathOf(folder: string, runId: string): string {
  return join(folder, 'default', `${runId}.json`)
}
