import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addItem, isLossless, toDraft, toText } from '../../../../../src/service/fronts/console/page/forms/draft.ts'
import { hasField, issueAt } from '../../../../../src/service/fronts/console/page/forms/issues.ts'
import { type Field, toField } from '../../../../../src/service/fronts/console/page/forms/schema-field.ts'
import { bodyOf, codeOf } from '../../../../../src/service/fronts/console/page/start/start-request.ts'
import { parseJson } from '../../../../../src/shared/lib/json.ts'

const ADDRESS = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

function kindOf(schema: object): string {
  return toField(schema as Record<string, unknown>).kind
}

describe('field of a schema', () => {
  test.each([
    [{ type: 'string' }, 'string'],
    [{ type: 'integer' }, 'number'],
    [{ type: 'boolean' }, 'boolean'],
    [{ enum: ['a', 1, null] }, 'choice'],
    [{ anyOf: [{ const: 'a' }, { const: 'b' }] }, 'choice'],
    [{ const: 7 }, 'constant'],
    [ADDRESS, 'object'],
    [{ type: 'array', items: { type: 'string' } }, 'array'],
    [{ type: 'object' }, 'json'],
    [{ type: 'array' }, 'json'],
    [{ oneOf: [{ type: 'string' }, { type: 'number' }] }, 'json'],
    [{ type: ['string', 'number'] }, 'json'],
    [{ $ref: 'https://example.com/other.json' }, 'json'],
    [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'boolean' } } }, 'boolean'],
    [{}, 'json'],
  ])('%j is edited as %s', (schema, kind) => {
    expect(kindOf(schema)).toBe(kind)
  })

  test('a value that may be null is its other kind; a schema of itself ends as JSON', () => {
    const nullable = [{ type: ['string', 'null'] }, { anyOf: [{ type: 'string' }, { type: 'null' }] }].map((one) =>
      toField(one),
    )
    let at: Field = toField({ type: 'object', properties: { next: { $ref: '#' } } })
    let depth = 0
    while (at.kind === 'object' && at.properties[0] !== undefined) [at, depth] = [at.properties[0].field, depth + 1]

    expect(nullable.map(({ kind, isNullable }) => [kind, isNullable])).toEqual([
      ['string', true],
      ['string', true],
    ])
    expect([at.kind, depth]).toEqual(['json', 7])
  })

  test('its bounds are shown in words, but not those that every integer has', () => {
    const hints = [
      { type: 'integer', minimum: 1, maximum: 9 },
      { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'number', exclusiveMinimum: 0, multipleOf: 5 },
      { type: 'string', minLength: 2, maxLength: 5 },
      { type: 'string', format: 'email' },
      { type: 'array', items: true, minItems: 1 },
    ].map((schema) => toField(schema).hint)

    expect(hints).toEqual([
      'A whole number, 1 to 9',
      'A whole number',
      'Above 0, a multiple of 5',
      '2 to 5 characters',
      'An email address',
      'At least 1 item',
    ])
  })
})

