import { afterEach, expect, test, vi } from 'vitest'
import { admitMessage, admitWithStart, type MessageKind } from '../../../../src/domain/admission/admit-message.ts'
import { createKnownRuns } from '../../../../src/domain/admission/known-runs.ts'
import { ServiceError } from '../../../../src/domain/model/errors.ts'
import type { ExecutionRef } from '../../../../src/domain/model/execution.ts'
import type { StartCommand } from '../../../../src/domain/model/workflows.ts'
import { aCall, rejection } from '../../call.ts'
import { aDescription, makeCatalogs, type PublishedWorkflow } from '../catalog-fixture.ts'

afterEach(() => void vi.useRealTimers())

const BY_NAME = { type: 'object', properties: { by: { type: 'string' } }, required: ['by'] }
const APPROVE = { name: 'approve', inputSchema: BY_NAME }
const ORDER: PublishedWorkflow = { name: 'order', signals: [APPROVE], queries: [APPROVE], updates: [APPROVE] }

const REF = { workflowId: 'orders-17' }

/** `orders-17` is an open run of `order`, which takes `approve`. */
function setUp(workflow = ORDER, options?: { id?: string }) {
  const fixture = makeCatalogs()
  fixture.publish('c1', [workflow], options)
  fixture.runs.set(REF.workflowId, aDescription())
  const ports = {
    catalogs: fixture.catalogs,
    knownRuns: createKnownRuns({ engine: fixture.engine, now: fixture.now }),
    now: fixture.now,
  }
  const messageOf = (args: unknown[], name = 'approve') => ({ name, args, argumentPointer: '/payload' })
  const startWith = (start: Partial<StartCommand>, args: unknown[]) => {
    const command = { workflowName: 'order', catalog: 'orders', ...start }
    return admitWithStart(ports, { kind: 'update', start: command, message: messageOf(args) }, aCall())
  }
  return {
    fixture,
    send: (payload: unknown, { kind = 'signal', ref = REF, name, call = aCall() }: Sent = {}) =>
      admitMessage(ports, { kind, ref, message: messageOf([payload], name) }, call),
    sendNothing: (kind: MessageKind = 'signal', ref: ExecutionRef = REF) =>
      admitMessage(ports, { kind, ref, message: messageOf([]) }, aCall()),
    start: (payload: unknown, workflowId?: string) =>
      startWith(workflowId === undefined ? {} : { workflowId }, [payload]),
    startNothing: (options: StartCommand['options'] = {}) => startWith({ options }, []),
  }
}

interface Sent {
  kind?: MessageKind
  ref?: ExecutionRef
  name?: string
  call?: ReturnType<typeof aCall>
}

test('admitMessage: rejects an argument that does not match the schema of the handler, with path, reason and ids', async () => {
  const { send } = setUp({ ...ORDER, queries: [], updates: [{ name: 'approve', inputSchema: { type: 'boolean' } }] })

  expect(await rejection(send({ by: 7 }))).toEqual({
    error: 'ValidationError',
    message:
      'Invalid argument for signal "approve" of workflow "order": /payload/by must be of type string, not number',
    issues: [{ path: '/payload/by', message: 'must be of type string, not number' }],
    workflowId: 'orders-17',
    runId: 'run-1',
  })
  await send({ by: 'Ada' })
  await send(true, { kind: 'update' })
  await send({ by: 7 }, { kind: 'query' })
  expect((await rejection(send({ by: 'Ada' }, { kind: 'update' }))).message).toMatch(
    /^Invalid argument for update "approve" of workflow "order"/,
  )
})

test('admitMessage: reads the run for the first message to an id, and then not for 60 s', async () => {
  const { fixture, send } = setUp()

  await send({ by: 'Ada' })
  const first = fixture.reads.splice(0)
  for (let nth = 0; nth < 4; nth++) await send({ by: 'Ada' })
  const second = fixture.reads.splice(0)
  fixture.pass(60_001)
  await send({ by: 'Ada' })

  expect(first).toEqual(['describe orders-17', 'describe $catalog:orders', 'input c1'])
  expect(second).toEqual([])
  expect(fixture.reads).toEqual(['describe orders-17', 'describe $catalog:orders'])
})

test('admitMessage: caches a pinned run separately', async () => {
  const { fixture, send } = setUp()
  const ref = { ...REF, runId: 'run-1' }

  await send({ by: 'Ada' })
  await send({ by: 'Ada' }, { ref })
  await send({ by: 'Ada' }, { ref })

  expect(fixture.reads.filter((read) => read === 'describe orders-17')).toHaveLength(2)
})

