import { expect, test } from 'vitest'
import { keyedId, signalIdOf, updateIdOf } from '../../../../src/domain/model/keyed-id.ts'

test('keyedId: each key, kind of message and handler has an id of its own, which is always the same', async () => {
  const ids = () =>
    Promise.all([
      keyedId('a'),
      updateIdOf('a', 'set'),
      updateIdOf('a', 'get'),
      updateIdOf('b', 'set'),
      signalIdOf('a', 'set'),
    ])

  const first = await ids()

  expect(new Set(first).size).toBe(5)
  for (const id of first) expect(id).toMatch(/^key-[\da-f]{32}$/)
  expect(await ids()).toEqual(first)
  expect(await updateIdOf(undefined, 'set')).not.toMatch(/^key-/)
})