describe('draft', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      size: { type: 'number' },
      on: { type: 'boolean' },
      level: { enum: ['low', 'high', 3] },
      tags: { type: 'array', items: { type: 'string' } },
      home: ADDRESS,
      note: { type: ['string', 'null'] },
      rest: {},
    },
    required: ['name', 'home'],
  }
  const field = toField(schema)
  // Neither -0, which JSON does not have, nor escapes: after the key `\`, `JSON.parse` of V8 13.6 can read `"` as `\`.
  const shown = (value: unknown) => JSON.stringify(value, (_, member) => (Object.is(member, -0) ? '-0' : member))
  const values = fc.record(
    {
      name: fc.string(),
      // JSON has one zero.
      size: fc.double({ noNaN: true, noDefaultInfinity: true }).map((size) => size + 0),
      on: fc.boolean(),
      level: fc.constantFrom('low', 'high', 3),
      tags: fc.array(fc.string(), { minLength: 1 }),
      home: fc.record({ city: fc.string() }),
      note: fc.oneof(fc.constant(null), fc.string({ minLength: 1 })),
      rest: fc.jsonValue().filter((value) => value !== '' && !/-0|\\/.test(shown(value))),
    },
    { requiredKeys: ['name', 'home'], noNullPrototype: true },
  )

  test('what is filled in comes out again, for any value of the schema', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(JSON.parse(toText(field, toDraft(field, value, true), true) ?? '')).toEqual(value)
        expect(isLossless(field, value)).toBe(true)
      }),
    )
  })

  test('a value that the form would change is not edited with it', () => {
    const others = [{ name: 'a', home: { city: 'b' }, more: 1 }, { name: 'a', home: {} }, 'text', null]

    expect(others.map((value) => isLossless(field, value))).toEqual([false, false, false, false])
  })

  test('numbers keep their digits, and what is no number is sent for the service to reject', () => {
    const number = toField({ type: 'number' })
    const typed = (text: string) => toText(number, { ...toDraft(number, undefined, true), text }, true)
    const read = parseJson('0.1234567890123456789')

    expect(['12345678901234567890', ' 1e5 ', '01', 'a', ''].map(typed)).toEqual([
      '12345678901234567890',
      '1e5',
      '"01"',
      '"a"',
      undefined,
    ])
    expect(toText(number, toDraft(number, read, true), true)).toBe('0.1234567890123456789')
  })

  test('what was left out stays out, also a required flag, which a person must choose; a required text is empty', () => {
    const required = toField({ ...schema, required: ['name', 'on', 'tags', 'home'] })

    expect(toText(field, toDraft(field, undefined, true), true)).toBe('{"name":"","home":{"city":""}}')
    expect(toText(required, toDraft(required, undefined, true), true)).toBe('{"name":"","tags":[],"home":{"city":""}}')
    const list = toField({ type: 'array', items: { type: 'number' } }) as Field & { kind: 'array' }
    const draft = toDraft(list, undefined, false)
    addItem(list, draft)
    expect(toText(list, draft, false)).toBe('[null]')
  })

  test('JSON that is not valid is not sent', () => {
    const free = toField({})

    expect(() => toText(free, { ...toDraft(free, undefined, true), text: '{' }, true)).toThrow(SyntaxError)
  })
})

test('issues: each is shown at its field, if the form has one', () => {
  const field = toField({
    type: 'object',
    properties: {
      'a/b': { type: 'string' },
      tags: { type: 'array', items: {} },
      unset: { type: 'object', properties: { c: {} } },
    },
  })
  const draft = toDraft(field, { tags: [1] }, true)
  const issues = [{ path: '/input/tags/0', message: 'must be a string' }]
  const paths = [[], ['a~1b'], ['tags', '0'], ['tags', '1'], ['unset'], ['unset', 'c'], ['unknown'], ['a~1b', 'c']]

  expect(['/input/tags/0', '/input/tags'].map((at) => issueAt(issues, at))).toEqual(['must be a string', null])
  expect(paths.map((path) => hasField(field, draft, path))).toEqual([
    true,
    true,
    true,
    false,
    true,
    false,
    false,
    false,
  ])
})

test('start: the body and the program have all arguments, with their digits', () => {
  const entered = { workflow: 'two', catalog: 'c', workflowId: ' id ', input: '{"a":1}', more: '' }
  const bodies = [
    entered,
    { ...entered, more: '[12345678901234567890, "]"]' },
    { ...entered, workflowId: '', input: undefined },
    { ...entered, workflowId: '', more: ' [ ] ' },
  ].map((one) => bodyOf(one).replace('"workflowName":"two",', '').replace('"catalog":"c",', ''))

  expect(bodies).toEqual([
    '{"workflowId":"id","input":{"a":1}}',
    '{"workflowId":"id","args":[{"a":1},12345678901234567890, "]"]}',
    '{"args":[]}',
    '{"args":[{"a":1}]}',
  ])
  expect(() => bodyOf({ ...entered, more: '{}' })).toThrow('must be a JSON array')
  expect(codeOf('https://a.example/p/', entered)).toContain(
    `createClient({ url: "https://a.example/p", token: process.env.PORTICO_TOKEN })\nconsole.log(await client.run("two", { workflowId: "id", input: {"a":1} }))`,
  )
})
