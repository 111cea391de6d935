import { expect, test } from 'vitest'
import { issuesOf, parse, required } from './parsed.ts'

test('docs: off unless SERVICE_DOCS_ON (threat 62)', () => {
  const found = [{}, { SERVICE_DOCS_ON: 'true' }, { SERVICE_DOCS_ON: 'false' }].map((env) => parse(env).docs)
  expect(found).toEqual([false, true, false])
  expect(issuesOf({ ...required, SERVICE_DOCS_ON: 'yess' })).toEqual(['SERVICE_DOCS_ON must be true or false'])
})
