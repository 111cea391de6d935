import { expect, test } from 'vitest'
import type { Engine } from '../../../../src/service/model/engine.ts'
import { ServiceError, workflowNotFound } from '../../../../src/service/model/errors.ts'
import type { Description, ExecutionRef } from '../../../../src/service/model/execution.ts'
import { createReadChain } from '../../../../src/service/runs/read-chain.ts'
import type { Closing } from '../../../../src/shared/wire/execution.ts'
import { aCall, rejection } from '../../call.ts'
import { aDescription, anEngine, errorDetails, makeCatalogs } from '../catalog-fixture.ts'
import { IDLE_WORK } from '../explain/idle-work.ts'

const ID = 'orders-17'
const open: Partial<Description> = { pendingWork: async () => IDLE_WORK }

/** A closed run, whose chain continues with `nextRunId`. */
function closed(nextRunId: string | null, outcome: Closing['outcome'] = { status: 'continued' }): Partial<Description> {
  return { status: outcome.status, completedAt: new Date(9000), readEnd: async () => ({ outcome, nextRunId }) }
}

const COMPLETED = closed(null, { status: 'completed', output: 'done' })

/** An engine with these runs; the last one is the latest of the workflow id. Records which runs it describes. */
function makeChain(runs: Record<string, Partial<Description>>, verbs: Partial<Engine> = {}) {
  const fixture = makeCatalogs()
  const described: string[] = []
  const describe = async ({ workflowId, runId }: ExecutionRef) => {
    // Reads of the catalog.
    if (workflowId !== ID) return fixture.engine.describe({ workflowId }, aCall())
    described.push(runId ?? 'latest')
    const [id, run] = Object.entries(runs).findLast(([id]) => runId === undefined || id === runId) ?? []
    if (id === undefined) throw workflowNotFound({ workflowId, ...(runId !== undefined && { runId }) })
    return aDescription({ runId: id, firstRunId: 'run-1', ...run })
  }
  const ports = { engine: anEngine({ ...fixture.engine, describe, ...verbs }), catalogs: fixture.catalogs }
  const readChain = createReadChain({ ...ports, now: fixture.now })
  const read = (runId?: string) => readChain({ workflowId: ID, ...(runId !== undefined && { runId }) }, aCall())
  return { ...fixture, described, read }
}

test('readChain: the latest run, if it continues the requested one, even if that was deleted', async () => {
  const { read, described } = makeChain({ 'run-3': { ...open, asks: async () => ({ key: 1 }) } })

  expect(await read('run-1')).toMatchObject({ kind: 'open', runId: 'run-3', asks: { key: 1 } })
  expect(described).toEqual(['latest'])
})

test('readChain: a run in the middle of the chain is read, to know its chain', async () => {
  const { read, described } = makeChain({ 'run-2': closed('run-3'), 'run-3': open })

  expect(await read('run-2')).toMatchObject({ kind: 'open', runId: 'run-3' })
  expect(described).toEqual(['latest', 'run-2'])
})

test('readChain: a chain whose workflow id another one uses since is followed to its own end', async () => {
  const { read } = makeChain({ 'run-1': closed('run-2'), 'run-2': COMPLETED, other: { ...open, firstRunId: 'other' } })

  expect(await read('run-1')).toMatchObject({
    kind: 'ended',
    runId: 'run-2',
    result: { output: 'done', runId: 'run-2' },
  })
})

test('readChain: the run that was read as the latest may have continued meanwhile', async () => {
  const runs = { 'run-2': open, 'run-1': closed('run-2') }

  expect(await makeChain(runs).read('run-1')).toMatchObject({ kind: 'open', runId: 'run-2' })
})

test('readChain: without a run id, the chain of the latest run', async () => {
  const { read, described } = makeChain({ 'run-1': COMPLETED })

  expect(await read()).toMatchObject({ kind: 'ended', runId: 'run-1', endedAt: new Date(9000) })
  expect(described).toEqual(['latest'])
})

test('readChain: a run of another chain, which was deleted, and a run of the workers do not exist', async () => {
  const deleted = makeChain({ other: { ...open, firstRunId: 'other' } })
  const ofWorkers = makeChain({ 'run-1': { ...open, workflowName: '$catalog' } })

  expect(await rejection(deleted.read('run-1'))).toMatchObject({ error: 'WorkflowNotFoundError', runId: 'run-1' })
  expect(await rejection(ofWorkers.read('run-1'))).toMatchObject({ error: 'WorkflowNotFoundError' })
})

test('readChain: a chain starts when its first run did, as the id of that run says', async () => {
  const firstRunId = '01a20cdc-7f73-7485-8a11-b95c90e3c290'
  const startedAt = new Date(5000)
  const runs = (id: string) => ({ 'run-2': { ...open, startedAt, firstRunId: id } })
  const startOf = async (id: string) => (await makeChain(runs(id)).read(id)).startedAt

  expect(await startOf(firstRunId)).toEqual(new Date(0x01a20cdc7f73))
  expect(await startOf('1d5f5a3e-6a0e-4c39-a0c4-0e9a2b1d7f5a')).toEqual(startedAt)
  expect((await makeChain({ [firstRunId]: { ...open, startedAt, firstRunId } }).read()).startedAt).toEqual(startedAt)
})

test('readChain: an output that is stored elsewhere is reported, and any other outcome is a result', async () => {
  const storedElsewhere = { sizeBytes: 5 }
  const elsewhere = closed(null, { status: 'completed', output: null, storedElsewhere })
  const failed = closed(null, { status: 'failed', error: errorDetails() })

  expect(await makeChain({ 'run-1': elsewhere }).read()).toMatchObject({
    kind: 'unreadable',
    error: { error: 'NotSupportedError' },
  })
  expect(await makeChain({ 'run-1': failed }).read()).toMatchObject({ kind: 'ended', result: { status: 'failed' } })
})

test('readChain: an end that cannot be found in the history is an error', async () => {
  const { read } = makeChain({ 'run-1': { status: 'completed', readEnd: async () => null } })

  expect(await rejection(read())).toMatchObject({ error: 'EngineError', workflowStatus: 'completed' })
})

test('readChain: explains the run, and reads the polls of a task queue every 5 s', async () => {
  const { read, reads, pass, poll } = makeChain({ 'run-1': open })
  const verdict = async () => {
    const chain = await read()
    return chain.kind === 'open' ? (await chain.explain(aCall()))?.kind : null
  }
  const polls = () => reads.filter((read) => read.startsWith('lastPolledAt')).length

  const before = await verdict()
  poll()
  pass(4999)
  const cached = await verdict()
  const readOnce = polls()
  pass(1)

  expect([before, cached, readOnce]).toEqual(['no_workers', 'no_workers', 1])
  expect([await verdict(), polls()]).toEqual(['waiting_handler', 2])
})

test('readChain: a reason that cannot be read is null, and noted', async () => {
  const outage = new ServiceError('EngineUnavailableError', 'down')
  const { read } = makeChain({ 'run-1': { pendingWork: () => Promise.reject(outage) } })
  const call = aCall()
  const chain = await read()

  expect(chain.kind === 'open' && (await chain.explain(call))).toBeNull()
  expect(call.notes).toEqual({ reasonUnread: outage })
})
