import { expect, test } from 'vitest'
import { issuesOf, parse, required } from './parsed.ts'

test.each([
  ['docs', 'SERVICE_DOCS_ON'],
  ['console', 'SERVICE_CONSOLE_ON'],
] as const)('%s: off unless %s (threat 62)', (page, variable) => {
  const found = [{}, { [variable]: 'true' }, { [variable]: 'false' }].map((env) => parse(env)[page])
  expect(found).toEqual([false, true, false])
  expect(issuesOf({ ...required, [variable]: 'yess' })).toEqual([`${variable} must be true or false`])
})
