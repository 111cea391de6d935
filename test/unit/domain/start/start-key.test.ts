import { expect, test } from 'vitest'
import type { StartCommand } from '../../../../src/domain/model/workflows.ts'
import { readStartKey, type StartKey, stepAfterFailure, toStartKey } from '../../../../src/domain/start/start-key.ts'

const SENT: StartKey = { key: 'key-1', request: 'request-1' }
const OTHER_REQUEST: StartKey = { ...SENT, request: 'request-2' }
const OTHER_KEY: StartKey = { ...SENT, key: 'key-2' }

test.for([
  // The latest run of the id, whether it is open | what the start failed with | policy | step
  [SENT, true, 'id used', 'fail', 'return run'],
  [SENT, false, 'id used', 'fail', 'return run'],
  [SENT, true, 'other', 'fail', 'return run'],
  [SENT, false, 'other', 'use-existing', 'return run'],
  [OTHER_REQUEST, true, 'id used', 'fail', 'reject key'],
  [OTHER_REQUEST, false, 'id used', 'use-existing', 'reject key'],
  [OTHER_REQUEST, false, 'other', 'fail', 'reject key'],
  [OTHER_KEY, true, 'id used', 'fail', 'throw'],
  [OTHER_KEY, true, 'id used', 'use-existing', 'start'],
  [OTHER_KEY, false, 'id used', 'fail', 'start'],
  [OTHER_KEY, false, 'id used', 'use-existing', 'start'],
  [OTHER_KEY, true, 'other', 'use-existing', 'throw'],
  [OTHER_KEY, false, 'other', 'fail', 'throw'],
  [null, true, 'id used', 'fail', 'throw'],
  [null, true, 'id used', 'use-existing', 'start'],
  [null, false, 'id used', 'fail', 'start'],
  [null, false, 'other', 'fail', 'throw'],
] as const)('a failed start: %j, open %s, %s, %s: %s', ([startKey, open, failure, conflictPolicy, step]) => {
  const isIdUsed = failure === 'id used'

  expect(stepAfterFailure({ sent: SENT, found: { startKey, open }, isIdUsed, conflictPolicy })).toBe(step)
})

const COMMAND: StartCommand = {
  workflowName: 'order',
  catalog: 'shop',
  args: [{ a: 1, b: { c: [1, 2], d: null } }],
  argumentPointer: '/input',
  options: { memo: { x: 1, y: 2 }, retry: { maximumAttempts: 2 } },
}

test('toStartKey: the order of properties, the workflow id and the place of the argument do not matter', async () => {
  const same: StartCommand = {
    workflowId: 'w',
    options: { retry: { maximumAttempts: 2 }, memo: { y: 2, x: 1 } },
    args: [{ b: { d: null, c: [1, 2] }, a: 1 }],
    argumentPointer: '/args/0',
    catalog: 'shop',
    workflowName: 'order',
  }

  expect(await toStartKey('k', same)).toEqual(await toStartKey('k', COMMAND))
  const { options: _, ...plain } = COMMAND
  expect(await toStartKey('k', { ...plain, options: {} })).toEqual(await toStartKey('k', plain))
})

test('toStartKey: name, catalog, arguments, options and the handler of an update matter, and so does the key', async () => {
  const message = { name: 'set', args: [1], argumentPointer: '/payload', id: 'the-id' }
  const keys = await Promise.all([
    toStartKey('k', COMMAND),
    toStartKey('l', COMMAND),
    toStartKey('k', { ...COMMAND, workflowName: 'refund' }),
    toStartKey('k', { ...COMMAND, catalog: 'other' }),
    toStartKey('k', { ...COMMAND, args: [...COMMAND.args, null] }),
    toStartKey('k', { ...COMMAND, args: [{ a: 1, b: { c: [2, 1], d: null } }] }),
    toStartKey('k', { ...COMMAND, args: [{ a: JSON.rawJSON('1.00000000000000000001'), b: { c: [1, 2], d: null } }] }),
    toStartKey('k', { ...COMMAND, options: { ...COMMAND.options, summary: 's' } }),
    toStartKey('k', COMMAND, message),
    toStartKey('k', COMMAND, { ...message, name: 'add' }),
    toStartKey('k', COMMAND, { ...message, args: [2] }),
    toStartKey('k', COMMAND, { ...message, headers: { a: 1 } }),
  ])

  expect(new Set(keys.map(({ request }) => request)).size).toBe(keys.length)
  expect(new Set(keys.map(({ key }) => key)).size).toBe(2)
})

test('readStartKey: anything but a record of a key is null', async () => {
  const read = (value: unknown) => readStartKey(new Map([['$idempotency', value]]))

  expect(read({ ...SENT, more: 1 })).toEqual(SENT)
  expect([read(undefined), read('k'), read([SENT]), read({ key: 'k' }), read({ ...SENT, request: 1 })]).toEqual(
    Array.from({ length: 5 }, () => null),
  )
  expect(readStartKey(new Map())).toBeNull()
})
