import { expect, test } from 'vitest'
import type { StartCommand } from '../../../../src/service/model/commands.ts'
import { readStartKey, type StartKey, toStartKey } from '../../../../src/service/model/keyed-id.ts'

const SENT: StartKey = { key: 'key-1', request: 'request-1' }
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
