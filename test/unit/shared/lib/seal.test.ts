import { promiseHooks } from 'node:v8'
import { expect, test } from 'vitest'
import { createSealer } from '../../../../src/shared/lib/seal.ts'

const keyOf = (byte: number) => new Uint8Array(32).fill(byte)
const sealer = createSealer([keyOf(1)], 'tests')

test('sealer: opens what it has sealed', async () => {
  for (const text of ['', 'x', '{"ä":"✓"}', 'y'.repeat(100_000)])
    expect(await sealer.open(await sealer.seal(text))).toBe(text)
})

test('sealer: two seals of the same text differ, and none shows it (threat 31)', async () => {
  const [first, second] = [await sealer.seal('secret'), await sealer.seal('secret')]

  expect(first).not.toBe(second)
  expect(first).toMatch(/^[\w-]{46}$/)
  expect(atob(first.replaceAll('-', '+').replaceAll('_', '/'))).not.toContain('secret')
})

test('sealer: does not open a text with any bit changed, or cut, or written in another way (threats 31, 64)', async () => {
  const sealed = await sealer.seal('{"a":1}')
  const changed = [...sealed].flatMap((_, at) =>
    ['A', 'B'].map((other) => sealed.slice(0, at) + other + sealed.slice(at + 1)).filter((text) => text !== sealed),
  )
  const others = ['', 'x', '!', sealed.slice(0, -1), `${sealed}A`, `${sealed}=`, ` ${sealed}`, 'A'.repeat(40)]

  for (const text of [...changed, ...others]) expect(await sealer.open(text), text).toBeNull()
})

test('sealer: seals with the first key, and opens with all of them', async () => {
  const old = await sealer.seal('x')
  const rotated = createSealer([keyOf(2), keyOf(1)], 'tests')
  const added = await rotated.seal('y')

  expect([await rotated.open(old), await rotated.open(added)]).toEqual(['x', 'y'])
  expect(await sealer.open(added)).toBeNull()
  expect(await createSealer([keyOf(2)], 'tests').open(old)).toBeNull()
})

test('sealer: what is sealed for one purpose cannot be opened for another (threat 31)', async () => {
  expect(await createSealer([keyOf(1)], 'others').open(await sealer.seal('x'))).toBeNull()
})

test('sealer: settles no promise without a constructor, at which a Temporal worker in the same process would throw', async () => {
  const unusual: Promise<unknown>[] = []
  const stop = promiseHooks.createHook({
    settled(promise) {
      if (promise.constructor === undefined) unusual.push(promise)
    },
  })
  const other = createSealer([keyOf(3)], 'tests')
  await other.open(await other.seal('x'))
  stop()

  expect(unusual).toHaveLength(0)
})