test('admitMessage: does not reject by a cached catalog after the run was just read', async () => {
  const { fixture, send } = setUp()
  await send({ by: 'Ada' })
  fixture.pass(1)
  fixture.publish('c2', [{ ...ORDER, signals: [{ name: 'approve' }] }])

  await send({ by: 7 }, { ref: { ...REF, runId: 'run-1' } })

  expect(fixture.reads.slice(3)).toEqual(['describe orders-17', 'describe $catalog:orders', 'input c2'])
})

test('admitMessage: rejects a missing argument only if the catalog says that it is required', async () => {
  const { sendNothing } = setUp({
    ...ORDER,
    signals: [{ ...APPROVE, inputOptional: false }],
    queries: [{ ...APPROVE, inputOptional: true }],
  })

  expect(await rejection(sendNothing())).toEqual({
    error: 'ValidationError',
    message: 'Invalid argument for signal "approve" of workflow "order": /payload is required',
    issues: [{ path: '/payload', message: 'is required' }],
    workflowId: 'orders-17',
    runId: 'run-1',
  })
  await sendNothing('query')
  await sendNothing('update')
})

test('admitMessage: rejects a missing argument only by the current catalog, of the version of the run', async () => {
  const required = { ...APPROVE, inputOptional: false }
  const { fixture, sendNothing } = setUp({ ...ORDER, updates: [required] })
  const pinned = { workflowId: 'pinned' }
  const pinnedVersion = { deploymentName: 'shop', buildId: 'v1' }
  fixture.runs.set('pinned', aDescription({ ...pinned, pinnedVersion }))

  await rejection(sendNothing('update'))
  await sendNothing('update', pinned)
  fixture.pass(1)
  fixture.publish('c2', [ORDER])

  await sendNothing('update')
})

test('admitMessage: warns of a signal that the catalog does not list, if it lists others', async () => {
  const { fixture, send } = setUp({ ...ORDER, signals: [APPROVE, { name: 'cancel' }] })
  fixture.publish('c2', [
    { ...ORDER, signals: [APPROVE, { name: 'cancel' }] },
    { name: 'parcel', queries: [APPROVE] },
  ])
  const pinnedVersion = { deploymentName: 'shop', buildId: 'v1' }
  fixture.runs.set('parcels-1', aDescription({ workflowName: 'parcel' }))
  fixture.runs.set('pinned-1', aDescription({ pinnedVersion }))
  fixture.runs.set('closed-1', aDescription({ status: 'completed' }))
  const warnings = (sent: Sent) => send({ by: 'Ada' }, { name: 'aprove', ...sent })

  expect(await warnings({})).toEqual([
    'Catalog "orders" lists no signal "aprove" of workflow "order". It lists: approve, cancel',
  ])
  expect(await warnings({ name: 'approve' })).toEqual([])
  expect(await warnings({ kind: 'update' })).toEqual([])
  for (const workflowId of ['parcels-1', 'pinned-1', 'closed-1', 'nobody'])
    expect(await warnings({ ref: { workflowId } })).toEqual([])
})

test('admitMessage: warns only by the current catalog', async () => {
  const { fixture, send } = setUp()
  await send({ by: 'Ada' })
  fixture.pass(1)
  fixture.publish('c2', [{ ...ORDER, signals: [APPROVE, { name: 'cancel' }] }])

  expect(await send(null, { name: 'cancel' })).toEqual([])
})

test('admitMessage: admits messages to handlers that are not listed, or have no schema', async () => {
  const { fixture, send } = setUp({ ...ORDER, updates: [{ name: 'approve' }] })
  fixture.runs.set('parcels-1', aDescription({ workflowName: 'parcel' }))
  fixture.runs.set('elsewhere-1', aDescription({ catalog: 'elsewhere' }))

  await send(7, { name: 'toString' })
  await send(7, { kind: 'update' })
  await send(7, { ref: { workflowId: 'parcels-1' } })
  await send(7, { ref: { workflowId: 'elsewhere-1' } })
})

test('admitMessage: ignores schemas of the older form', async () => {
  const { send } = setUp(ORDER, { id: 'orders' })

  await send({ by: 7 })
})

test('admitMessage: rejects only by the current run and catalog', async () => {
  const { fixture, send } = setUp()
  await send({ by: 'Ada' })

  fixture.pass(1)
  fixture.publish('c2', [{ ...ORDER, signals: [{ name: 'approve' }] }])
  await send({ by: 7 })
  fixture.pass(5000)
  fixture.publish('c3', [ORDER])
  expect((await rejection(send({ by: 7 }))).error).toBe('ValidationError')
  fixture.pass(1)
  fixture.runs.set(REF.workflowId, aDescription({ workflowName: 'parcel' }))
  await send({ by: 7 })
})

test('admitMessage: checks only queries to a closed run', async () => {
  const { fixture, send } = setUp()
  fixture.runs.set(REF.workflowId, aDescription({ status: 'completed' }))

  await send({ by: 7 })
  await send({ by: 7 }, { kind: 'update' })
  expect((await rejection(send({ by: 7 }, { kind: 'query' }))).error).toBe('ValidationError')
})

