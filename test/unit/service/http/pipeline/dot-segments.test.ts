import { expect, test } from 'vitest'
import { hasDotSegment } from '../../../../../src/service/http/pipeline/request-checks.ts'

test.each([
  '/links/../workflow/runs',
  '/links/%2e%2e/metrics',
  '/hooks/%2E./capabilities',
  '/hooks/.%2e',
  '/a/./b',
  '/a/.',
  '/..',
  '/a/..?x=1',
  '/links/..\\workflow',
  'http://host/a/../b',
])('hasDotSegment: %s has one', (url) => {
  expect(hasDotSegment({ url })).toBe(true)
})

test.each([
  '/workflow/a..b/status',
  '/workflow/.../status',
  '/workflow/.a/status',
  '/workflow/a%2F..%2Fb/status',
  '/workflow/%252e%252e/status',
  '/a?next=/../b',
  '/',
])('hasDotSegment: %s has none', (url) => {
  expect(hasDotSegment({ url })).toBe(false)
})
