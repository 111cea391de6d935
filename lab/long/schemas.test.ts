/** Schemas published by a careless or hostile worker: their cost and the inputs they accept. */
import { createServer } from 'node:http'
import { expect } from 'vitest'
import { doubling, numbers } from '../../dev/hostile-schemas.ts'
import { median } from '../../dev/percentiles.ts'
import { cpuMsOf } from '../../dev/servers/process-usage.ts'
import type { LogEvent } from '../../dev/servers/service.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test } from '../../test/support/fixtures.ts'
import { nested, publishRaw, withSchemas } from '../../test/support/hostile-catalogs.ts'
import { announceGrowth } from '../../test/support/invariants.ts'
import type { Service } from '../../test/support/service.ts'
import { onThisMachine } from './cpu-ms.ts'

// Compiled schemas and the catalogs with them stay in caches.
announceGrowth(64_000_000)

const CATALOG = `schemas-${crypto.randomUUID()}`
/** Catalogs with the same schemas, because the first request with a schema of a catalog compiles it. */
const copiesOf = (catalog: string) => [catalog, `${catalog}-2`, `${catalog}-3`]
const requests: string[] = []
let service: Service

const wide = Object.fromEntries(numbers(100_000).map((number) => [`key${number}`, number]))
const many = numbers(200_000)
const long = 'a'.repeat(1_000_000)

/** Each with an input on which a backtracking engine would never end. */
const CATASTROPHIC: Record<string, [schema: { pattern: string; type?: string }, input: unknown]> = {
  pattern: [{ type: 'string', pattern: '^((a+)+)+$' }, `${long}!`],
  polynomialPattern: [{ pattern: 'a*a*a*a*a*b' }, long],
  patternAhead: [{ pattern: '^(?=(a|a)*$).*$' }, `${long.slice(0, 100_000)}!`],
}

/** Each with an input that would take long to validate. */
const COSTLY: Record<string, [schema: unknown, input: unknown]> = {
  manyPatterns: [{ allOf: numbers(5000).map((number) => ({ pattern: `^(?:x${number}|[a-z]{1,90})+$` })) }, 'abc'],
  patternProperties: [
    { patternProperties: Object.fromEntries(numbers(2000).map((number) => [`^(k+)+${number}$`, true])) },
    wide,
  ],
  propertyNames: [{ propertyNames: { pattern: '^(\\w+)+$' } }, wide],
  allOf: [doubling('allOf', 60, { type: 'string' }), 'x'],
  anyOf: [doubling('anyOf', 60, { type: 'string' }), 1],
  oneOf: [doubling('oneOf', 60, { type: 'string' }), 'x'],
  uniqueItems: [{ uniqueItems: true }, many],
  enum: [
    { items: { enum: numbers(5000).map((number) => ({ number })) } },
    many.slice(0, 100_000).map((number) => ({ number: number % 5000 })),
  ],
  minProperties: [{ allOf: numbers(5000).map(() => ({ minProperties: 1 })) }, wide],
  unevaluated: [
    { allOf: numbers(2000).map(() => ({ additionalProperties: true })), unevaluatedProperties: false },
    wide,
  ],
}

const node = { $ref: '#/$defs/node' }

/** Each with an input that is validated fast, and the expected status. */
const CHEAP: Record<string, [schema: unknown, input: unknown, status: number]> = {
  multipleOf: [{ items: { multipleOf: 1e-300 } }, many.map(() => 1e300), 200],
  repeatedTypes: [{ items: { type: numbers(100_000).map(() => 'integer') } }, many.slice(0, 1000).map(String), 400],
  deepPlaces: [
    {
      ...node,
      $defs: { node: { additionalProperties: node, items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } } },
    },
    nested(480, (inner) => ({ ['a'.repeat(200)]: inner }), many.slice(0, 20_000)),
    200,
  ],
}

/** Schemas that cannot be used at all. */
const UNUSABLE: Record<string, unknown> = {
  type: { type: 5 },
  unknownType: { type: 'text' },
  required: { required: 'name' },
  properties: { properties: [] },
  part: { properties: { a: 'string' } },
  brokenPattern: { pattern: '(' },
  backreference: { pattern: '^(a+)\\1+$' },
  missingReference: { $ref: '#/$defs/none' },
  malformedReference: { $ref: '#/%zz' },
  dynamicReference: { $dynamicRef: '#node' },
  circle: { $ref: '#' },
  wideCircle: { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { anyOf: [{ $ref: '#' }, { $ref: '#/$defs/a' }] } } },
  enormous: { properties: Object.fromEntries(numbers(40_000).map((number) => [`key${number}`, { type: 'string' }])) },
}

