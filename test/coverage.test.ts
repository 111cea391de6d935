/** What the documents promise against what this run has seen. Runs after all others, in `npm test`. */
import { expect, test } from 'vitest'
import { ENDPOINTS } from '../src/service/endpoints.ts'
import { NAMES_BY_STATUS } from '../src/service/openapi/schemas/problems.ts'
import { recorded } from './support/record.ts'
import { RULES } from './support/rules.ts'
import { VARIABLES } from './support/variables.ts'

// An undisturbed engine does not cause these: tests produce them with a proxy in front of it, or without an engine.
const ONLY_FROM_A_DISTURBED_ENGINE = [
  '417 ValidationError', // rejected before any request to an engine, like the next one: their tests have no engine
  '431 PayloadTooLargeError',
  '404 TraceNotAvailableError', // the engine's history is always there
  '500 InternalError', // a bug
  '501 NotSupportedError', // it has all that we use
  '503 EngineUnavailableError', // it is up
]

const rows = [...NAMES_BY_STATUS].flatMap(([status, names]) => names.map((name) => `${status} ${name}`))
const answers = recorded('answers')

test('errors: each was seen, from the real engine where it can return it', () => {
  const seenAs = new Set(answers.map(({ status, error, engine }) => `${status} ${error} ${engine}`))
  const unseen = rows.filter(
    (row) => !seenAs.has(`${row} ${ONLY_FROM_A_DISTURBED_ENGINE.includes(row) ? 'disturbed' : 'real'}`),
  )

  expect(rows.length).toBeGreaterThan(25)
  expect(unseen).toEqual([])
})

test('errors: nothing else was seen', () => {
  const seen = new Set(answers.flatMap(({ status, error }) => (error === null ? [] : [`${status} ${error}`])))

  expect([...seen].filter((row) => !rows.includes(row))).toEqual([])
})

// What the engine's HTTP API has no path for, a namespace that is not there, and a codec that fails.
const EXPECTED = ['NotSupportedError', 'EngineError', 'PayloadCodecError']

test('errors: while the engine is healthy, a 500, 501 or 502 has one of these reasons', () => {
  const unexpected = answers.filter(
    ({ status, engine, error }) =>
      engine === 'real' && status >= 500 && status <= 502 && !EXPECTED.includes(error ?? ''),
  )

  expect(unexpected).toEqual([])
})

test('secrets: no log line of any service or worker showed a forbidden value', () => {
  expect(recorded('watched').length).toBeGreaterThan(20)
  expect(recorded('leaks')).toEqual([])
})

test('secrets: every variable was set for a service or worker', () => {
  const set = new Set(recorded('watched').flatMap(({ variables }) => variables))

  expect(Object.keys(VARIABLES).filter((name) => !set.has(name))).toEqual([])
})

test('rules: each was proven', () => {
  const proven = new Set(recorded('rules').map(({ id }) => id))

  expect(RULES.filter((id) => !proven.has(id))).toEqual([])
})

test('routes: each was answered with success, of the latest run and of a pinned one', () => {
  const succeeded = new Set(answers.map(({ method, route, status }) => `${method} ${route} ${status}`))
  // The files of the page contain words that no recorded answer may contain.
  const routes = ENDPOINTS.filter(({ path }) => path !== '/docs/:file').map(
    ({ method, path, responses }) =>
      `${method.toUpperCase()} ${path} ${Math.min(...Object.keys(responses).map(Number))}`,
  )

  expect(routes.filter((route) => !succeeded.has(route))).toEqual([])
})
