import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { renderTrace } from '../../../../src/cli/output/run.ts'

const node = (name: string, more: object = {}) => ({
  kind: 'step',
  name,
  startedAt: 0,
  endedAt: 2000,
  error: null,
  attributes: {},
  children: [],
  ...more,
})

const linesOf = (children: object[], { complete = true, endedAt = 2000 as number | null } = {}) => {
  const data = node('order', { kind: 'workflow', endedAt, children })
  const text = stripVTControlCharacters(renderTrace({ data, source: 'history', complete, warnings: [] }))
  return text.split('\n').slice(0, children.length + 1)
}

test('portico trace: a step shows its attempts and the last failure, or its error', () => {
  const lastFailure = { name: 'Error', message: 'gateway said no (2)' }

  expect(
    linesOf([
      node('flaky', { attributes: { attempts: 3, lastFailure } }),
      node('failed', { attributes: { attempts: 2, lastFailure }, error: { name: 'Refused', message: 'no' } }),
      node('retrying', { endedAt: null, attributes: { attempts: 2, lastFailure } }),
      node('once', { attributes: { attempts: 1 } }),
    ]).slice(1),
  ).toEqual([
    '├─ flaky  2.0 s, 3 attempts  after gateway said no (2)',
    '├─ failed  2.0 s, 2 attempts  Refused: no',
    '├─ retrying  not finished, 2 attempts  after gateway said no (2)',
    '└─ once  2.0 s',
  ])
})

test('portico trace: a canceled timer is no error', () => {
  expect(linesOf([node('1', { kind: 'timer', endedAt: 312, attributes: { canceled: true } })])).toEqual([
    'order  2.0 s',
    '└─ timer 1  312 ms, canceled',
  ])
})

test('portico trace: what is open is not finished once its run has ended', () => {
  const open = [node('1', { kind: 'timer', endedAt: null }), node('slow', { endedAt: null })]

  expect(linesOf(open)).toEqual(['order  2.0 s', '├─ timer 1  not finished', '└─ slow  not finished'])
  expect(linesOf(open, { complete: false, endedAt: null })).toEqual([
    'order  open',
    '├─ timer 1  open',
    '└─ slow  open',
  ])
  const child = node('pack', { kind: 'workflow', children: [node('slow', { endedAt: null })] })
  expect(linesOf([child], { complete: false, endedAt: null })[1]).toBe('└─ pack  2.0 s')
})