test.beforeAll(async ({ startService, cleanup }) => {
  const remote = createServer((request, response) => {
    requests.push(request.url ?? '')
    response.end('{"type": "string"}')
  })
  const port = await freePort()
  await new Promise<void>((resolve) => remote.listen(port, '127.0.0.1', resolve))
  cleanup.defer(() => void remote.close())
  const schemas = Object.fromEntries(
    Object.entries({ ...CATASTROPHIC, ...COSTLY }).map(([name, [schema]]) => [name, schema]),
  )
  const host = `http://127.0.0.1:${port}`
  const catalogs = {
    [CATALOG]: {
      ...schemas,
      remote: { $ref: `${host}/schema.json` },
      remoteBase: { $id: `${host}/base.json`, properties: { a: { $ref: 'part.json' } } },
      honest,
    },
    [`${CATALOG}-unusable`]: UNUSABLE,
    [`${CATALOG}-cheap`]: Object.fromEntries(Object.entries(CHEAP).map(([name, [schema]]) => [name, schema])),
  }
  service = await startService({ catalog: CATALOG, env: { SERVICE_CATALOG_TTL: '1h' } })
  for (const [catalog, those] of Object.entries(catalogs))
    for (const copy of copiesOf(catalog)) {
      await publishRaw(withSchemas(copy, { ...those, unvalidated: null }))
      const read = async () => (await start('unvalidated', null, copy)).status === 200
      await until('the service has read the catalog', read)
    }
  await until('the validator is loaded', async () => (await start('honest', {})).status === 400)
})

const honest = {
  type: 'object',
  properties: {
    // As zod publishes it.
    email: {
      type: 'string',
      pattern:
        "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    },
    kind: { anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] },
    tree: { $ref: '#/$defs/tree' },
    at: { type: 'string', format: 'date-time' },
    price: { type: 'number', multipleOf: 0.01 },
  },
  required: ['email'],
  additionalProperties: false,
  $defs: {
    tree: {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#/$defs/tree' } }, name: { type: 'string' } },
    },
  },
}

/** Starts a workflow. Returns the response, the CPU time and what is logged about the check. */
async function start(workflowName: string, input: unknown, catalog: string = CATALOG) {
  const before = cpuMsOf(service.pid)
  const { status, headers, body } = await service.start(workflowName, input, { catalog })
  const cpuMs = cpuMsOf(service.pid) - before
  const event = await until<LogEvent | undefined>('the request is logged', () =>
    service.events.find((it) => it.requestId === headers.get('X-Request-Id')),
  )
  const warning = service.events.find(
    (it) => it.level === 'warn' && it.requestId === event.requestId && it.unusable !== undefined,
  )
  return {
    status,
    body,
    cpuMs,
    unchecked: warning === undefined ? String(event.inputUnchecked ?? '') : warning.message,
  }
}

// A tenth of a second each for the schema and the input; code that is not optimized yet takes more than twice that.
const MAX_VALIDATION_MS = onThisMachine(500)

function warningOf(name: string, catalog: string): string {
  return `The schema of workflow "${name}" in catalog "${catalog}" cannot be checked in full`
}

/** The share of validation: reading the input and starting the run takes CPU time without a schema too. */
async function validationMs(input: unknown, { cpuMs }: { cpuMs: number }): Promise<number> {
  const unvalidated = await start('unvalidated', input)
  expect([unvalidated.status, unvalidated.unchecked]).toEqual([200, ''])
  return cpuMs - unvalidated.cpuMs
}

/** Measures with each copy of a catalog. */
async function expectFast(name: string, catalog: string, measureMs: (copy: string) => Promise<number>): Promise<void> {
  const tries: number[] = []
  for (const copy of copiesOf(catalog)) tries.push(await measureMs(copy))
  expect(median(tries), `${name} in milliseconds of CPU: ${tries}`).toBeLessThan(MAX_VALIDATION_MS)
}

