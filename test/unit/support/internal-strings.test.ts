import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { foreignIn } from '../../support/internal-strings.ts'

test('foreignIn: a stack is found in a text, and in JSON that holds one', () => {
  const stack = 'Error: no\n    at read (somewhere)'

  expect(foreignIn(stack)).not.toBeNull()
  expect(foreignIn(JSON.stringify({ message: stack }))).not.toBeNull()
})

test('foreignIn: the name of this machine is found alone and in an identity, but not within another word', () => {
  expect(foreignIn(`dial ${hostname()}:7233`)).toBe(hostname())
  expect(foreignIn(`"identity":"17@${hostname()}"`)).toBe(hostname())
  expect(foreignIn(`a-${hostname()}-b`)).toBeNull()
})
