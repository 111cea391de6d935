import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { internalStringIn } from '../../support/internal-strings.ts'

test('internalStringIn: finds a stack in a string and in JSON', () => {
  const stack = 'Error: no\n    at read (somewhere)'

  expect(internalStringIn(stack)).not.toBeNull()
  expect(internalStringIn(JSON.stringify({ message: stack }))).not.toBeNull()
})

test('internalStringIn: finds the name of this machine alone and in an identity, but not within another word', () => {
  expect(internalStringIn(`dial ${hostname()}:7233`)).toBe(hostname())
  expect(internalStringIn(`"identity":"17@${hostname()}"`)).toBe(hostname())
  expect(internalStringIn(`a-${hostname()}-b`)).toBeNull()
})
