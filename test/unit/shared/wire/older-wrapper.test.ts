import { expect, test } from 'vitest'
import { unwrapOutput, unwrapWorkflowOutput } from '../../../../src/shared/wire/older-wrapper.ts'

const wrapped = (more: object) => ({ __output_workflow_wrapper_version: 1, ...more })

test('unwrapWorkflowOutput: takes output and trace out of the wrapper', () => {
  const trace = { destinations: { local: '/a.json', remote: 'https://b/a.json' } }

  expect(unwrapWorkflowOutput(wrapped({ output: [1], trace }))).toEqual({ output: [1], trace })
})

test('unwrapWorkflowOutput: output, trace and destinations are optional in the wrapper', () => {
  expect(unwrapWorkflowOutput(wrapped({}))).toEqual({ output: null, trace: null })
  expect(unwrapWorkflowOutput(wrapped({ trace: { destinations: { local: null } } })).trace).toBeNull()
  expect(unwrapWorkflowOutput(wrapped({ trace: 'nowhere' })).trace).toBeNull()
})

test('unwrapWorkflowOutput: returns a value without a wrapper unchanged', () => {
  const inherits = Object.create(wrapped({ output: 1 }))

  for (const output of [null, 1, 'x', [wrapped({ output: 1 })], { output: 1 }, inherits])
    expect(unwrapWorkflowOutput(output)).toEqual({ output, trace: null })
})

test('unwrapOutput: takes the output out of the wrapper of an activity, or of a child workflow', () => {
  expect(unwrapOutput({ __output_activity_wrapper_version: 1, output: 'a', aggregations: {} })).toBe('a')
  expect(unwrapOutput(wrapped({ output: 'b' }))).toBe('b')
  expect(unwrapOutput({ output: 'c' })).toEqual({ output: 'c' })
})