test('schemas: an input that takes too long to validate is accepted in bounded time, and the log says so (threat 78)', async () => {
  for (const [name, [, input]] of Object.entries(COSTLY))
    await expectFast(name, CATALOG, async (catalog) => {
      const { status, cpuMs, unchecked } = await start(name, input, catalog)

      expect([name, status, unchecked]).toEqual([name, 200, expect.stringContaining(`workflow "${name}" in catalog`)])
      return validationMs(input, { cpuMs })
    })
})

test('schemas: repeated types and deep values do not add to the cost (threat 78)', async () => {
  for (const [name, [, input, expected]] of Object.entries(CHEAP))
    await expectFast(name, `${CATALOG}-cheap`, async (catalog) => {
      const { status, cpuMs, unchecked } = await start(name, input, catalog)

      expect([name, status, unchecked]).toEqual([name, expected, ''])
      return validationMs(input, { cpuMs })
    })
})

test('schemas: an invalid, circular or enormous schema accepts everything, with one warning in the log (threat 78)', async () => {
  for (const name of Object.keys(UNUSABLE))
    await expectFast(name, `${CATALOG}-unusable`, async (catalog) => {
      const { status, cpuMs, unchecked } = await start(name, { a: 1 }, catalog)

      expect([name, status, unchecked]).toEqual([name, 200, warningOf(name, catalog)])
      expect((await start(name, { a: 1 }, catalog)).unchecked).toBe('')
      return cpuMs
    })
})

test('schemas: nothing is fetched (threat 80)', async () => {
  for (const name of ['remote', 'remoteBase']) {
    const { status, unchecked } = await start(name, { a: 1 })

    expect([name, status, unchecked]).toEqual([name, 200, warningOf(name, CATALOG)])
  }
  expect(requests).toEqual([])
})

test('schemas: a catastrophic pattern is matched in linear time (threat 79)', async () => {
  for (const [name, [{ pattern }, input]] of Object.entries(CATASTROPHIC))
    await expectFast(name, CATALOG, async (catalog) => {
      const { status, body, cpuMs } = await start(name, input, catalog)

      const facts = [name, status, body.issues]
      expect(facts).toEqual([name, 400, [{ path: '/input', message: `must match pattern "${pattern}"` }]])
      return validationMs(input, { cpuMs })
    })
})

test('schemas: a small input is validated even by a costly schema', async () => {
  const rejected = await start('uniqueItems', [1, 2, 1])
  const accepted = await start('uniqueItems', [1, 2, 3])

  expect([rejected.status, rejected.body.issues]).toEqual([
    400,
    [{ path: '/input', message: 'must not have duplicate items (items 0 and 2 are equal)' }],
  ])
  expect([accepted.status, accepted.unchecked]).toEqual([200, ''])
})

test('schemas: a normal schema reports each issue at its own path, and nothing else', async () => {
  const tree = nested(300, (inner) => ({ children: [inner] }), { name: 'leaf' })
  const right = { email: 'ada@example.com', kind: null, tree, at: '2026-01-01T00:00:00Z', price: 0.07 }
  const wrong = { email: 'ada..@example.com', kind: 'c', tree: { children: [{}, { name: 1 }] }, price: 0.071, more: 1 }

  const accepted = await start('honest', right)
  const rejected = await start('honest', wrong)

  expect([accepted.status, accepted.unchecked]).toEqual([200, ''])
  expect(rejected.status).toBe(400)
  const paths = rejected.body.issues.map(({ path }: { path: string }) => path).toSorted()
  expect(paths).toEqual(['/input/email', '/input/kind', '/input/more', '/input/price', '/input/tree/children/1/name'])
})

test('schemas: two megabytes of numbers cost about the same in any notation, also if one of them is exact', async () => {
  const cpuMsFor = async (body: string) => {
    const before = cpuMsOf(service.pid)
    expect((await service.post('start', body)).status).toBe(400)
    return cpuMsOf(service.pid) - before
  }
  const bodyOf = (number: string, first = '0') =>
    `{"no":[${first},${`${number},`.repeat(2_000_000 / (number.length + 1))}0]}`
  const medianMsFor = async (body: string) => {
    const tries: number[] = []
    for (let at = 0; at < 7; at++) tries.push(await cpuMsFor(body))
    return median(tries)
  }
  const plainMs = await medianMsFor(bodyOf('1'))

  for (const body of [bodyOf('1e1'), bodyOf('1e100'), bodyOf('1', '9007199254740993')])
    expect(await medianMsFor(body), body.slice(0, 40)).toBeLessThan(3 * plainMs + onThisMachine(100))
})