test('admitMessage: checks a run that is pinned to a version only against the catalog of that version', async () => {
  const { fixture, send } = setUp()
  const version = (buildId: string) => ({ deploymentName: 'shop', buildId })
  fixture.runs.set(REF.workflowId, aDescription({ pinnedVersion: version('v1') }))

  await send({ by: 7 })
  fixture.publish('c2', [ORDER], { version: version('v2') })
  fixture.pass(5001)
  await send({ by: 7 })
  fixture.publish('c3', [ORDER], { version: version('v1') })
  fixture.pass(5001)
  expect((await rejection(send({ by: 7 }))).error).toBe('ValidationError')
})

test('admitMessage: admits the message after a failed read, and logs it unless the run was not found', async () => {
  const { fixture, send } = setUp()
  const rejected = async () => Promise.reject(new ServiceError('EngineError', 'Permission denied'))
  const notes: unknown[] = []
  const sendNoting = async (ref: ExecutionRef) => {
    const call = aCall()
    await send({ by: 7 }, { ref, call })
    notes.push(call.notes.inputUnchecked)
  }

  await sendNoting({ workflowId: 'nobody' })
  fixture.engine.input = rejected
  await sendNoting(REF)
  fixture.engine.describe = rejected
  await sendNoting({ workflowId: 'orders-18' })

  const unread = 'EngineError: Permission denied'
  expect(notes).toEqual([undefined, unread, unread])
})

test('admitMessage: admits the message when a read takes longer than half a second', async () => {
  vi.useFakeTimers()
  const { fixture, send } = setUp()
  fixture.engine.describe = () => new Promise<never>(() => {})
  const call = aCall({ deadlineAt: Date.now() + 60_000 })

  const sent = send({ by: 7 }, { call })
  await vi.advanceTimersByTimeAsync(500)

  await sent
  expect(call.notes.inputUnchecked).toMatch(/is not responding/)
})

test('admitWithStart: reads no open run when the workflow to start accepts the argument', async () => {
  const { fixture, start } = setUp()

  await start({ by: 'Ada' }, 'orders-17')

  expect(fixture.reads).toEqual(['describe $catalog:orders', 'input c1'])
})

test('admitWithStart: requires the argument of a run to start, unless it is pinned to another version', async () => {
  const { fixture, startNothing } = setUp()
  const version = (buildId: string) => ({ deploymentName: 'shop', buildId })
  const updates = [{ ...APPROVE, inputOptional: false }]
  fixture.publish('c2', [{ ...ORDER, updates }], { version: version('v2') })

  expect((await rejection(startNothing())).issues).toEqual([{ path: '/payload', message: 'is required' }])
  await startNothing({ versioningOverride: { pinned: version('v1') } })
  const rejected = await rejection(startNothing({ versioningOverride: { pinned: version('v2') } }))
  expect(rejected.error).toBe('ValidationError')
})

test('admitWithStart: rejects by the workflow to start when no run of the id is open', async () => {
  const { fixture, start } = setUp()
  fixture.runs.set('closed', aDescription({ workflowId: 'closed', workflowName: 'parcel', status: 'failed' }))

  const rejected = await Promise.all([undefined, 'free', 'closed'].map((id) => rejection(start(7, id))))

  expect(rejected.map(({ error, workflowId, issues }) => [error, workflowId, issues?.[0]?.path])).toEqual(
    Array.from({ length: 3 }, () => ['ValidationError', undefined, '/payload']),
  )
})

test('admitWithStart: rejects by the open run, whatever its workflow is', async () => {
  const { fixture, start } = setUp()
  fixture.publish('c2', [ORDER, { name: 'parcel', updates: [{ name: 'approve', inputSchema: { type: 'number' } }] }])
  fixture.runs.set('parcels-1', aDescription({ workflowId: 'parcels-1', workflowName: 'parcel', runId: 'p' }))
  fixture.runs.set('letters-1', aDescription({ workflowId: 'letters-1', workflowName: 'letter' }))

  await start(7, 'parcels-1')
  await start(7, 'letters-1')
  expect(await rejection(start('x', 'parcels-1'))).toMatchObject({
    message: 'Invalid argument for update "approve" of workflow "parcel": /payload must be of type number, not string',
    runId: 'p',
  })
})

test('admitWithStart: admits the update when the open run cannot be read', async () => {
  const { fixture, start } = setUp()
  const { describe } = fixture.engine
  fixture.engine.describe = (ref, call) =>
    ref.workflowId === 'orders-17' ? Promise.reject(new ServiceError('EngineError', 'no')) : describe(ref, call)

  await start(7, 'orders-17')
})
