import { expect, test } from 'vitest'
import {
  catalogIssue,
  characterIssue,
  handlerNameIssue,
  workflowIdIssue,
  workflowNameIssue,
} from '../../../../src/shared/wire/names.ts'

test('workflowIdIssue: accepts 1 to 1000 bytes of anything else', () => {
  const ids = [
    'a',
    'orders/17 ü?#%',
    '...',
    'catalogs',
    'Runs',
    '_',
    '__x',
    '/_sys/x',
    'line\nbreak',
    'x'.repeat(1000),
    'é'.repeat(500),
  ]

  expect(ids.map(workflowIdIssue)).toEqual(ids.map(() => null))
})

test('workflowIdIssue: counts UTF-8 bytes, not characters', () => {
  expect(workflowIdIssue('x'.repeat(1001))).toBe('must be 1 to 1000 bytes of UTF-8, not 1001')
  expect(workflowIdIssue(`${'é'.repeat(500)}x`)).toBe('must be 1 to 1000 bytes of UTF-8, not 1001')
  expect(workflowIdIssue('€'.repeat(333))).toBeNull()
  expect(workflowIdIssue('€'.repeat(334))).toBe('must be 1 to 1000 bytes of UTF-8, not 1002')
  expect(workflowIdIssue('😀'.repeat(250))).toBeNull()
  expect(workflowIdIssue('😀'.repeat(251))).toBe('must be 1 to 1000 bytes of UTF-8, not 1004')
})

test('workflowIdIssue: rejects the empty id', () => {
  expect(workflowIdIssue('')).toBe('must be 1 to 1000 bytes of UTF-8, not 0')
})

test('workflowIdIssue: rejects ids that URLs cannot contain and ids of static routes', () => {
  const ids = ['.', '..', 'catalog', 'runs', 'signal-with-start', 'update-with-start']

  expect(ids.map(workflowIdIssue)).toEqual(ids.map((id) => `"${id}" is reserved`))
})

test('workflowIdIssue: rejects reserved prefixes (threat 40)', () => {
  expect(workflowIdIssue('$catalog:orders')).toBe('must not start with "$", which is reserved')
  expect(workflowIdIssue('__temporal_x')).toBe('must not start with "__temporal_", which is reserved')
  expect(workflowIdIssue('temporal-sys-scheduler:nightly')).toBe(
    'must not start with "temporal-sys-", which is reserved',
  )
})

test('workflowIdIssue: rejects characters that Temporal does not accept', () => {
  expect(workflowIdIssue('a\ud800')).toBe('must be well-formed Unicode (it contains a lone surrogate)')
  expect(workflowIdIssue('\udc00a')).toBe('must be well-formed Unicode (it contains a lone surrogate)')
  expect(workflowIdIssue('a\0b')).toBe('must not contain NUL characters')
})

test('workflowNameIssue: accepts 1 to 1000 bytes, also names that are reserved as ids', () => {
  const names = ['greet', 'catalog', '.', '__x', 'toString', '__proto__', 'x'.repeat(1000)]

  expect(names.map(workflowNameIssue)).toEqual(names.map(() => null))
})

test('workflowNameIssue: rejects empty, long, reserved and invalid names', () => {
  const names = ['', 'x'.repeat(1001), '$catalog', '__temporal_x', 'temporal-sys-batch-workflow', '\ud800', '\0']

  expect(names.filter((name) => workflowNameIssue(name) === null)).toEqual([])
})

test('handlerNameIssue: accepts 1 to 1000 bytes', () => {
  const names = ['approve', '_approve', 'catalog', 'x'.repeat(1000)]

  expect(names.map(handlerNameIssue)).toEqual(names.map(() => null))
})

test('handlerNameIssue: rejects names that start with two underscores (threat 40)', () => {
  expect(handlerNameIssue('__stack_trace')).toBe('must not start with "__", which is reserved')
  expect(handlerNameIssue('__')).toBe('must not start with "__", which is reserved')
})

test('handlerNameIssue: rejects empty, long, reserved and invalid names', () => {
  const names = ['', 'x'.repeat(1001), '$x', '\ud800', '\0']

  expect(names.filter((name) => handlerNameIssue(name) === null)).toEqual([])
})

test('catalogIssue: accepts 1 to 991 bytes, which make 1000 with the prefix of the workflow id', () => {
  const catalogs = ['orders', '_sys/x', '__x', 'x'.repeat(991)]

  expect(catalogs.map(catalogIssue)).toEqual(catalogs.map(() => null))
})

test('catalogIssue: rejects 992 bytes', () => {
  expect(catalogIssue('x'.repeat(992))).toBe('must be 1 to 991 bytes of UTF-8, not 992')
})

test('catalogIssue: rejects prefixes that Temporal or its workers reject', () => {
  expect(catalogIssue('/_sys/x')).toBe('must not start with "/_sys/", which is reserved')
  expect(catalogIssue('__temporal_x')).toBe('must not start with "__temporal_", which is reserved')
})

test('catalogIssue: rejects empty and invalid names', () => {
  expect(['', '\ud800', '\0'].filter((catalog) => catalogIssue(catalog) === null)).toEqual([])
})

test('characterIssue: accepts the empty string and surrogate pairs', () => {
  expect(characterIssue('')).toBeNull()
  expect(characterIssue('😀')).toBeNull()
})
