/** What takes time in proportion to its input: an algorithm that is not linear takes minutes instead. */
import { expect, test } from 'vitest'
import { numbers } from '../../dev/hostile-schemas.ts'
import { checkInput } from '../../src/service/catalog/check-input.ts'
import { parseJson } from '../../src/shared/lib/json.ts'
import type { CatalogEntry } from '../../src/shared/wire/catalog.ts'
import type { TraceEntry } from '../../src/shared/wire/trace/entry.ts'
import { toTraceTree } from '../../src/shared/wire/trace/tree.ts'
import { toRedacted } from '../../src/worker/tracing/redact.ts'
import { documentOf, entry } from '../../test/unit/service/openapi/typed/catalog-document.ts'
import { cpuMs, onThisMachine } from './cpu-ms.ts'

const HANDLER = { description: null, inputSchema: null, inputOptional: null, outputSchema: null }
const LOOPS = { anyOf: numbers(2000).map(() => ({ $ref: '#' })) }
const ROOT: TraceEntry = { id: 'r', parentId: null, kind: 'workflow', name: 'w', at: 1, phase: 'began' }

/** CPU time of `work`. */
async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = cpuMs()
  await work()
  return cpuMs() - before
}

/** CPU time for the document of this catalog. */
const documentMs = (workflows: CatalogEntry[]) => cpuMsOf(() => documentOf(workflows))

test('parseJson: takes bounded time for 2 MB of anything (threat 47)', async () => {
  const texts = [
    '1'.repeat(2_000_000),
    `1${'0'.repeat(2_000_000)}`,
    `0.${'0'.repeat(2_000_000)}1`,
    `1e${'9'.repeat(2_000_000)}`,
    `[${'1234567890123456789,'.repeat(100_000)}0]`,
    JSON.stringify('\\'.repeat(1_000_000)),
    JSON.stringify('"'.repeat(1_000_000)),
  ]

  // It takes half a second.
  const ms = await cpuMsOf(() => {
    for (const text of texts) expect(JSON.stringify(parseJson(text)) === text, text.slice(0, 20)).toBe(true)
  })

  expect(ms).toBeLessThan(onThisMachine(5000))
})

test('checkInput: rejects 2 MB of invalid values in bounded time (threat 47)', async () => {
  const values = Array(1_000_000).fill(1)

  // It takes a tenth of it; when each issue was compared with each other, it took minutes.
  const ms = await cpuMsOf(() =>
    expect(checkInput(values, { items: { type: 'string' } }).issues).toContainEqual(
      expect.objectContaining({ path: '/input/0' }),
    ),
  )

  expect(ms).toBeLessThan(onThisMachine(2000))
})

test('toTraceTree: tens of thousands of entries of one id do not take quadratic time (threat 84)', async () => {
  const entries = Array.from({ length: 30_000 }, (_, at): TraceEntry => ({ ...ROOT, attributes: { [`key${at}`]: at } }))

  const ms = await cpuMsOf(() => expect(Object.keys(toTraceTree(entries)?.attributes ?? {})).toHaveLength(30_000))

  // It was minutes; a second is many times what it takes.
  expect(ms).toBeLessThan(onThisMachine(5000))
})

test('toRedacted: the limit holds for large values of every type (threat 84)', async () => {
  // Without the limit it alone would have 2^30 elements.
  let shared: unknown[] = []
  for (let depth = 0; depth < 30; depth++) shared = [shared, shared]
  const many = {
    nulls: Array(1_000_000).fill(null),
    objects: Array.from({ length: 200_000 }, () => ({})),
    buffers: Array.from({ length: 100_000 }, () => new Uint8Array(1)),
    floats: Array.from({ length: 8000 }, (_, index) => index / 7),
    flags: Array(1_000_000).fill(true),
    functions: Array(1_000_000).fill(() => {}),
    exact: Array(8000).fill(JSON.rawJSON('1'.repeat(100))),
    key: { ['k'.repeat(1_000_000)]: 1 },
    shared,
  }
  const bytesOf = (output: unknown) =>
    JSON.stringify(toRedacted({ ...ROOT, output }, (value) => value, { maxBytes: 65_536, maxDepth: 100 }).output).length

  const ms = await cpuMsOf(() => {
    for (const [of, value] of Object.entries(many)) expect(bytesOf(value), of).toBeLessThanOrEqual(65_536 + 1000)
  })

  expect(ms).toBeLessThan(onThisMachine(2000))
})

test('fifty expensive schemas take about as much work as one of them (threat 78)', async () => {
  const one = [entry('w', LOOPS)]
  const fifty = numbers(50).map((n) => entry(`w${n}`, LOOPS))

  expect(await documentMs(fifty)).toBeLessThan(8 * (await documentMs(one)))
})

test('parts of one name take about as much work as parts of different names (threat 78)', async () => {
  const parts = (nameOf: (n: number) => string) => [
    entry('w', {
      properties: Object.fromEntries(numbers(4000).map((n) => [`p${n}`, { $ref: `#/x/${n}/${nameOf(n)}` }])),
      x: Object.fromEntries(numbers(4000).map((n) => [n, { [nameOf(n)]: { type: 'string' } }])),
    }),
  ]

  const oneMs = await documentMs(parts(() => 'part'))
  expect(oneMs).toBeLessThan(4 * (await documentMs(parts((n) => `part${n}`))))
})

test('the handlers of one workflow take about as much work as those of many (threat 78)', async () => {
  const signals = numbers(1900).map((n) => ({ ...HANDLER, name: `s${n}` }))
  const one = [{ ...entry('w'), signals }]
  const many = numbers(100).map((n) => ({ ...entry(`w${n}`), signals: signals.slice(0, 17) }))

  expect(await documentMs(one)).toBeLessThan(4 * (await documentMs(many)))
})
