import { expect, test } from 'vitest'
import { checkInput } from '../../../../../src/service/catalog/check-input.ts'
import { withJsonText } from '../../../../../src/service/fronts/mcp/json-text.ts'
import { invalidValue, ServiceError } from '../../../../../src/service/model/errors.ts'
import { aCall } from '../../../call.ts'

/** Accepts what the schema accepts. Returns what it accepts, and how often it was called. */
async function use(schema: object, given: Record<string, unknown>) {
  let calls = 0
  const values = await withJsonText(given, aCall(), async (values) => {
    calls++
    const { issues } = checkInput(values, schema as never, '')
    if (issues.length > 0) throw new ServiceError('ValidationError', `${issues[0]?.path}`, { details: { issues } })
    return values
  })
  return { values, calls }
}

const object = (properties: object) => ({ type: 'object', properties })

test.for<[what: string, schema: object, given: unknown, taken: unknown, calls: number]>([
  ['a list', { type: 'array' }, '[1,2]', [1, 2], 2],
  ['an object', object({ approved: { type: 'boolean' } }), '{"approved":true}', { approved: true }, 2],
  ['JSON in JSON', object({ tags: { type: 'array' } }), '{"tags":"[1]"}', { tags: [1] }, 3],
  ['an inner list', object({ tags: { type: 'array' } }), { tags: '[1]', name: '[2]' }, { tags: [1], name: '[2]' }, 2],
  ['a string in a list', { type: 'array', items: { type: 'number' } }, ['1', 2], [1, 2], 2],
  ['a string that is accepted', { type: ['string', 'object'] }, '{"a":1}', '{"a":1}', 1],
  ['a string without a schema', {}, '{"a":1}', '{"a":1}', 1],
])('withJsonText: %s', async ([, schema, given, taken, calls]) => {
  const used = await use(object({ value: schema }), { value: given })

  expect(used).toEqual({ values: { value: taken }, calls })
})

test.for<[what: string, schema: object, given: string, path: string]>([
  ['a string whose JSON is rejected too is rejected as it was', { enum: ['a'] }, '5', '/value'],
  ['a string that is no JSON stays', { type: 'array' }, '[1', '/value'],
  ['of JSON that is an object, the parts are rejected', object({ a: { type: 'array' } }), '{"a":5}', '/value/a'],
])('withJsonText: %s', async ([, schema, given, path]) => {
  await expect(use(object({ value: schema }), { value: given })).rejects.toThrow(path)
})

test('withJsonText: another error is not followed by a second call', async () => {
  let calls = 0
  const failing = withJsonText({ a: '1' }, aCall(), async () => {
    calls++
    throw new ServiceError('EngineUnavailableError', 'down', {})
  })

  await expect(failing).rejects.toThrow('down')
  expect(calls).toBe(1)
  const rejecting = withJsonText({ a: 'x' }, aCall(), () => Promise.reject(invalidValue('/a', 'is wrong')))
  await expect(rejecting).rejects.toThrow('/a')
})

test('withJsonText: the decisions of an attempt replace those of the one before', async () => {
  const decisions: object[] = []
  const addDecision = () => {
    const decision = {}
    decisions.push(decision)
    return (facts: object) => void Object.assign(decision, facts)
  }

  await withJsonText({ a: '1' }, aCall({ addDecision }), async ({ a }, call) => {
    call.addDecision?.()({ action: 'start', rule: 'web' })
    if (a === '1') throw invalidValue('/a', 'must be a number')
    call.addDecision?.()({ action: 'terminate', rule: 'web' })
  })

  expect(decisions).toEqual([
    { action: 'start', rule: 'web' },
    { action: 'terminate', rule: 'web' },
  ])
})
