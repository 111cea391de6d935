import { expect, test } from 'vitest'
import { escapePointer, pointerKeys, toPointer } from '../../../src/lib/json-pointer.ts'

test('json-pointer: escapes "~" and "/" in a key', () => {
  expect(escapePointer('a/b~c~1')).toBe('a~1b~0c~01')
})

test('json-pointer: joins keys and array indices', () => {
  expect(toPointer(['lines', 0, 'a/b'])).toBe('/lines/0/a~1b')
})

test('json-pointer: the root is the empty string', () => {
  expect([toPointer([]), pointerKeys('')]).toEqual(['', []])
})

test('json-pointer: keys survive the way there and back', () => {
  const keys = ['', 'a/b', '~1', '~01', '0']

  expect(pointerKeys(toPointer(keys))).toEqual(keys)
})
