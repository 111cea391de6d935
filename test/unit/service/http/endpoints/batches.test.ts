import { expect, test } from 'vitest'
import type { Workflows } from '../../../../../src/service/verbs.ts'
import { makeApi } from '../api.ts'

type Create = Parameters<Workflows['createBatch']>[0]

/** Creates a batch. Returns the status, what is wrong, and what the verb gets. */
async function create(body: unknown, headers: Record<string, string> = {}) {
  const commands: Create[] = []
  const api = makeApi({
    workflows: {
      async createBatch(command) {
        commands.push(command)
        return { batchId: null, operation: command.operation, matching: 0 }
      },
    },
  })
  const response = await api.call('POST', '/batches', body, headers)
  const { issues } = (await response.json()) as { issues?: { path: string }[] }
  return { status: response.status, paths: issues?.map(({ path }) => path), command: commands[0], response }
}

const FILTER = { workflowName: 'order', problem: true, searchAttributes: { Customer: 'gold' } }

test('a batch: its body becomes a command; without a run there is no Location', async () => {
  const stop = await create({ operation: 'stop', filter: FILTER }, { 'Idempotency-Key': 'k' })
  const signal = await create({ operation: 'signal', signal: 'approve', args: [1, 2], filter: {}, reason: 'r' })
  const bare = await create({ operation: 'signal', signal: 'approve', filter: {} })

  expect(stop.command).toEqual({
    ...{ operation: 'stop', filter: FILTER, reason: null, signal: null, idempotencyKey: 'k' },
  })
  expect([stop.status, stop.response.headers.get('Location')]).toEqual([202, null])
  expect(signal.command).toEqual({
    ...{ operation: 'signal', filter: {}, reason: 'r', signal: { name: 'approve', args: [1, 2] } },
  })
  expect(bare.command?.signal).toEqual({ name: 'approve', args: [] })
})

test.for<[body: object, path: string]>([
  [{ filter: {} }, '/operation'],
  [{ operation: 'delete', filter: {} }, '/operation'],
  [{ operation: 'stop' }, '/filter'],
  [{ operation: 'stop', filter: { status: 'running' } }, '/filter/status'],
  [{ operation: 'stop', filter: { closedAfter: '2026-01-01T00:00:00Z' } }, '/filter/closedAfter'],
  [{ operation: 'stop', filter: { problem: 'true' } }, '/filter/problem'],
  [{ operation: 'stop', filter: { visible: [] } }, '/filter/visible'],
  [{ operation: 'stop', filter: { open: false } }, '/filter/open'],
  [{ operation: 'stop', filter: {}, visible: [] }, '/visible'],
  [{ operation: 'signal', filter: {} }, ''],
  [{ operation: 'signal', filter: {}, signal: '__stack' }, '/signal'],
  [{ operation: 'signal', filter: {}, signal: 'x', payload: 1, args: [1] }, ''],
  [{ operation: 'terminate', filter: {}, signal: 'x' }, ''],
  [{ operation: 'terminate', filter: {}, payload: 1 }, ''],
])('a batch with %j is a 400 at "%s"', async ([body, path]) => {
  const { status, paths, command } = await create(body)

  expect([status, paths?.includes(path), command]).toEqual([400, true, undefined])
})
