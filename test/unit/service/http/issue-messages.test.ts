/** Whatever is wrong with a value, its message says what the value must be. */
import { expect, test } from 'vitest'
import { ENDPOINTS } from '../../../../src/service/endpoints.ts'
import { limited } from '../../../../src/service/http/endpoint.ts'
import type { Schema } from '../../../../src/service/http/openapi/schema.ts'
import { validateWith } from '../../../../src/service/http/pipeline/body.ts'
import { type Issue, ServiceError } from '../../../../src/service/model/errors.ts'
import { zodToJsonSchema } from '../../../../src/service/openapi/to-json-schema.ts'
import { requestOf } from './walk.ts'

const WRONG = [null, -1, 1.5, '', 'x', '\0', [], [1], [[]], {}, { x: 1 }, true, 'x'.repeat(3000)]

const PINNED = { deploymentName: 'a', buildId: 'b' }

/** Wrong values of fields that the document shows open. */
const OPEN: Readonly<Record<string, readonly unknown[]>> = {
  versioningOverride: [{ pinned: 1 }, { pinned: PINNED, more: 1 }, { pinned: { ...PINNED, more: 1 } }],
  searchAttributes: [{ type: 'x' }, { type: 'int', value: 1.5 }, { type: 'int', value: 1, more: 1 }].map((A) => ({
    A,
  })),
}

/** Values that the schema may reject: `valid` with a wrong value in one place. */
function wrongValues(schema: Schema, valid: object): unknown[] {
  const { properties = {}, items } = schema as { properties?: Record<string, Schema>; items?: Schema }
  const inFields = Object.entries(properties).flatMap(([key, field]) =>
    [...(OPEN[key] ?? []), ...wrongValues(field, {})].map((value) => ({ ...valid, [key]: value })),
  )
  const inItems = items === undefined ? [] : wrongValues(items, {}).map((value) => [value])
  return [...WRONG, ...inFields, ...inItems]
}

function issuesOf(check: () => unknown): readonly Issue[] {
  try {
    check()
    return []
  } catch (error) {
    return error instanceof ServiceError ? (error.details.issues ?? []) : [{ path: '', message: String(error) }]
  }
}

const BODIES = ENDPOINTS.filter(({ id, body }) => body !== undefined && /^(?!.*Run$)/.test(id))

test.for(BODIES.map((endpoint) => [endpoint.id, endpoint] as const))(
  '%s: no message is empty of content',
  ([, one]) => {
    const schema = limited(one.body?.schema ?? expect.unreachable(), 86_400_000)
    const bodies = wrongValues(zodToJsonSchema(schema), Object(requestOf(one)[2]))

    const issues = bodies.flatMap((body) => issuesOf(() => validateWith(schema, body)))

    const messages = [...new Set(issues.map(({ message }) => message))]
    expect(messages.filter((message) => !/^(?:must|is|has|cannot) /.test(message))).toEqual([])
  },
)

test.for<[override: unknown, ...messages: string[]]>([
  [{ autoUpgrade: true }, ' must be "auto-upgrade" or {"pinned": {"deploymentName": …, "buildId": …}}'],
  [{ pinned: 'v1' }, '/pinned must be an object, not a string'],
  [{ pinned: PINNED, pined: 1 }, '/pined is not a known field; did you mean pinned?'],
  [
    { pinned: { deploymentName: 'a', buildID: 'b' } },
    '/pinned/buildId is required',
    '/pinned/buildID is not a known field; did you mean buildId?',
  ],
])('versioningOverride %j: the message says what, and what it must be instead', ([versioningOverride, ...messages]) => {
  const schema = limited(ENDPOINTS.find(({ id }) => id === 'startWorkflow')?.body?.schema ?? expect.unreachable(), 1000)

  const issues = issuesOf(() => validateWith(schema, { workflowName: 'greet', input: 1, versioningOverride }))

  expect(issues.map(({ path, message }) => `${path} ${message}`)).toEqual(
    messages.map((message) => `/versioningOverride${message}`),
  )
})

test('versioningOverride of an open run: the message says that it can be null', () => {
  const { body } = ENDPOINTS.find(({ id }) => id === 'setWorkflowOptions') ?? expect.unreachable()
  const schema = limited(body?.schema ?? expect.unreachable(), 1000)
  const check = (versioningOverride: unknown) => issuesOf(() => validateWith(schema, { versioningOverride }))

  expect([check(null), check('auto-upgrade'), check({ pinned: PINNED })]).toEqual([[], [], []])
  expect(check({ autoUpgrade: true })).toEqual([
    {
      path: '/versioningOverride',
      message: 'must be "auto-upgrade" or {"pinned": {"deploymentName": …, "buildId": …}}, or null',
    },
  ])
})
