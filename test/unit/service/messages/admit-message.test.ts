import { afterEach, expect, test, vi } from 'vitest'
import { admitMessage, admitWithStart, type MessageKind } from '../../../../src/service/messages/admit-message.ts'
import type { StartCommand } from '../../../../src/service/model/commands.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { ExecutionRef } from '../../../../src/service/model/execution.ts'
import { rawPayload } from '../../../../src/service/model/raw-payload.ts'
import { createKnownRuns } from '../../../../src/service/start/known-runs.ts'
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

test('admitMessage: a raw payload is not checked against the schema', async () => {
  const { send, start } = setUp()
  const raw = rawPayload({ metadata: { encoding: 'json/plain' }, value: { by: 7 } })

  expect(await send(raw)).toEqual([])
  expect(await start(raw)).toEqual([])
  expect((await rejection(send({ by: 7 }))).error).toBe('ValidationError')
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

test('admitMessage: warns only by the current catalog', async () => {
  const { fixture, send } = setUp()
  await send({ by: 'Ada' })
  fixture.pass(1)
  fixture.publish('c2', [{ ...ORDER, signals: [APPROVE, { name: 'cancel' }] }])

  expect(await send(null, { name: 'cancel' })).toEqual([])
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

test('admitWithStart: admits the update when the open run cannot be read', async () => {
  const { fixture, start } = setUp()
  const { describe } = fixture.engine
  fixture.engine.describe = (ref, call) =>
    ref.workflowId === 'orders-17' ? Promise.reject(new ServiceError('EngineError', 'no')) : describe(ref, call)

  await start(7, 'orders-17')
})
