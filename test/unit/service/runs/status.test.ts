import { expect, test } from 'vitest'
import { ServiceError } from '../../../../src/service/model/errors.ts'
import type { Description } from '../../../../src/service/model/execution.ts'
import { readStatus } from '../../../../src/service/runs/status.ts'
import { aCall } from '../../call.ts'
import { aDescription, makeCatalogs } from '../catalog-fixture.ts'

const decode = async () => [17, 's3cret']

/** The run `orders-17`, which has a memo and search attributes. */
function withValues(run: Partial<Description> = {}, publish?: { redacted: boolean }) {
  const fixture = makeCatalogs()
  const texts = { names: ['details', 'summary'], decode: async () => [{ token: 's3cret' }, 'order 17'] }
  const memo = { names: ['order', 'password'], decode }
  const userValues = { memo, texts, searchAttributes: { Customer: 'gold' } }
  fixture.runs.set('orders-17', aDescription({ userValues, ...run }))
  if (publish !== undefined) fixture.publish('c1', [{ name: 'order' }], publish)
  return { ...fixture, status: () => readStatus(fixture, { ref: { workflowId: 'orders-17' } }, aCall()) }
}

test('status: shows only names if the workers have their own redact function (threat 86)', async () => {
  const failure = { kind: 'workflow_task_failing', attempt: 2, since: null, message: 'card 4242' } as const
  const failingTask = { attempt: 2, problem: async () => failure }
  const { memo, searchAttributes, summary, details, problem } = await withValues(
    { failingTask },
    { redacted: true },
  ).status()

  expect(problem).toEqual({ ...failure, message: '[redacted]' })
  expect({ memo, searchAttributes, summary, details }).toEqual({
    memo: { order: '[redacted]', password: '[redacted]' },
    searchAttributes: { Customer: '[redacted]' },
    summary: '[redacted]',
    details: '[redacted]',
  })
})

test('status: shows summary and details if they are texts', async () => {
  const { summary, details } = await withValues().status()

  expect([summary, details]).toEqual(['order 17', null])
})

test('status: shows no memo of a run with a reserved name, and reads no catalog for it', async () => {
  const fixture = withValues({ workflowName: '$catalog' })

  const { memo, searchAttributes } = await fixture.status()

  expect({ memo, searchAttributes }).toEqual({ memo: {}, searchAttributes: {} })
  expect(fixture.reads).toEqual(['describe orders-17'])
})

test('status: without a memo and search attributes no catalog is read', async () => {
  const fixture = makeCatalogs()
  fixture.runs.set('orders-17', aDescription())

  await readStatus(fixture, { ref: { workflowId: 'orders-17' } }, aCall())

  expect(fixture.reads).toEqual(['describe orders-17'])
})

test('status: the memo is null while the codec server fails, and the log says why (threat 90)', async () => {
  const error = new ServiceError('PayloadCodecError', 'The codec server failed')
  const memo = { names: ['order'], decode: () => Promise.reject(error) }
  const fixture = withValues({ userValues: { memo, texts: { ...memo, names: ['summary'] }, searchAttributes: {} } })

  const call = aCall()

  const { status, memo: shown, summary } = await readStatus(fixture, { ref: { workflowId: 'orders-17' } }, call)

  expect([status, shown, summary, call.notes]).toEqual([
    'running',
    null,
    null,
    { memoUnread: error, textsUnread: error },
  ])
})

const ACTIVITY = { activityId: '1', activityType: 'import', attempt: 1, heartbeatAt: new Date(2000) }
const HEARTBEATS = {
  activities: [ACTIVITY, { ...ACTIVITY, activityId: '2' }],
  decode: async () => [{ percent: 40, token: 's3cret' }, null],
}

test('status: details are masked and not decoded if the workers have their own redact function (threat 90)', async () => {
  const decode = () => Promise.reject(new Error('was decoded'))
  const fixture = withValues({ heartbeats: { ...HEARTBEATS, decode } }, { redacted: true })

  const { progress } = await fixture.status()

  expect(progress).toEqual([
    { ...ACTIVITY, details: '[redacted]' },
    { ...ACTIVITY, activityId: '2', details: '[redacted]' },
  ])
})

test('status: details of a run without memo and search attributes are masked, too', async () => {
  const fixture = makeCatalogs()
  fixture.runs.set('orders-17', aDescription({ heartbeats: HEARTBEATS }))
  fixture.publish('c1', [{ name: 'order' }], { redacted: true })

  const { progress, memo } = await readStatus(fixture, { ref: { workflowId: 'orders-17' } }, aCall())

  expect([progress?.[0]?.details, memo]).toEqual(['[redacted]', {}])
})

test('status: shows no progress of a run with a reserved name', async () => {
  expect((await withValues({ workflowName: '$archive', heartbeats: HEARTBEATS }).status()).progress).toBeNull()
})

test('status: details are null while the codec server fails, and the log says why', async () => {
  const error = new ServiceError('PayloadCodecError', 'The codec server failed')
  const fixture = makeCatalogs()
  const heartbeats = { ...HEARTBEATS, decode: () => Promise.reject(error) }
  fixture.runs.set('orders-17', aDescription({ heartbeats }))
  const call = aCall()

  const { status, progress, memo } = await readStatus(fixture, { ref: { workflowId: 'orders-17' } }, call)

  expect([status, memo, call.notes]).toEqual(['running', {}, { progressUnread: error }])
  expect(progress).toMatchObject([
    { activityType: 'import', details: null },
    { activityId: '2', details: null },
  ])
})

test('status: an error that is not of the codec is not hidden', async () => {
  const heartbeats = { ...HEARTBEATS, decode: () => Promise.reject(new Error('a bug')) }

  await expect(withValues({ heartbeats }).status()).rejects.toThrow('a bug')
})
