import { expect, test } from 'vitest'
import { toRunQuery } from '../../../../../src/service/engine/run-query.ts'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import type { AttributeFilter } from '../../../../../src/service/model/run-filter.ts'

const RESERVED = [
  ...["WorkflowId NOT STARTS_WITH '$'", "WorkflowId NOT STARTS_WITH '__temporal_'"],
  ...["WorkflowId NOT STARTS_WITH 'temporal-sys-'", "WorkflowType NOT STARTS_WITH '$'"],
  ...["WorkflowType NOT STARTS_WITH '__temporal_'", "WorkflowType NOT STARTS_WITH 'temporal-sys-'"],
].join(' AND ')

test('toRunQuery: without a filter it leaves out the runs with reserved ids and names', () => {
  expect(toRunQuery({ searchAttributes: [] })).toBe(RESERVED)
})

test('toRunQuery: of the runs with a problem only the open ones count, because the engine keeps it', () => {
  const open = "ExecutionStatus IN ('Running', 'Paused')"

  expect(toRunQuery({ searchAttributes: [], problem: true })).toBe(
    `TemporalReportedProblems IS NOT NULL AND ${open} AND ${RESERVED}`,
  )
  expect(toRunQuery({ searchAttributes: [], problem: false })).toBe(
    `(TemporalReportedProblems IS NULL OR ${open.replace('IN', 'NOT IN')}) AND ${RESERVED}`,
  )
})

test('toRunQuery: combines all conditions, the own query first and in parentheses', () => {
  const query = toRunQuery({
    workflowName: "it's",
    catalog: 'back\\slash',
    status: 'timed_out',
    startedAfter: '2026-01-01T00:00:00Z',
    closedBefore: '2026-02-01T00:00:00Z',
    searchAttributes: [{ name: 'Customer', type: 'keyword', value: "O'Hara" }],
    query: 'A = 1 OR B = 2',
  })

  expect(query).toBe(
    [
      '(A = 1 OR B = 2)',
      "WorkflowType = 'it''s'",
      "TaskQueue = 'back\\\\slash'",
      "ExecutionStatus = 'TimedOut'",
      "StartTime >= '2026-01-01T00:00:00Z'",
      "CloseTime < '2026-02-01T00:00:00Z'",
      RESERVED,
      "`Customer` = 'O''Hara'",
    ].join(' AND '),
  )
})

test('toRunQuery: writes the value of an attribute as its type demands (threat 41)', () => {
  const conditionOf = (type: AttributeFilter['type'], value: string) =>
    toRunQuery({ searchAttributes: [{ name: 'A', type, value }] }).slice(`${RESERVED} AND `.length)

  expect(conditionOf('int', '-42')).toBe('`A` = -42')
  expect(conditionOf('double', '1.5e3')).toBe('`A` = 1.5e3')
  expect(conditionOf('bool', 'false')).toBe('`A` = false')
  expect(conditionOf('keyword_list', 'red')).toBe("`A` = 'red'")
  expect(conditionOf('text', 'a "b" (c) OR d*')).toBe("`A` = 'a b c OR d'")
  for (const time of ['2026-01-01T01:00:00.999+01:00', '2026-01-01 01:00:00,999+0100'])
    expect(conditionOf('datetime', time)).toBe("`A` >= '2026-01-01T00:00:00.999Z' AND `A` < '2026-01-01T00:00:01.000Z'")
})

test('toRunQuery: reports every value that does not fit its place (threat 41)', () => {
  const wrong: AttributeFilter[] = [
    { name: 'I', type: 'int', value: '1.5' },
    { name: 'D', type: 'double', value: 'NaN' },
    { name: 'B', type: 'bool', value: 'TRUE' },
    { name: 'T', type: 'datetime', value: '2026-99-01T00:00:00Z' },
    { name: 'F', type: 'datetime', value: '2026-02-30T00:00:00Z' },
    { name: 'W', type: 'text', value: '--' },
    { name: 'My own/name', type: 'int', value: 'x' },
  ]

  const error = thrownBy(() => toRunQuery({ searchAttributes: wrong, query: '(' }))

  expect(error.error).toBe('ValidationError')
  expect(error.details.issues?.map(({ path }) => path)).toEqual([
    '/query',
    ...['I', 'D', 'B', 'T', 'F', 'W', 'My own~1name'].map((name) => `/searchAttributes/${name}`),
  ])
})

function thrownBy(act: () => unknown): ServiceError {
  try {
    act()
  } catch (error) {
    if (error instanceof ServiceError) return error
  }
  throw new Error('nothing was thrown')
}
