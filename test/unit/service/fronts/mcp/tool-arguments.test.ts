import { expect, test } from 'vitest'
import { workflowArguments } from '../../../../../src/service/fronts/mcp/tool-arguments.ts'

test('workflowArguments: those of a flat tool are the argument of the workflow', () => {
  const flat = { form: 'flat', isOptional: false } as const

  expect(workflowArguments(flat, { name: 'Ada' })).toEqual({ args: [{ name: 'Ada' }], argumentPointer: '' })
  expect(workflowArguments(flat, undefined)).toEqual({ args: [{}], argumentPointer: '' })
  expect(workflowArguments({ ...flat, isOptional: true }, undefined).args).toEqual([])
})

test('workflowArguments: those of other tools have input, or args', () => {
  const open = { form: 'open', isOptional: true } as const

  expect(workflowArguments({ form: 'wrapped', isOptional: false }, { input: null })).toEqual({
    args: [null],
    argumentPointer: '/input',
  })
  expect(workflowArguments(open, { args: [1, 2] })).toEqual({ args: [1, 2], argumentPointer: '/args/0' })
  expect(workflowArguments(open, { input: [], args: [] })).toEqual({ args: [[]], argumentPointer: '/input' })
  expect(workflowArguments(open, {})).toEqual({ args: [], argumentPointer: '/input' })
  expect(workflowArguments({ form: 'none', isOptional: false }, undefined).args).toEqual([])
})

test.for<[form: 'wrapped' | 'open' | 'none', given: Record<string, unknown>, path: string]>([
  ['wrapped', { input: 1, args: [] }, '/args'],
  ['wrapped', { name: 'Ada' }, '/name'],
  ['none', { 'a/b': 1 }, '/a~1b'],
  ['open', { input: 1, args: [2] }, '/args'],
  ['open', { args: 'Ada' }, '/args'],
])('workflowArguments: in the form %s, %o is rejected', ([form, given, path]) => {
  expect(() => workflowArguments({ form, isOptional: false }, given)).toThrow(
    expect.objectContaining({ error: 'ValidationError', details: { issues: [expect.objectContaining({ path })] } }),
  )
})
