import { expect, test } from 'vitest'
import { commandLineFor, linesAdvice } from '../../../../src/cli/output/advice.ts'

test('commandLineFor: a command is for the service and the namespace of the flags, without the token', () => {
  const flags = { url: 'http://portico.test', namespace: 'a b', token: 'secret' }

  expect(commandLineFor(flags)('status x')).toMatch(/ status x --url http:\/\/portico.test --namespace 'a b'$/)
  expect(commandLineFor({})('status x')).toMatch(/ status x$/)
})

test('linesAdvice: the lines without an answer are counted from 1, those that follow each other together', () => {
  expect(linesAdvice([0, 2, 3, 4, 9], 'k')).toMatch(/^No answer: line 1, 3-5, 10\. .* k:0\.$/)
})
