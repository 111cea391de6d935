import { describe, expect, test } from 'vitest'
import {
  catalogFault,
  characterFault,
  handlerNameFault,
  workflowIdFault,
  workflowNameFault,
} from '../../../src/protocol/names.ts'

describe('workflowIdFault', () => {
  test('workflowIdFault: accepts 1 to 1000 bytes of anything else', () => {
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

    expect(ids.map(workflowIdFault)).toEqual(ids.map(() => null))
  })

  test('workflowIdFault: counts UTF-8 bytes, not characters', () => {
    expect(workflowIdFault('x'.repeat(1001))).toBe('must be 1 to 1000 bytes of UTF-8, not 1001')
    expect(workflowIdFault(`${'é'.repeat(500)}x`)).toBe('must be 1 to 1000 bytes of UTF-8, not 1001')
    expect(workflowIdFault('😀'.repeat(250))).toBeNull()
    expect(workflowIdFault('😀'.repeat(251))).toBe('must be 1 to 1000 bytes of UTF-8, not 1004')
  })

  test('workflowIdFault: rejects the empty id', () => {
    expect(workflowIdFault('')).toBe('must be 1 to 1000 bytes of UTF-8, not 0')
  })

  test('workflowIdFault: rejects ids that URLs cannot contain and ids of static routes', () => {
    const ids = ['.', '..', 'catalog', 'runs', 'signal-with-start', 'update-with-start']

    expect(ids.map(workflowIdFault)).toEqual(ids.map((id) => `"${id}" is reserved`))
  })

  test('workflowIdFault: rejects reserved prefixes', () => {
    expect(workflowIdFault('$catalog:orders')).toBe('must not start with "$", which is reserved')
    expect(workflowIdFault('__temporal_x')).toBe('must not start with "__temporal_", which is reserved')
  })

  test('workflowIdFault: rejects characters that Temporal does not accept', () => {
    expect(workflowIdFault('a\ud800')).toBe('must be well-formed Unicode (it contains a lone surrogate)')
    expect(workflowIdFault('\udc00a')).toBe('must be well-formed Unicode (it contains a lone surrogate)')
    expect(workflowIdFault('a\0b')).toBe('must not contain NUL characters')
  })
})

describe('workflowNameFault', () => {
  test('workflowNameFault: accepts 1 to 1000 bytes, also names that are reserved as ids', () => {
    const names = ['greet', 'catalog', '.', '__x', 'toString', '__proto__', 'x'.repeat(1000)]

    expect(names.map(workflowNameFault)).toEqual(names.map(() => null))
  })

  test('workflowNameFault: rejects empty, long, reserved and invalid names', () => {
    const names = ['', 'x'.repeat(1001), '$catalog', '__temporal_x', '\ud800', '\0']

    expect(names.filter((name) => workflowNameFault(name) === null)).toEqual([])
  })
})

describe('handlerNameFault', () => {
  test('handlerNameFault: accepts 1 to 1000 bytes', () => {
    const names = ['approve', '_approve', 'catalog', 'x'.repeat(1000)]

    expect(names.map(handlerNameFault)).toEqual(names.map(() => null))
  })

  test('handlerNameFault: rejects names that start with two underscores', () => {
    expect(handlerNameFault('__stack_trace')).toBe('must not start with "__", which is reserved')
    expect(handlerNameFault('__')).toBe('must not start with "__", which is reserved')
  })

  test('handlerNameFault: rejects empty, long, reserved and invalid names', () => {
    const names = ['', 'x'.repeat(1001), '$x', '\ud800', '\0']

    expect(names.filter((name) => handlerNameFault(name) === null)).toEqual([])
  })
})

describe('catalogFault', () => {
  test('catalogFault: accepts 1 to 991 bytes, which make 1000 with the prefix of the workflow id', () => {
    const catalogs = ['orders', '_sys/x', '__x', 'x'.repeat(991)]

    expect(catalogs.map(catalogFault)).toEqual(catalogs.map(() => null))
  })

  test('catalogFault: rejects 992 bytes', () => {
    expect(catalogFault('x'.repeat(992))).toBe('must be 1 to 991 bytes of UTF-8, not 992')
  })

  test('catalogFault: rejects prefixes that Temporal or its workers reject', () => {
    expect(catalogFault('/_sys/x')).toBe('must not start with "/_sys/", which is reserved')
    expect(catalogFault('__temporal_x')).toBe('must not start with "__temporal_", which is reserved')
  })

  test('catalogFault: rejects empty and invalid names', () => {
    expect(['', '\ud800', '\0'].filter((catalog) => catalogFault(catalog) === null)).toEqual([])
  })
})

test('characterFault: accepts the empty string and surrogate pairs', () => {
  expect(characterFault('')).toBeNull()
  expect(characterFault('😀')).toBeNull()
})
