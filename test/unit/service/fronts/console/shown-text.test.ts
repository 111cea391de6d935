import { expect, test } from 'vitest'
import {
  agoText,
  coarseText,
  durationText,
  sentenceOf,
  toLocal,
  toUtc,
} from '../../../../../src/service/fronts/console/page/format.ts'
import { filterOfQuery, withFilter } from '../../../../../src/service/fronts/console/page/runs/run-filter.ts'

const NOW = Date.UTC(2026, 10, 29, 12)

test('durations have at most two units', () => {
  const shown = [-5, 0, 999.6, 1000, 2440, 9990, 59_400, 60_000, 200_000, 3_600_000, 187_200_000].map(durationText)

  expect(shown).toEqual([
    ...['0 ms', '0 ms', '1000 ms', '1 s', '2.4 s', '10 s', '59 s'],
    ...['1 min', '3 min 20 s', '1 h', '2 d 4 h'],
  ])
  expect([coarseText(200_000), agoText(NOW - 65_000, NOW), agoText(NOW + 7_200_000, NOW), agoText(NOW, NOW)]).toEqual([
    '3 min',
    '1 min ago',
    'in 2 h',
    'now',
  ])
})

test('the advice of the service is a sentence, with its times from now on', () => {
  const advice = `send signal approve, or wait until the timer at ${new Date(NOW + 90_000).toISOString()}`

  expect(sentenceOf(advice, NOW)).toMatch(
    /^Send signal approve, or wait until the timer at .*12.*01.*30.* \(in 1 min 30 s\)\.$/,
  )
  expect(sentenceOf(`running since ${new Date(NOW - 5000).toISOString()}`, NOW)).not.toContain('(in')
  expect(sentenceOf('answer the question: Refund 250 EUR?', NOW)).toBe('Answer the question: Refund 250 EUR?')
})

test('the filter is what the API takes of the URL, and can be changed', () => {
  const url = new URLSearchParams(
    'workflowName=order&namespace=n&pageSize=7&status=&searchAttributes[A]=1&searchAttributes=x&problem=true&query=a',
  )

  expect(filterOfQuery(url).toString()).toBe('workflowName=order&searchAttributes%5BA%5D=1&problem=true&query=a')
  expect(withFilter(filterOfQuery(url), { problem: null, query: '', status: 'failed' }).toString()).toBe(
    'workflowName=order&searchAttributes%5BA%5D=1&status=failed',
  )
})

test('times are entered in the zone of the browser, and sent in UTC', () => {
  const local = '2026-11-29T12:30'

  expect(new Date(toUtc(local)).getTime()).toBe(new Date(local).getTime())
  expect([toLocal(toUtc(local)), toLocal(null), toLocal('never'), toUtc('never')]).toEqual([local, '', '', 'never'])
})
