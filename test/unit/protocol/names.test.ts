import { describe, expect, test } from 'vitest'
import {
  catalogFault,
  characterFault,
  handlerNameFault,
  workflowIdFault,
  workflowNameFault,
} from '../../../src/protocol/names.ts'

describe('workflowIdFault', () => {
  test('workflowIdFault: takes 1 to 1000 bytes of whatever else', () => {
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

  test('workflowIdFault: counts bytes of UTF-8, not characters', () => {
    expect(workflowIdFault('x'.repeat(1001))).toBe('must be 1 to 1000 bytes of UTF-8, not 1001')
    expect(workflowIdFault(`${'é'.repeat(500)}x`)).toBe('must be 1 to 1000 bytes of UTF-8, not 1001')
    expect(workflowIdFault('😀'.repeat(250))).toBeNull()
    expect(workflowIdFault('😀'.repeat(251))).toBe('must be 1 to 1000 bytes of UTF-8, not 1004')
  })

  test('workflowIdFault: refuses the empty id', () => {
    expect(workflowIdFault('')).toBe('must be 1 to 1000 bytes of UTF-8, not 0')
  })

  test('workflowIdFault: refuses ids that no URL reaches or static routes win over', () => {
    const ids = ['.', '..', 'catalog', 'runs', 'signal-with-start', 'update-with-start']

    expect(ids.map(workflowIdFault)).toEqual(ids.map((id) => `"${id}" is reserved`))
  })

  test('workflowIdFault: refuses reserved beginnings', () => {
    expect(workflowIdFault('$catalog:orders')).toBe('must not begin with "$", which is reserved')
    expect(workflowIdFault('__temporal_x')).toBe('must not begin with "__temporal_", which is reserved')
  })

  test('workflowIdFault: refuses what the engine can not carry', () => {
    expect(workflowIdFault('a\ud800')).toBe('must be well-formed Unicode (it has a lone surrogate)')
    expect(workflowIdFault('\udc00a')).toBe('must be well-formed Unicode (it has a lone surrogate)')
    expect(workflowIdFault('a\0b')).toBe('must not contain NUL')
  })
})

describe('workflowNameFault', () => {
  test('workflowNameFault: takes 1 to 1000 bytes, also names that only ids may not have', () => {
    const names = ['greet', 'catalog', '.', '__x', 'toString', '__proto__', 'x'.repeat(1000)]

    expect(names.map(workflowNameFault)).toEqual(names.map(() => null))
  })

  test('workflowNameFault: refuses what is empty, too long, reserved or can not be carried', () => {
    const names = ['', 'x'.repeat(1001), '$catalog', '__temporal_x', '\ud800', '\0']

    expect(names.filter((name) => workflowNameFault(name) === null)).toEqual([])
  })
})

describe('handlerNameFault', () => {
  test('handlerNameFault: takes 1 to 1000 bytes', () => {
    const names = ['approve', '_approve', 'catalog', 'x'.repeat(1000)]

    expect(names.map(handlerNameFault)).toEqual(names.map(() => null))
  })

  test('handlerNameFault: refuses everything that begins with two underscores', () => {
    expect(handlerNameFault('__stack_trace')).toBe('must not begin with "__", which is reserved')
    expect(handlerNameFault('__')).toBe('must not begin with "__", which is reserved')
  })

  test('handlerNameFault: refuses what is empty, too long, reserved or can not be carried', () => {
    const names = ['', 'x'.repeat(1001), '$x', '\ud800', '\0']

    expect(names.filter((name) => handlerNameFault(name) === null)).toEqual([])
  })
})

describe('catalogFault', () => {
  test('catalogFault: takes 1 to 991 bytes, which with the prefix of its id are 1000', () => {
    const catalogs = ['orders', '_sys/x', '__x', 'x'.repeat(991)]

    expect(catalogs.map(catalogFault)).toEqual(catalogs.map(() => null))
  })

  test('catalogFault: refuses 992 bytes', () => {
    expect(catalogFault('x'.repeat(992))).toBe('must be 1 to 991 bytes of UTF-8, not 992')
  })

  test('catalogFault: refuses the beginnings that the engine or its workers refuse', () => {
    expect(catalogFault('/_sys/x')).toBe('must not begin with "/_sys/", which is reserved')
    expect(catalogFault('__temporal_x')).toBe('must not begin with "__temporal_", which is reserved')
  })

  test('catalogFault: refuses what is empty or can not be carried', () => {
    expect(['', '\ud800', '\0'].filter((catalog) => catalogFault(catalog) === null)).toEqual([])
  })
})

test('characterFault: takes the empty text and pairs of surrogates', () => {
  expect(characterFault('')).toBeNull()
  expect(characterFault('😀')).toBeNull()
})
