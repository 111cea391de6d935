import { expect, test } from 'vitest'
import { commandLineFor } from '../../../../src/cli/output/advice.ts'

test('commandLineFor: a command is for the service and the namespace of the flags, without the token', () => {
  const flags = { url: 'http://portico.test', namespace: 'a b', token: 'secret' }

  expect(commandLineFor(flags)('status x')).toMatch(/ status x --url http:\/\/portico.test --namespace 'a b'$/)
  expect(commandLineFor({})('status x')).toMatch(/ status x$/)
})
