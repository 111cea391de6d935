import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type RunningS3, storageEnv } from '../../dev/servers/s3.ts'
import type { TraceNode } from '../../src/shared/wire/trace/tree.ts'
import { type Api, makeApi } from '../support/api.ts'
import { test } from '../support/fixtures.ts'
import { olderTree } from '../support/older-tree.ts'
import { readiness } from '../support/readiness.ts'
import { nodesIn } from '../support/trace-nodes.ts'

/** Runs of workers of the older generation, whose own outputs and failures say where their traces are. */
describe('traces of older workers', () => {
  let s3: RunningS3
  let endpoint: string
  let folder: string
  let api: Api

  test.beforeAll(async ({ seaweed, folder: ownFolder, worker: _, startService }) => {
    s3 = seaweed
    folder = ownFolder
    // The responses of the service must not contain the other spelling.
    endpoint = s3.endpoint.replace('127.0.0.1', 'localhost')
    const env = { ...storageEnv({ ...s3, endpoint }), SERVICE_TRACE_LOCAL_DIR: folder }
    api = makeApi({ url: (await startService({ env })).url })
    await readiness(api)
  })

  async function ended(workflowName: string, destinations: { local?: string; remote?: string }) {
    const { status, body } = await api.run(workflowName, { output: 1, trace: { destinations } })
    expect(status, JSON.stringify(body)).toBe(200)
    return body as { workflowId: string; runId: string }
  }
  async function startedBusy(local: string) {
    const { status, body } = await api.start('olderBusy', { trace: { destinations: { local } } })
    expect(status, JSON.stringify(body)).toBe(200)
    await api.post(`${body.workflowId}/signal/next`)
    expect((await api.get(`${body.workflowId}/result?wait=30s`)).body).toMatchObject({ output: 'of the run' })
    return body as { workflowId: string; runId: string }
  }
  async function traceLog({ workflowId }: { workflowId: string }) {
    const { status, body } = await api.get(`${workflowId}/trace-log`)
    expect(status, JSON.stringify(body)).toBe(200)
    return body
  }
  const keyOf = () => `order/2026/11/22/2026-11-22T10-00-00-000Z_${crypto.randomUUID()}.json`
  async function put(key: string, tree: object) {
    const { ok } = await s3.client.fetch(`${s3.endpoint}/${s3.bucket}/${key}`, {
      method: 'PUT',
      body: JSON.stringify(tree, undefined, 2),
    })
    expect(ok).toBe(true)
  }

  test('older trees: the trace is read from the object that the output’s wrapper names, with the spans of its steps', async () => {
    const key = keyOf()
    const run = await ended('olderReturns', { remote: `${endpoint}/${s3.bucket}/${key}` })
    await put(key, olderTree(run.runId, { step: 'echoBack' }))

    const log = await traceLog(run)

    expect(log).toMatchObject({ source: 'remote', runId: run.runId, complete: true, warnings: [] })
    expect(log).not.toHaveProperty('localPath')
    expect(log.data).toMatchObject({ id: run.runId, name: 'olderReturns', output: 1 })
    const kinds = nodesIn(log.data).map(({ kind, name }) => `${kind} ${name}`)
    expect(kinds.sort()).toEqual([
      'evaluator order#judge',
      'http request',
      'step echoBack',
      'step ship#send',
      'workflow olderReturns',
      'workflow ship',
    ])
  })

  test('older trees: the trace is read from the file that the details of the failure name', async () => {
    const local = join(folder, `${crypto.randomUUID()}.json`)
    const run = await ended('olderFails', { local })
    await writeFile(local, JSON.stringify(olderTree(run.runId, { step: 'rejects' })))

    expect(await traceLog(run)).toMatchObject({
      source: 'local',
      localPath: local,
      complete: true,
      warnings: [],
      data: { id: run.runId, error: { name: 'BadInput', message: 'no retry please' } },
    })
  })

  test('older trees: errors, retries, timers, messages and times come from the history, the rest from the tree', async () => {
    const local = join(folder, `${crypto.randomUUID()}.json`)
    const run = await startedBusy(local)
    const fromHistory = await traceLog(run)
    const now = Date.now()
    const node = (id: string, kind: string, name: string, more: object = {}) => ({
      ...{ id, kind, name, startedAt: now, endedAt: now + 1, input: 'of the tree', output: 'of the tree' },
      ...{ children: [], attributes: {}, ...more },
    })
    const spans = (id: string) => [node(id, 'http', id), node(id, 'llm', 'failed', { error: 'of the span' })]
    await writeFile(
      local,
      JSON.stringify({
        ...node(run.runId, 'workflow', 'olderBusy', { error: { name: 'Error', message: 'Activity task failed' } }),
        children: [
          node('1', 'evaluator', 'succeedsLater', { attributes: { attempts: 7, cost: 3 }, children: spans('own') }),
          // The step of the child has the same id.
          node('1', 'step', 'step', { children: spans('of the child') }),
          node('1', 'step', 'somethingElse', { children: spans('of another') }),
          node('9', 'step', 'cut from the history'),
        ],
      }),
    )

    const { source, warnings, data } = await traceLog(run)

    expect(source).toBe('local')
    expect(warnings).toEqual(['3 nodes of the stored trace contradict the history and are not shown'])
    const told = (tree: TraceNode) => nodesIn(tree).map(({ children: _, kind: __, attributes: ___, ...node }) => node)
    expect(told(data)).toEqual(expect.arrayContaining(told(fromHistory.data)))
    const added = nodesIn(data).filter(({ id }) => !nodesIn(fromHistory.data).some((node) => node.id === id))
    expect(added.map(({ name }) => name)).toEqual(['own', 'failed', 'of the child', 'failed', 'cut from the history'])
    expect(nodesIn(data).find(({ name }) => name === 'succeedsLater')).toMatchObject({
      ...{ kind: 'evaluator', output: 'attempt 2', error: null, attributes: { attempts: 2, cost: 3 } },
      children: [{ name: 'own' }, { name: 'failed', error: { message: 'of the span' } }],
    })
    expect(nodesIn(data).find(({ name }) => name === 'step')?.children).toMatchObject([
      { name: 'of the child' },
      { name: 'failed' },
    ])
    expect(nodesIn(data).map(({ kind }) => kind)).toEqual(expect.arrayContaining(['timer', 'signal', 'child_workflow']))
  })

  test('older trees: a tree stored before the run ended is completed from the history', async () => {
    const local = join(folder, `${crypto.randomUUID()}.json`)
    const run = await ended('olderReturns', { local })
    await writeFile(local, JSON.stringify(olderTree(run.runId, { endedAt: null, step: 'echoBack' })))

    const { source, data } = await traceLog(run)

    expect([source, data.id, data.output, data.attributes.status]).toEqual(['local', run.runId, 1, 'completed'])
    // The step that both tell is one node.
    expect(nodesIn(data).filter(({ id }) => id === `${run.runId}:step:1`)).toMatchObject([
      { children: [{ kind: 'http' }] },
    ])
  })

  test('older trees: the trace of another run, and data that is not a tree, are rejected (threat 23)', async () => {
    const local = join(folder, `${crypto.randomUUID()}.json`)
    const run = await ended('olderReturns', { local })

    await writeFile(local, JSON.stringify(olderTree(crypto.randomUUID())))
    const other = await traceLog(run)
    await writeFile(local, JSON.stringify({ ...olderTree(run.runId), kind: 'step' }))
    const none = await traceLog(run)

    expect(other).toMatchObject({ source: 'history', warnings: ['local: The stored trace belongs to another run'] })
    expect(none).toMatchObject({ source: 'history', warnings: ['local: The stored data is not a Portico trace'] })
  })

  test('older trees: a destination outside the bucket and the folder is not read (threat 85)', async () => {
    const run = await ended('olderReturns', {
      remote: `https://${s3.bucket}.s3.amazonaws.com/a.json`,
      local: '/etc/passwd',
    })

    const { source, warnings } = await traceLog(run)

    expect(source).toBe('history')
    expect(warnings).toEqual([
      'remote: The trace destination is not allowed: it is not on SERVICE_STORAGE_ENDPOINT',
      'local: The trace destination is not allowed: it is outside SERVICE_TRACE_LOCAL_DIR',
    ])
  })
})
